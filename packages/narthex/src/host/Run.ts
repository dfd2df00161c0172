/** Runs effects of the core for hosts without Effect. */
import { type Context, Effect, Exit } from "effect"
import type { Services } from "../composition/layerControlPlane.ts"
import { closedFailure, failureOf } from "../failures/failures.ts"

/** Resolves with what the effect answers; rejects with a `NarthexError`. */
export type Run = <A>(effect: Effect.Effect<A, unknown, Services>, signal?: AbortSignal) => Promise<A>

/** `closed`: is aborted when the control plane ends. From then on nothing runs. */
export const makeRun = (context: Context.Context<Services>, closed: AbortSignal): Run => {
  const fork = Effect.runForkWith(context)
  return async <A>(effect: Effect.Effect<A, unknown, Services>, signal?: AbortSignal) => {
    if (closed.aborted) throw closedFailure()
    const fiber = fork(effect, signal === undefined ? undefined : { signal })
    // In memory most calls have ended here, and need no promise of their own.
    const exit =
      fiber.pollUnsafe() ?? (await new Promise<Exit.Exit<A, unknown>>((resolve) => fiber.addObserver(resolve)))
    if (Exit.isSuccess(exit)) return exit.value
    throw failureOf(exit.cause, signal)
  }
}
