/** `postgres` started by hand on a copy of a branch's data directory: the least that a wake can take. */
import { execFileSync, spawn } from "node:child_process"
import { once } from "node:events"
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { binaries } from "./proxyCluster.ts"

export interface ByHand {
  /** The socket on which it listens. */
  readonly socket: string
  /** Resolves when it accepts connections. */
  readonly start: () => Promise<void>
  readonly stop: () => Promise<void>
  readonly remove: () => void
}

/** The copy of a stopped cluster, with its configuration and roles. */
export const copyOf = (cluster: string): ByHand => {
  const directory = mkdtempSync(join(tmpdir(), "narthex-by-hand-"))
  chmodSync(directory, 0o711)
  const data = join(directory, "data")
  const run = join(directory, "run")
  execFileSync("cp", ["-a", join(cluster, "data"), data])
  const owner = statSync(data)
  mkdirSync(run, { mode: 0o700 })
  chownSync(run, owner.uid, owner.gid)
  const drops = process.getuid?.() !== owner.uid
  const pidFile = join(data, "postmaster.pid")
  const isReady = () => {
    try {
      return readFileSync(pidFile, "utf8").split("\n")[7]?.trim() === "ready"
    } catch {
      return false // not written yet
    }
  }
  const program = join(binaries(), "postgres")
  let child: ReturnType<typeof spawn> | undefined
  return {
    socket: join(run, ".s.PGSQL.5432"),
    start: async () => {
      const as = drops ? { uid: owner.uid, gid: owner.gid } : {}
      const started = spawn(program, ["-D", data], { ...as, cwd: "/", stdio: "ignore" })
      child = started
      while (!isReady()) {
        if (started.exitCode !== null) throw new Error(`postgres ended with ${started.exitCode}`)
        await new Promise((resume) => setTimeout(resume, 1))
      }
    },
    stop: async () => {
      if (child === undefined || child.exitCode !== null) return
      const exit = once(child, "exit")
      child.kill("SIGINT")
      await exit
    },
    remove: () => rmSync(directory, { recursive: true, force: true })
  }
}
