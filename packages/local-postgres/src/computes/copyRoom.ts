/** Room for copies: how many of one running parent at a time, and how much of the disk. */
import { statfs } from "node:fs/promises"
import type { BranchId } from "@narthex/core"
import { Effect } from "effect"
import { attempt, LocalPostgresError, NoRoomNow } from "../machine/LocalPostgresError.ts"
import { runProgram } from "../machine/runProgram.ts"

/** Runs a copy when fewer than `most` of the same running parent are being made. Each takes a slot of the parent. */
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

/** Fails when the disk of `directory` would have less than `reserve` bytes free after a copy of the data. */
export const hasDiskFor = Effect.fnUntraced(function* (source: string, directory: string, reserve: number) {
  const size = Number((yield* runProgram("du", ["-sk", source])).split(/\s/)[0]) * 1024
  const { bavail, bsize } = yield* attempt(`Asking for the space of ${directory}`, () => statfs(directory))
  const free = bavail * bsize
  if (free >= size + reserve) return
  const reason = `no space left for a copy of ${size} bytes: ${free} bytes are free, and ${reserve} stay reserved`
  return yield* new LocalPostgresError({ operation: `Copying ${source}`, reason })
})
