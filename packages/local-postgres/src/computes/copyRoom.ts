/** Room for copies: how many of one running parent at a time, how much of the disk, and how much of it for one person. */
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

/** Bytes that the disk of the directory has free for Postgres. */
export const freeBytes = (directory: string) =>
  attempt(`Asking for the space of ${directory}`, () => statfs(directory)).pipe(
    Effect.map(({ bavail, bsize }) => bavail * bsize),
    Effect.tap((bytes) => Metric.update(diskFree, bytes))
  )

const diskFree = Metric.gauge("compute_disk_free_bytes", {
  description: "Free bytes of the disk of local computes, at the last start, copy or measurement of the branches."
})

interface Disk {
  readonly free: Effect.Effect<number, LocalPostgresError>
  /** Bytes that stay free. */
  readonly reserve: number
  /**
   * How many times what the disk has left a person may take of it. This bound falls as the disk fills: with 4, one person may
   * take four fifths of the room, two may take four ninths each, and there is always some for one who takes little.
   */
  readonly share: number
}

const gibibytes = (bytes: number) => `${Math.round((bytes / 2 ** 30) * 100) / 100} GiB`

/**
 * Why a person may not make a copy with which their branches take so many bytes and the disk has so many left; `undefined`:
 * they may.
 */
export const overShare = (taken: number, left: number, share: number): string | undefined =>
  taken <= share * left
    ? undefined
    : `With this branch those of your organizations would take ${gibibytes(taken)}. What the disk has left is kept for others: ` +
      `delete branches that are not needed, or ask the operator for a larger disk.`

/** How long a store may take to tell what a person takes of the disk. */
const answersWithin = "1 second"

const takenByPerson = Effect.flatMap(TenantDisk, (asked) =>
  Effect.timeoutOrElse(asked, { duration: answersWithin, orElse: () => Effect.succeed(null) })
)

/**
 * Runs a copy of the data in `source` when the disk keeps its reserve after it and after the copies under way, which
 * have not written all of their bytes yet. It waits for those as `busy`; without them it fails. It fails also for a person
 * who takes their share of the disk (docs/design/proxy.md P39). `copy` gets the size of the
 * data, in bytes.
 */
export const diskRoom = ({ free, reserve, share }: Disk) => {
  let underWay = 0
  return <A, E, R>(source: string, copy: (size: number) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const size = Number((yield* runProgram("du", ["-sk", source])).split(/\s/)[0]) * 1024
      const taken = yield* takenByPerson
      const take = Effect.gen(function* () {
        const left = (yield* free) - size - reserve
        if (left < 0) {
          const reason = `no space left for a copy of ${size} bytes: ${left + size + reserve} bytes are free, and ${reserve} stay reserved`
          return yield* new LocalPostgresError({ operation: `Copying ${source}`, reason })
        }
        if (left < underWay) {
          return yield* new NoRoomNow({ reason: "Other copies take the free disk space; this one waits for them." })
        }
        const refusal = taken === null ? undefined : overShare(taken + size, left - underWay, share)
        if (refusal !== undefined) return yield* new DiskShareTaken({ reason: refusal })
        underWay += size
      })
      const leave = Effect.sync(() => {
        underWay -= size
      })
      return yield* Effect.acquireUseRelease(
        take,
        () => copy(size),
        () => leave
      )
    })
}

/** Fails as `busy` when less than the reserve is free: a server that starts writes, and a full disk stops all of them. */
export const hasReserve = Effect.fnUntraced(function* ({ free, reserve }: Omit<Disk, "share">) {
  const bytes = yield* free
  if (bytes >= reserve) return
  yield* Effect.logError(`The disk of the computes is nearly full: no compute starts. ${bytes} bytes are free.`)
  return yield* new NoRoomNow({ reason: "There is not enough free disk space to start a compute." })
})
