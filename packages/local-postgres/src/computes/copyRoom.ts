/** Room for copies: how many of one running parent at a time, and how much of the disk. */
import { statfs } from "node:fs/promises"
import type { BranchId } from "@narthex/core"
import { Effect, Metric } from "effect"
import { attempt, LocalPostgresError, NoRoomNow } from "../machine/LocalPostgresError.ts"
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
}

/**
 * Runs a copy of the data in `source` when the disk keeps its reserve after it and after the copies under way, which
 * have not written all of their bytes yet. It waits for those as `busy`; without them it fails. `copy` gets the size of the
 * data, in bytes.
 */
export const diskRoom = ({ free, reserve }: Disk) => {
  let underWay = 0
  return <A, E, R>(source: string, copy: (size: number) => Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const size = Number((yield* runProgram("du", ["-sk", source])).split(/\s/)[0]) * 1024
      const take = Effect.gen(function* () {
        const left = (yield* free) - size - reserve
        if (left < 0) {
          const reason = `no space left for a copy of ${size} bytes: ${left + size + reserve} bytes are free, and ${reserve} stay reserved`
          return yield* new LocalPostgresError({ operation: `Copying ${source}`, reason })
        }
        if (left < underWay) {
          return yield* new NoRoomNow({ reason: "Other copies take the free disk space; this one waits for them." })
        }
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
export const hasReserve = Effect.fnUntraced(function* ({ free, reserve }: Disk) {
  const bytes = yield* free
  if (bytes >= reserve) return
  yield* Effect.logError(`The disk of the computes is nearly full: no compute starts. ${bytes} bytes are free.`)
  return yield* new NoRoomNow({ reason: "There is not enough free disk space to start a compute." })
})
