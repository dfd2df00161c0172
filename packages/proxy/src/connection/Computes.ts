/**
 * WAKE and DIAL: from an admitted client to a compute that answered.
 *
 * 1. DIAL the last known address, if there is one.
 * 2. WAKE: one flight for an endpoint and a client address, 30 s. The control plane checks the address again.
 * 3. ALLOW again: the rules may have changed during the wait. Then DIAL.
 * 4. No compute there (any DIAL): again from 2, at most five times, after 20, 40, 80, 160 and 320 ms.
 */
import { Clock, Effect, type Scope } from "effect"
import type { RunningCompute } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import type { Admitted, NotListed, RulesTooOld } from "../allowlist/checkAllowlist.ts"
import type { AllowlistCache, RulesUnknown } from "../control-plane/AllowlistCache.ts"
import {
  type AddressNotListed,
  ControlPlane,
  type ControlPlaneUnreachable,
  type EndpointDisabled,
  type EndpointUnknown,
  WakeTimedOut
} from "../control-plane/ControlPlane.ts"
import { type ComputeGone, type Dialled, dial } from "./dial.ts"
import { count } from "../outcomes/AuditTrail.ts"
import { makeSingleFlight } from "../control-plane/SingleFlight.ts"

type WakeError = EndpointUnknown | EndpointDisabled | AddressNotListed | WakeTimedOut | ControlPlaneUnreachable

export type ReachError = WakeError | ComputeGone | NotListed | RulesTooOld | RulesUnknown

export interface Reached extends Dialled {
  readonly compute: RunningCompute
  /** The check that let the client through last. */
  readonly admitted: Admitted
}

export interface Computes {
  readonly reach: (
    admitted: Admitted,
    lastKnown: RunningCompute | undefined,
    startup: Buffer
  ) => Effect.Effect<Reached, ReachError, Scope.Scope>
}

const mostAgain = 5
const aMoment = 1_000

export const makeComputes = (allowlists: AllowlistCache): Effect.Effect<Computes, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const flights = yield* makeSingleFlight<RunningCompute, WakeError>()
    const timedOut = (endpoint_id: EndpointId) => new WakeTimedOut({ endpoint_id })

    const clock = yield* Clock.Clock
    const woken = new Map<EndpointId, { readonly compute: RunningCompute; readonly at: number }>()
    const monotonic = () => Number(clock.monotonicTimeNanosUnsafe()) / 1e6

    const wake = (admitted: Admitted) =>
      flights.join(
        `${admitted.endpoint_id} ${admitted.client_address}`,
        count("wake").pipe(
          Effect.andThen(control.wake(admitted)),
          Effect.timeoutOrElse({ duration: "30 seconds", orElse: () => timedOut(admitted.endpoint_id) }),
          Effect.tap((compute) => Effect.sync(() => woken.set(admitted.endpoint_id, { compute, at: monotonic() })))
        )
      )

    /** What was woken while this client was still being resolved and checked: it runs, so nobody need be asked. */
    const justWoken = (endpoint_id: EndpointId) => {
      for (const [id, { at }] of woken) if (monotonic() - at > aMoment) woken.delete(id)
      return woken.get(endpoint_id)?.compute
    }

    const wakeAndDial = (
      before: Admitted,
      startup: Buffer,
      again: number
    ): Effect.Effect<Reached, ReachError, Scope.Scope> =>
      Effect.gen(function* () {
        const compute = yield* wake(before)
        const admitted = yield* allowlists.check(before)
        return yield* dialOrWake(admitted, compute, startup, again)
      })

    const dialOrWake = (
      admitted: Admitted,
      compute: RunningCompute,
      startup: Buffer,
      again: number
    ): Effect.Effect<Reached, ReachError, Scope.Scope> =>
      dial(admitted, compute.address, startup).pipe(
        Effect.map((dialled) => ({ ...dialled, compute, admitted })),
        Effect.catchTag("ComputeGone", (gone) =>
          again === mostAgain
            ? Effect.fail(gone)
            : Effect.andThen(Effect.sleep(20 * 2 ** again), wakeAndDial(admitted, startup, again + 1))
        )
      )

    return {
      reach: (admitted, lastKnown, startup) =>
        Effect.suspend(() => {
          const compute = lastKnown ?? justWoken(admitted.endpoint_id)
          return compute === undefined ? wakeAndDial(admitted, startup, 0) : dialOrWake(admitted, compute, startup, 0)
        })
    }
  })
