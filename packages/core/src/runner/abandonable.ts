/**
 * Runs work that may hang, for example in a call that cannot be interrupted, until a condition ends it. Where the
 * condition is met first, the work is interrupted, awaited for `grace`, and then abandoned: it keeps its fiber, and
 * nothing waits for it.
 *
 * Pitfall: a race. It waits until its loser is interrupted, so a call that hangs would hold its caller for ever.
 */
import { Deferred, type Duration, Effect, Fiber, Result } from "effect"

/** `Success`: the work ended, with this exit. `Failure`: the condition was met before. */
export const abandonable = <A, E, R, Reason, E2, R2>(
  work: Effect.Effect<A, E, R>,
  until: Effect.Effect<Reason, E2, R2>,
  grace: Duration.Duration
): Effect.Effect<Result.Result<A, Reason>, E | E2, R | R2> =>
  Effect.acquireUseRelease(
    Effect.forkDetach(work),
    (fiber) =>
      Effect.raceFirst(
        Effect.map(Fiber.join(fiber), Result.succeed),
        Effect.map(until, (reason) => Result.fail(reason))
      ),
    (fiber) => endWithin(fiber, grace)
  )

/** Interrupts a fiber, and returns when it has ended or `grace` is over. */
const endWithin = <A, E>(fiber: Fiber.Fiber<A, E>, grace: Duration.Duration): Effect.Effect<void> =>
  Effect.gen(function* () {
    if (fiber.pollUnsafe() !== undefined) return
    fiber.interruptUnsafe()
    // Fibers of their own, because a release cannot be interrupted, and neither can a wait in it.
    const ended = yield* Deferred.make<void>()
    const end = Deferred.succeed(ended, undefined)
    const awaiting = yield* Effect.forkDetach(Effect.andThen(Fiber.await(fiber), end))
    const timing = yield* Effect.forkDetach(Effect.andThen(Effect.sleep(grace), end))
    yield* Deferred.await(ended)
    awaiting.interruptUnsafe()
    timing.interruptUnsafe()
  })
