/** A simulation with Node's own test runner, and without another: for `simulation.test.ts`, and as an example. */
import assert from "node:assert/strict"
import { it } from "node:test"
import { Sessions } from "@narthex/core"
import { Simulation, simulation } from "@narthex/core/testing"
import { Effect } from "effect"

it("at hour 12 the session has ended", () =>
  Effect.gen(function* () {
    const world = yield* Simulation
    const { access_token } = yield* world.signIn("ada@example.com")
    yield* world.advance("12 hours")
    const refusal = yield* Effect.flip((yield* Sessions).refresh(access_token))
    assert.equal(refusal._tag, "SignInRequired")
  }).pipe(Effect.provide(simulation({ seed: 7 })), Effect.runPromise))
