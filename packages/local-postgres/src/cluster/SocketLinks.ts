/**
 * Short names for the sockets of clusters: links in one directory, so that an address fits into 107 bytes and
 * can end before its cluster does.
 *
 * The directory is `sockets` in the data directory or, where its path is too long for that, one of ours in the
 * system's temporary directory, derived from the data directory so that the next process finds the same. A name
 * leads to one cluster as long as it exists, and removing it closes that way in.
 */
import { createHash } from "node:crypto"
import { lstat, mkdir, readdir, readlink, rename, rm, symlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { dirname, join } from "node:path"
import { Effect } from "effect"
import { type Cluster, socketName } from "./Cluster.ts"
import { attempt, LocalPostgresError } from "../machine/LocalPostgresError.ts"

/** What `sun_path` holds, without the closing zero. */
const longestPath = 107
/** Room for `ep-` with a ULID, a dot and a generation. */
const longestName = 44

export interface SocketLink {
  readonly name: string
  /** The directory of the cluster that it leads to. */
  readonly cluster: string
}

export const socketPathIn = (directory: string) => join(directory, socketName)

export const fits = (path: string) => Buffer.byteLength(path) <= longestPath

/** Opens the directory of links for a data directory, made when it is not there. */
export const openSocketLinks = Effect.fn("openSocketLinks")(function* (dataDir: string) {
  const hash = createHash("sha256").update(dataDir).digest("hex").slice(0, 16)
  const candidates = [join(dataDir, "sockets"), join(tmpdir(), `narthex-${hash}`), join("/tmp", `narthex-${hash}`)]
  const directory = candidates.find((it) => fits(socketPathIn(join(it, "x".repeat(longestName)))))
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
  const us = process.getuid?.()
  // Somebody else may have put it into the temporary directory before us, to lead our connections astray.
  if (!status.isDirectory() || status.uid !== us || (status.mode & 0o077) !== 0) {
    const reason = `${directory} is not a directory that belongs to uid ${us} alone: remove it`
    return yield* new LocalPostgresError({ operation: "Opening the directory of sockets", reason })
  }

  const pathOf = (name: string) => socketPathIn(join(directory, name))

  /** Lets `name` lead to the cluster, whatever it led to before, and answers the path of the socket. */
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
        const making = join(directory, `.${name}.making`)
        await rm(making, { force: true })
        await symlink(cluster.run, making)
        await rename(making, join(directory, name))
      })
      return path
    })

  const remove = (name: string) => attempt(`Removing ${name}`, () => rm(join(directory, name), { force: true }))

  const list = attempt(`Listing ${directory}`, async () => {
    const links: Array<SocketLink> = []
    for (const entry of await readdir(directory, { withFileTypes: true })) {
      if (!entry.isSymbolicLink() || entry.name.startsWith(".")) continue
      links.push({ name: entry.name, cluster: dirname(await readlink(join(directory, entry.name))) })
    }
    return links
  })

  return { pathOf, put, remove, list }
})

export type SocketLinks = Effect.Success<ReturnType<typeof openSocketLinks>>
