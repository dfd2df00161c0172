/**
 * WAKE, DIAL and LOG IN: from an admitted client to a session at a compute.
 *
 * 1. DIAL the address that the control plane named, or that a wake has returned since it was asked.
 * 2. WAKE: at most 30 s; concurrent wakes of an endpoint for one client address share a call. The control plane checks the
 *    address again.
 * 3. ALLOW again, because the rules may have changed during the wait. Then DIAL.
 * 4. If a DIAL finds no compute, continue with 2, at most five times, after 20, 40, 80, 160 and 320 ms. The control
 *    plane gets the generation that could not be connected to, and has verified whether it runs.
 */
import type { RunningCompute } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import { Cause, Effect, Exit, Option, type Scope } from "effect"
import type { Admitted, NotListed, RulesTooOld } from "../allowlist/checkAllowlist.ts"
import type { AllowlistCache, RulesUnknown } from "../control-plane/AllowlistCache.ts"
import {
  type AddressNotListed,
  ControlPlane,
  type ControlPlaneUnreachable,
  type EndpointDisabled,
  type EndpointUnknown,
  type TooManyComputes,
  WakeTimedOut
} from "../control-plane/ControlPlane.ts"
import { type Cancel, makeRun, type OnExit } from "../control-plane/Run.ts"
import { makeSingleFlight } from "../control-plane/SingleFlight.ts"
import { count } from "../outcomes/AuditTrail.ts"
import type { ProxyMetrics, WakeOutcome } from "../outcomes/ProxyMetrics.ts"
import type { Refusal, ServerError } from "../outcomes/Refusal.ts"
import { ComputeGone, type Dialler } from "./connectCompute.ts"
import { dial, type Login, type Opened } from "./dial.ts"

type WakeError =
  | EndpointUnknown
  | EndpointDisabled
  | AddressNotListed
  | TooManyComputes
  | WakeTimedOut
  | ControlPlaneUnreachable

export type ReachError = WakeError | ComputeGone | NotListed | RulesTooOld | RulesUnknown | Refusal | ServerError

export interface Reached extends Opened {
  readonly compute: RunningCompute
  /** The result of the last allowlist check. */
  readonly admitted: Admitted
  /** Whether the client has waited for a wake. */
  readonly woken: boolean
}

/** An answer of the control plane: where the compute runs, `undefined` if it does not, and when it was asked. */
export interface Located {
  readonly compute: RunningCompute | undefined
  /** Milliseconds of the clock of `makeComputes`, before the question. */
  readonly asked_at: number
}

export interface Computes {
  /**
   * Opens a session at the compute of the endpoint, waking it if necessary. Each attempt has a login of its own.
   */
  readonly reach: (
    admitted: Admitted,
    located: Located,
    login: () => Login,
    dialler: Dialler,
    onExit: OnExit<Reached, ReachError>
  ) => Cancel
}

const outcomes: Readonly<Record<WakeError["_tag"], WakeOutcome>> = {
  AddressNotListed: "refused",
  EndpointDisabled: "refused",
  EndpointUnknown: "refused",
  TooManyComputes: "too_many",
  WakeTimedOut: "timed_out",
  ControlPlaneUnreachable: "unreachable"
}

const outcomeOf = (exit: Exit.Exit<unknown, WakeError>): WakeOutcome => {
  if (Exit.isSuccess(exit)) return "woken"
  const failure = Cause.findErrorOption(exit.cause)
  return Option.isSome(failure) ? outcomes[failure.value._tag] : "abandoned"
}

const maximumRetries = 5
/** How long the result of a wake is remembered, in milliseconds. */
const wakeReuse = 1_000

/** `now` is a monotonic clock in milliseconds. */
export const makeComputes = (
  allowlists: AllowlistCache,
  now: () => number,
  metrics: ProxyMetrics
): Effect.Effect<Computes, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const flights = yield* makeSingleFlight<RunningCompute, WakeError>()
    const run = yield* makeRun
    const timedOut = (endpoint_id: EndpointId) => new WakeTimedOut({ endpoint_id })

    const woken = new Map<EndpointId, { readonly compute: RunningCompute; readonly at: number }>()

    const wake = (admitted: Admitted, unreachable: number | undefined) =>
      flights.join(
        `${admitted.endpoint_id} ${admitted.client_address}`,
        Effect.suspend(() => {
          const began = now()
          return count("wake").pipe(
            Effect.andThen(control.wake(admitted, unreachable)),
            Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => timedOut(admitted.endpoint_id) }),
            Effect.onExit((exit) =>
              Effect.sync(() => {
                metrics.wake(outcomeOf(exit))
                if (Exit.isFailure(exit)) return
                metrics.wakeStep("start", now() - began)
                woken.set(admitted.endpoint_id, { compute: exit.value, at: now() })
              })
            )
          )
        })
      )

    /**
     * A compute that another client woke while this one was being resolved and checked: it runs, so no wake is needed.
     *
     * Pitfall: using a wake from before the question. A compute that was suspended since is dialled, in vain, and the
     * client waits for a pause before its own wake.
     */
    const justWoken = (endpoint_id: EndpointId, asked_at: number) => {
      for (const [id, { at }] of woken) if (now() - at > wakeReuse) woken.delete(id)
      const last = woken.get(endpoint_id)
      return last !== undefined && last.at >= asked_at ? last.compute : undefined
    }

    const wakeAndDial = (
      before: Admitted,
      unreachable: number | undefined,
      login: () => Login,
      dialler: Dialler,
      retry: number
    ): Effect.Effect<Reached, ReachError> =>
      Effect.gen(function* () {
        const compute = yield* wake(before, unreachable)
        const admitted = yield* allowlists.check(before)
        const began = now()
        const outcome = yield* dialled(admitted, compute, login(), dialler)
        if (outcome instanceof ComputeGone) return yield* retryAfter(outcome, admitted, compute, login, dialler, retry)
        if (!("server" in outcome)) return yield* Effect.fail(outcome)
        metrics.wakeStep("connect", now() - began)
        return { ...outcome, compute, admitted, woken: true }
      })

    const retryAfter = (
      gone: ComputeGone,
      admitted: Admitted,
      compute: RunningCompute,
      login: () => Login,
      dialler: Dialler,
      retry: number
    ): Effect.Effect<Reached, ReachError> =>
      retry === maximumRetries
        ? Effect.fail(gone)
        : Effect.andThen(
            Effect.sleep(20 * 2 ** retry),
            wakeAndDial(admitted, compute.generation, login, dialler, retry + 1)
          )

    return {
      reach: (admitted, located, login, dialler, onExit) => {
        const compute = located.compute ?? justWoken(admitted.endpoint_id, located.asked_at)
        if (compute === undefined) return run(wakeAndDial(admitted, undefined, login, dialler, 0), onExit)
        // A compute that runs, as nearly always, is reached without a fiber.
        let cancel = dial(admitted, compute, login(), dialler, (outcome) => {
          if (outcome instanceof ComputeGone)
            cancel = run(retryAfter(outcome, admitted, compute, login, dialler, 0), onExit)
          else
            onExit(
              "server" in outcome ? Exit.succeed({ ...outcome, compute, admitted, woken: false }) : Exit.fail(outcome)
            )
        })
        return () => cancel()
      }
    }
  })

/** An attempt of a fiber. Its socket is paused, because the fiber may go on later. */
const dialled = (admitted: Admitted, compute: RunningCompute, login: Login, dialler: Dialler) =>
  Effect.callback<Parameters<Parameters<typeof dial>[4]>[0]>((resume) => {
    const cancel = dial(admitted, compute, login, dialler, (outcome) => {
      if ("server" in outcome) outcome.server.socket.pause()
      resume(Effect.succeed(outcome))
    })
    return Effect.sync(cancel)
  })
