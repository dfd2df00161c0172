/**
 * A barrier inside a layer. Calls pass until a test arms it; then it holds the next call until the test releases it.
 */
import { Deferred, Effect } from "effect"
import { eventually } from "../../harness/eventually.ts"

interface Arm {
  readonly reached: Deferred.Deferred<void>
  readonly open: Deferred.Deferred<void>
}

export class Barrier {
  #arm: Arm | undefined

  /** Where the code under test passes. */
  readonly pass: Effect.Effect<void> = Effect.suspend(() => {
    const arm = this.#arm
    if (arm === undefined) return Effect.void
    this.#arm = undefined
    return Effect.andThen(Deferred.succeed(arm.reached, undefined), Deferred.await(arm.open))
  })

  /**
   * Causes a call, and runs `work` while that call is held here. Then the call continues, however the work ended.
   * Pitfall: a cause that waits for the end of the call. It would wait for ever; fork it.
   */
  during<A, E, R, A2, E2, R2>(
    what: string,
    cause: Effect.Effect<A, E, R>,
    work: (caused: A) => Effect.Effect<A2, E2, R2>
  ): Effect.Effect<A2, E | E2, R | R2> {
    const arm = Effect.all({ reached: Deferred.make<void>(), open: Deferred.make<void>() })
    return Effect.flatMap(arm, (armed) => {
      this.#arm = armed
      const held = Effect.flatMap(cause, (caused) =>
        Effect.andThen(eventually(what, Deferred.isDone(armed.reached)), work(caused))
      )
      return Effect.ensuring(
        held,
        Effect.suspend(() => {
          this.#arm = undefined
          return Deferred.succeed(armed.open, undefined)
        })
      )
    })
  }
}
