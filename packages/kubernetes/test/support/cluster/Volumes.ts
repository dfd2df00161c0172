/** The volumes of claims and snapshots: directories. A snapshot of a running server is taken at one moment. */
import { execFile } from "node:child_process"
import { randomBytes } from "node:crypto"
import { chown, mkdir, mkdtemp, readdir, readFile, rename, rm, stat } from "node:fs/promises"
import { join } from "node:path"
import { promisify } from "node:util"
import { cacheDirectory } from "../../../../local-postgres/testing/cacheDirectory.ts"
import { type PostgresPrograms, postgresPrograms } from "../../../../local-postgres/testing/postgresPrograms.ts"
import { scratchParent } from "../../../../local-postgres/testing/scratchParent.ts"

const run = promisify(execFile)

const initdb = [
  ...["--username=postgres", "--encoding=UTF8", "--auth=reject", "--data-checksums", "--no-sync", "--no-instructions"],
  "--wal-segsize=4" // MB: every copy of the cluster has a segment
]

const localeOf = (major: number) =>
  major >= 17 ? ["--locale=C", "--locale-provider=builtin", "--builtin-locale=C.UTF-8"] : ["--locale=C.UTF-8"]

export class Volumes {
  readonly root: string
  readonly programs: PostgresPrograms
  /** The line with which the programs name their version. */
  readonly #version: string

  private constructor(root: string, programs: PostgresPrograms, version: string) {
    this.root = root
    this.programs = programs
    this.#version = version
  }

  /** The major version of the programs. */
  get major(): number {
    return Number(/(\d+)/.exec(this.#version)?.[1])
  }

  static async open(): Promise<Volumes> {
    const programs = await postgresPrograms()
    const root = await mkdtemp(join(scratchParent(), "narthex-k8s-"))
    const { identity } = programs
    if (identity !== undefined) await chown(root, identity.uid, identity.gid)
    const { stdout } = await run(join(programs.directory, "postgres"), ["--version"])
    return new Volumes(root, programs, stdout.trim())
  }

  close(): Promise<void> {
    return rm(this.root, { recursive: true, force: true })
  }

  /** The directory of a volume, by the uid of its claim or snapshot. Short, because it has a socket. */
  pathOf(uid: string): string {
    return join(this.root, uid.slice(0, 13))
  }

  dataOf(uid: string): string {
    return join(this.pathOf(uid), "data")
  }

  has(uid: string): Promise<boolean> {
    return isThere(this.dataOf(uid))
  }

  async remove(uid: string): Promise<void> {
    await run("rm", ["-rf", this.pathOf(uid)])
  }

  async #copy(from: string, uid: string): Promise<void> {
    const making = join(this.root, randomBytes(6).toString("hex"))
    await run("cp", ["-a", "--reflink=auto", from, making])
    await mkdir(this.pathOf(uid), { recursive: true })
    await rename(making, this.dataOf(uid))
  }

  /** An empty cluster, as `initdb` makes it once on this machine. */
  async initialise(uid: string): Promise<void> {
    const { directory, identity } = this.programs
    const name = `${this.#version.replaceAll(/[^\w.]+/g, "-")}-${identity?.uid ?? "own"}`
    const template = join(await cacheDirectory("kubernetes"), name)
    if (!(await isThere(template))) {
      const staged = `${template}.${randomBytes(6).toString("hex")}`
      const made = join(this.root, randomBytes(6).toString("hex"))
      await run(join(directory, "initdb"), ["-D", made, ...initdb, ...localeOf(this.major)], {
        ...identity,
        cwd: this.root
      })
      await run("cp", ["-a", made, staged])
      await rm(made, { recursive: true, force: true })
      await rename(staged, template).catch(() => rm(staged, { recursive: true, force: true }))
    }
    await this.#copy(template, uid)
  }

  /** Restores the data of a snapshot: what only the server that wrote them needs is removed. */
  async restore(snapshot: string, uid: string): Promise<void> {
    await this.#copy(this.dataOf(snapshot), uid)
    for (const name of ["postmaster.pid", "postmaster.opts"]) await rm(join(this.dataOf(uid), name), { force: true })
  }

  /** Copies a volume while every process of its server is stopped, so that all of its files are of one moment. */
  async snapshot(uid: string, snapshot: string): Promise<void> {
    const stopped: Array<number> = []
    try {
      const pid = await postmasterOf(this.dataOf(uid))
      if (pid !== undefined) for (const each of [pid, ...(await childrenOf(pid))]) halt(each, stopped)
      // A process that was started between the two looks.
      if (pid !== undefined) for (const each of await childrenOf(pid)) if (!stopped.includes(each)) halt(each, stopped)
      await this.#copy(this.dataOf(uid), snapshot)
    } finally {
      for (const pid of stopped.toReversed()) send(pid, "SIGCONT")
    }
  }

  /** Bytes of a volume. */
  async sizeOf(uid: string): Promise<number> {
    const { stdout } = await run("du", ["-sb", this.pathOf(uid)])
    return Number(stdout.split("\t")[0])
  }
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false
  )

/** A process may have ended since it was found. */
const send = (pid: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    return process.kill(pid, signal)
  } catch {
    return false
  }
}

const halt = (pid: number, stopped: Array<number>) => {
  if (send(pid, "SIGSTOP")) stopped.push(pid)
}

/** The pid in `postmaster.pid`, if its process runs. */
export const postmasterOf = async (data: string): Promise<number | undefined> => {
  const [line = ""] = await readFile(join(data, "postmaster.pid"), "utf8").then(
    (text) => text.split("\n"),
    () => []
  )
  const pid = Number(line)
  return pid > 0 && send(pid, 0) ? pid : undefined
}

const childrenOf = async (parent: number): Promise<ReadonlyArray<number>> => {
  const found: Array<number> = []
  for (const name of await readdir("/proc")) {
    if (!/^\d+$/.test(name)) continue
    const status = await readFile(`/proc/${name}/stat`, "utf8").catch(() => "")
    if (Number(status.slice(status.lastIndexOf(")") + 2).split(" ")[1]) === parent) found.push(Number(name))
  }
  return found
}
