/**
 * Fences of branches (`ComputeFence`): a call that is later than another takes its branch over.
 *
 * A call with a lower number than one that was seen for the branch is refused. A call with a higher number interrupts
 * the running ones with lower numbers and waits for their end, because two calls must not change the same files; if
 * they do not end in time, it is the later call that fails, and is tried again. `confirm` is repeated before each step
 * that cannot be undone.
 *
 * The numbers are kept in memory: one process at a time uses a data directory, and a later process has none of its
 * calls.
 */
import { endsWithin } from "@narthex/compute-roles"
import { type BranchId, ComputeFence } from "@narthex/core"
import { Cause, Duration, Effect, Exit, Fiber } from "effect"
import { NoRoomNow } from "../machine/LocalPostgresError.ts"

interface Call {
  readonly fence: number
  readonly fiber: Fiber.Fiber<unknown, unknown>
}

/** Branches whose numbers are kept. A call that is older than this many later branches has lost its claim long ago. */
const capacity = 10_000

const superseded = new NoRoomNow({ reason: "A later request has taken over this branch." })

export const branchFences = (patience: Duration.Duration) => {
  const seen = new Map<BranchId, number>()
  const calls = new Map<BranchId, ReadonlyArray<Call>>()

  /** Fails when a later call has taken the branch over. */
  const confirm = (branch: BranchId) =>
    Effect.flatMap(ComputeFence, (fence) =>
      fence !== null && fence < (seen.get(branch) ?? fence) ? Effect.fail(superseded) : Effect.void
    )

  const raise = (branch: BranchId, fence: number) => {
    seen.delete(branch)
    seen.set(branch, fence)
    const [oldest] = seen.keys()
    if (seen.size > capacity && oldest !== undefined) seen.delete(oldest)
  }

  const endEarlier = (branch: BranchId, fence: number) =>
    Effect.forEach(
      (calls.get(branch) ?? []).filter((call) => call.fence < fence),
      Effect.fnUntraced(function* ({ fiber }) {
        fiber.interruptUnsafe()
        if (yield* endsWithin(fiber, Duration.toMillis(patience))) return
        return yield* new NoRoomNow({ reason: "An earlier request for this branch has not ended yet." })
      }),
      { discard: true }
    )

  const fenced = <A, E, R>(branch: BranchId, effect: Effect.Effect<A, E, R>) =>
    Effect.gen(function* () {
      const fence = yield* ComputeFence
      if (fence === null) return yield* effect
      yield* confirm(branch)
      raise(branch, fence)
      yield* endEarlier(branch, fence)
      const fiber = yield* Effect.forkChild(effect)
      const call: Call = { fence, fiber }
      calls.set(branch, [...(calls.get(branch) ?? []), call])
      const leave = Effect.sync(() => {
        const others = (calls.get(branch) ?? []).filter((it) => it !== call)
        if (others.length === 0) calls.delete(branch)
        else calls.set(branch, others)
      })
      const exit = yield* Fiber.await(fiber).pipe(
        Effect.onInterrupt(() => Fiber.interrupt(fiber)),
        Effect.ensuring(leave)
      )
      if (Exit.isFailure(exit) && Cause.hasInterrupts(exit.cause)) {
        yield* confirm(branch)
      }
      return yield* exit
    })

  return { confirm, fenced }
}
