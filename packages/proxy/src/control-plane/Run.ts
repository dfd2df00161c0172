/**
 * Runs effects for code that is no fiber: what opens a connection is plain callbacks, and the calls of the control plane
 * are effects.
 *
 * Pitfall: a fiber for each connection. Its interpreter takes as much CPU as everything else that a connection needs.
 */
import { Effect, Exit, FiberSet, Option, type Scope } from "effect"

/** Ends a wait, whose outcome is not reported then. */
export type Cancel = () => void

/** The cancel of a wait that is over already. */
export const nothing: Cancel = () => {}

export type OnExit<A, E> = (exit: Exit.Exit<A, E>) => void

/** Runs an effect until it ends or is cancelled. An effect that waits for nothing has ended when `Run` returns. */
export type Run = <A, E>(effect: Effect.Effect<A, E>, onExit: OnExit<A, E>) => Cancel

/** Effects that run are interrupted when the scope closes. */
export const makeRun: Effect.Effect<Run, never, Scope.Scope> = Effect.gen(function* () {
  const running = yield* FiberSet.make<unknown, unknown>()
  const start = Effect.runForkWith(yield* Effect.context())
  const run: Run = (effect, onExit) => {
    const fiber = start(effect)
    const exit = fiber.pollUnsafe()
    if (exit !== undefined) {
      onExit(exit)
      return nothing
    }
    FiberSet.addUnsafe(running, fiber)
    const forget = fiber.addObserver(onExit)
    return () => {
      forget()
      fiber.interruptUnsafe()
    }
  }
  return run
})

/** The error of an exit; `undefined` for success, and for a defect or an interruption. */
export const failureOf = <A, E>(exit: Exit.Exit<A, E>): E | undefined =>
  Option.getOrUndefined(Exit.findErrorOption(exit))
