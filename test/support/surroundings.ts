/** The account, the directory, the environment and the built programs of the platform's processes. */
import { chownSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { dirname, join, resolve } from "node:path"
import { scratchParent } from "../../packages/local-postgres/testing/scratchParent.ts"

export const root = resolve(import.meta.dirname, "../..")

/** The built programs, from the resource "build". */
export const programs = {
  platform: join(root, "packages/server/dist/narthex-platform.js"),
  server: join(root, "packages/server/dist/narthex-server.js"),
  cli: join(root, "packages/cli/bin/narthex.js")
}

export type Account = "root" | "ordinary"

/** The account `nobody`, which every Debian has. */
const ordinary = { uid: 65_534, gid: 65_534 }

const isRoot = process.getuid?.() === 0

/** The account that runs the tests. */
export const ownAccount: Account = isRoot ? "root" : "ordinary"

/** Whether every account can read the checkout. Below a directory for root only, no other account can load the code. */
const readableByAll = (path: string): boolean => {
  const open = (statSync(path).mode & 0o005) === 0o005
  return open && (path === "/" || readableByAll(dirname(path)))
}

/**
 * The command that runs Node as this account. If the account cannot read the checkout, the process keeps one
 * capability, that to read it, and is an ordinary user otherwise.
 */
export const asAccount = (account: Account, args: ReadonlyArray<string>) => {
  if (account === ownAccount) return { command: process.execPath, args, options: {} }
  if (account === "root") throw new Error("Only root can run the platform as root.")
  if (readableByAll(root)) return { command: process.execPath, args, options: ordinary }
  const rights = ["--inh-caps=+dac_read_search", "--ambient-caps=+dac_read_search", "--clear-groups"]
  const who = [`--reuid=${ordinary.uid}`, `--regid=${ordinary.gid}`]
  return { command: "setpriv", args: [...who, ...rights, process.execPath, ...args], options: {} }
}

export interface Directory {
  readonly path: string
  readonly remove: () => void
}

/** An empty directory, owned by the account, by default where tests have their files: in memory, if there is enough. */
export const emptyDirectory = (account: Account, parent = scratchParent()): Directory => {
  const path = mkdtempSync(join(parent, "narthex-platform-"))
  if (account !== ownAccount) chownSync(path, ordinary.uid, ordinary.gid)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** The variables that a child inherits: clock, time zone and language of the run, and the cache of compiled code. */
const inherited = ["HOME", "PATH", "NODE_OPTIONS", "NODE_COMPILE_CACHE", "NARTHEX_TEST_CLOCK", "TZ", "LANG", "LC_ALL"]

export const baseEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    inherited.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )
