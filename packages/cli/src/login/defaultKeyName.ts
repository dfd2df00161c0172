/** What a key of this machine is called; the person sees it on the console's page and in lists of keys. */
import { hostname } from "node:os"

const longest = 64

export const defaultKeyName = (machine: string = hostname()): string =>
  [...`cli on ${machine.replace(/\p{Cc}/gu, "")}`].slice(0, longest).join("").trim()
