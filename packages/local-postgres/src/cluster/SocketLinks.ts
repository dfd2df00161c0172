/**
 * Short paths for the sockets of clusters: symbolic links in one directory, so that an address fits into the 107 bytes
 * of a socket address and can be removed before its cluster stops.
 *
 * The directory is `sockets` in the data directory or, when that path is too long, a directory in the system's
 * temporary directory whose name is derived from the data directory, so that the next process finds it. A link leads to
 * one cluster; removing it closes that address to new connections.
 */
import { createHash } from "node:crypto"
import { readdirSync, readlinkSync } from "node:fs"
import { lstat, mkdir, rename, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"
import { type Cluster, socketName } from "./Cluster.ts"

/** The bytes of `sun_path` without its terminating zero. */
const maxPathLength = 107
/** Room for `ep-` with a ULID, a dot and a generation. */
const maxNameLength = 44

export interface SocketLink {
  readonly name: string
  /** The directory of the cluster that the link leads to. */
  readonly cluster: string
}

export const socketPathIn = (directory: string) => join(directory, socketName)

/** Whether a path fits into a socket address. */
export const fits = (path: string) => Buffer.byteLength(path) <= maxPathLength

/**
 * Where a link leads; `undefined` when another branch's stop has removed it since the directory was read. Exported for its
 * test alone: through the links that moment cannot be met on purpose.
 */
export const targetOf = (path: string): string | undefined => {
  try {
    return readlinkSync(path)
  } catch (cause) {
    if (cause instanceof Error && "code" in cause && cause.code === "ENOENT") return undefined
    throw cause
  }
}

/** Makes a new link. `false`: something has its name. */
const isMade = (target: string, path: string): Promise<boolean> =>
  symlink(target, path).then(
    () => true,
    (cause: unknown) => {
      if (cause instanceof Error && "code" in cause && cause.code === "EEXIST") return false
      throw cause
    }
  )

/** Opens the directory of links of a data directory, created on the first call. */
export const openSocketLinks = Effect.fn("openSocketLinks")(function* (dataDir: string) {
  const hash = createHash("sha256").update(dataDir).digest("hex").slice(0, 16)
  const candidates = [join(dataDir, "sockets"), join(tmpdir(), `narthex-${hash}`), join("/tmp", `narthex-${hash}`)]
  const directory = candidates.find((it) => fits(socketPathIn(join(it, "x".repeat(maxNameLength)))))
  if (directory === undefined) {
    return yield* new LocalPostgresError({
      operation: "Choosing a place for sockets",
      reason: "every path is too long"
    })
  }
  const status = yield* attempt(`Making ${directory}`, async () => {
    await mkdir(directory, { recursive: true, mode: 0o700 })
    return lstat(directory)
  })
  const self = process.getuid?.()
  // Another user may have created it in the temporary directory, to redirect connections.
  if (!status.isDirectory() || status.uid !== self || (status.mode & 0o077) !== 0) {
    const reason = `${directory} is not a directory that belongs to uid ${self} alone: remove it`
    return yield* new LocalPostgresError({ operation: "Opening the directory of sockets", reason })
  }

  const pathOf = (name: string) => socketPathIn(join(directory, name))

  /** Links `name` to the cluster, replacing an earlier link, and returns the path of the socket. */
  const put = (name: string, cluster: Cluster) =>
    Effect.gen(function* () {
      const path = pathOf(name)
      if (!fits(path)) {
        return yield* new LocalPostgresError({
          operation: "Naming a socket",
          reason: `${path} is too long for a socket`
        })
      }
      yield* attempt(`Linking ${path}`, async () => {
        // The name of a compute has its generation, so almost always there is none.
        if (await isMade(cluster.run, join(directory, name))) return
        const making = join(directory, `.${name}.making`)
        await rm(making, { force: true })
        await symlink(cluster.run, making)
        await rename(making, join(directory, name))
      })
      return path
    })

  const remove = (name: string) => attempt(`Removing ${name}`, () => rm(join(directory, name), { force: true }))

  /**
   * Pitfall: a call for each link that waits for a turn of the event loop. Each start lists the links, so it would take the
   * longer the more computes run, and the busier this process is.
   */
  const list = attempt(`Listing ${directory}`, async () => {
    const links: Array<SocketLink> = []
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      if (!entry.isSymbolicLink() || entry.name.startsWith(".")) continue
      const run = targetOf(join(directory, entry.name))
      if (run !== undefined) links.push({ name: entry.name, cluster: dirname(run) })
    }
    return links
  })

  return { pathOf, put, remove, list }
})

export type SocketLinks = Effect.Success<ReturnType<typeof openSocketLinks>>
