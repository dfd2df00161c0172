/** Clients of an `AuthenticationGate`, for tests whose timers and `Date` are replaced. */
import { vi } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { Effect } from "effect"
import { AuthenticationGate, defaultAuthenticationLimits, type Place } from "../../src/connection/AuthenticationGate.ts"

export const endpoint_id = EndpointId.make("ep-a")

/** Enters clients: from an address, with a user, from a network, at an endpoint. */
export const gated = (limits: Partial<typeof defaultAuthenticationLimits> = {}) => {
  const gate = new AuthenticationGate({ ...defaultAuthenticationLimits, ...limits }, () => Date.now())
  return (address: string, user = "stranger", network = address, at = endpoint_id) => {
    const answers: Array<Place | undefined> = []
    const known = gate.knows(at, user)
    const cancel = gate.enter({ endpoint_id: at, address, network, user, known }, (place) => answers.push(place))
    return {
      leave: () => {
        cancel()
        answers[0]?.release()
      },
      /** The place; `undefined` while the client waits, and if it was refused. */
      place: () => answers[0],
      over: () => answers.length > 0
    }
  }
}

/** Lets time pass for the timers and the `Date` that the test has replaced. */
export const pass = (millis: number) => Effect.promise(() => vi.advanceTimersByTimeAsync(millis))
