/** What processes of the platform run as, in and with: the account, the directory, the environment, the built programs. */
import { chownSync, mkdtempSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, resolve } from "node:path"

export const root = resolve(import.meta.dirname, "../..")

/** The programs of the build, see the resource "build". */
export const programs = {
  platform: join(root, "packages/server/dist/main.js"),
  server: join(root, "packages/server/dist/server.js"),
  cli: join(root, "packages/cli/dist/narthex.js")
}

export type Account = "root" | "ordinary"

/** `nobody`: every Debian has it. */
const ordinary = { uid: 65_534, gid: 65_534 }

const isRoot = process.getuid?.() === 0

/** The account of the tests themselves. */
export const ownAccount: Account = isRoot ? "root" : "ordinary"

/** Is the checkout open to every account? Below a directory that only root enters, no other could load the code. */
const readableByAll = (path: string): boolean => {
  const open = (statSync(path).mode & 0o005) === 0o005
  return open && (path === "/" || readableByAll(dirname(path)))
}

/**
 * The command that runs Node as this account. Where the checkout is closed to others, the process keeps the one right to
 * read past that and is an ordinary user in everything else.
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

/** An empty directory that belongs to the account. */
export const emptyDirectory = (account: Account): Directory => {
  const path = mkdtempSync(join(tmpdir(), "narthex-platform-"))
  if (account !== ownAccount) chownSync(path, ordinary.uid, ordinary.gid)
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) }
}

/** What a child takes over from the tests: how the run set clock, zone and language, and the cache of compiled code. */
const inherited = ["HOME", "PATH", "NODE_OPTIONS", "NODE_COMPILE_CACHE", "NARTHEX_TEST_CLOCK", "TZ", "LANG", "LC_ALL"]

export const baseEnvironment = (): Record<string, string> =>
  Object.fromEntries(
    inherited.flatMap((name) => {
      const value = process.env[name]
      return value === undefined ? [] : [[name, value]]
    })
  )
