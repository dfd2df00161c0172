/** Room for copies: how many of one running parent at a time, how much of the disk, and how much of it for one organization. */
import { statfs } from "node:fs/promises"
import { type BranchId, TenantDisk } from "@narthex/core"
import { Effect, Metric } from "effect"
import { attempt, DiskShareTaken, LocalPostgresError, NoRoomNow } from "../machine/LocalPostgresError.ts"
import { runProgram } from "../machine/runProgram.ts"

/** Runs a copy when fewer than `most` of the same running parent are being made. Each may need a slot of the parent. */
export const copyPlaces = (most: number) => {
  const taken = new Map<BranchId, number>()
  const count = (parent: BranchId) => taken.get(parent) ?? 0
  const leave = (parent: BranchId) =>
    Effect.sync(() => {
      if (count(parent) > 1) taken.set(parent, count(parent) - 1)
      else taken.delete(parent)
    })
  return <A, E, R>(parent: BranchId, copy: Effect.Effect<A, E, R>) =>
    Effect.acquireUseRelease(
      Effect.suspend(() => {
        if (count(parent) >= most) {
          return new NoRoomNow({
            reason: `${most} copies of the parent branch are being made; this one waits for them.`
          })
        }
        taken.set(parent, count(parent) + 1)
        return Effect.void
      }),
      () => copy,
      () => leave(parent)
    )
}

/** Bytes of a disk. */
interface Space {
  readonly size: number
  /** Bytes that are free for Postgres. */
  readonly free: number
}

/** The disk of the directory. */
export const spaceOf = (directory: string) =>
  attempt(`Asking for the space of ${directory}`, () => statfs(directory)).pipe(
    Effect.map(({ bavail, blocks, bsize }): Space => ({ size: blocks * bsize, free: bavail * bsize })),
    Effect.tap(({ free }) => Metric.update(diskFree, free))
  )

const diskFree = Metric.gauge("narthex_compute_disk_free_bytes", {
  description: "Free bytes of the disk of local computes, at the last start, copy or measurement of the branches."
})

interface Disk {
  readonly space: Effect.Effect<Space, LocalPostgresError>
  /** Bytes that stay free. */
  readonly reserve: number
  /** How many times the rest of a nearly full disk one organization may take (`mayTake`). */
  readonly share: number
}

/**
 * Whether an organization whose branches take `taken` bytes may make a copy that leaves `left` bytes of the disk. The
 * last part of a disk, a fifth with a share of 4, is for organizations that take at most `share` times `left`. So
 * copies of one organization leave a fifth of the disk, and copies of a second one leave a fifth of that fifth.
 */
export const mayTake = (taken: number, left: number, disk: Pick<Disk, "share"> & Pick<Space, "size">) =>
  isAmple(left, disk) || taken <= disk.share * left

const isAmple = (left: number, { share, size }: Pick<Disk, "share"> & Pick<Space, "size">) => left > size / (share + 1)

/** How long a store may take to tell what an organization takes of the disk. */
const answersWithin = "1 second"

/** The bytes of the disk that the organization of the call takes, with this copy. */
const takenByTenant = Effect.gen(function* () {
  const asked = yield* TenantDisk
  if (asked === null) return 0 // the call belongs to no operation
  const reason = "What your branches take of the disk is not known yet; this one waits for that."
  return yield* Effect.timeout(asked, answersWithin).pipe(
    Effect.tapError((error) =>
      Effect.logWarning("The store does not tell what an organization takes of the disk.", error)
    ),
    Effect.mapError(() => new NoRoomNow({ reason }))
  )
})

/**
 * Runs a copy if the disk keeps its reserve after this copy and the copies under way, which have not written all of
 * their bytes yet. A copy that has to wait for those fails as `busy`; a copy that does not fit even without them fails
 * for good. The last part of the disk has the same rule, for the bytes of the organization (docs/design/proxy.md P39);
 * only there the store is asked. `source` is the directory of the data, and `copy` gets its size in bytes.
 */
export const diskRoom = ({ reserve, share, space }: Disk) => {
  let underWay = 0
  return <A, E, R>(source: string, copy: (bytes: number) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const bytes = Number((yield* runProgram("du", ["-sk", source])).split(/\s/)[0]) * 1024
      const look = Effect.gen(function* () {
        const { free, size } = yield* space
        const left = free - bytes - reserve
        if (left >= 0) return { left, size, share }
        const reason = `no space left for a copy of ${bytes} bytes: ${free} bytes are free, and ${reserve} stay reserved`
        return yield* new LocalPostgresError({ operation: `Copying ${source}`, reason })
      })
      const first = yield* look
      const isKnown = !isAmple(first.left - underWay, first)
      const taken = isKnown ? yield* takenByTenant : 0
      const take = Effect.gen(function* () {
        const { left, ...disk } = yield* look
        if (!mayTake(taken, left, disk)) return yield* new DiskShareTaken({ taken, left })
        // If the organization's usage is not known, the copy needs ample room.
        const hasRoom = isKnown ? mayTake(taken, left - underWay, disk) : isAmple(left - underWay, disk)
        if (!hasRoom) {
          return yield* new NoRoomNow({ reason: "Other copies take the free disk space; this one waits for them." })
        }
        underWay += bytes
      })
      const leave = Effect.sync(() => {
        underWay -= bytes
      })
      return yield* Effect.acquireUseRelease(
        take,
        () => copy(bytes),
        () => leave
      )
    })
}

/** Fails as `busy` when less than the reserve is free: a server that starts writes, and a full disk stops all of them. */
export const hasReserve = Effect.fnUntraced(function* ({ reserve, space }: Pick<Disk, "reserve" | "space">) {
  const { free } = yield* space
  if (free >= reserve) return
  yield* Effect.logError(`The disk of the computes is nearly full: no compute starts. ${free} bytes are free.`)
  return yield* new NoRoomNow({ reason: "There is not enough free disk space to start a compute." })
})
