/** Work that takes its turn at connections: what the platform keeps, and places that come back however the work ends. */
import { assert, describe, it } from "@effect/vitest"
import { Requester, type RequesterFacts, Turns } from "@narthex/core"
import { Deferred, Duration, Effect, Fiber } from "effect"
import { type NotDone, StatementLimit } from "../../src/driver/Attempt.ts"
import { takingTurns, turnRulesOf } from "../../src/driver/takingTurns.ts"

const requester = (credential: string): RequesterFacts => ({ party: credential.charAt(0), credential })

describe("turnRulesOf", () => {
  it("keeps a fifth of the connections for the platform, and gives a party three of the others, and a credential two", () => {
    assert.deepStrictEqual(
      [1, 2, 4, 6, 10, 20].map((connections) => {
        const { per_credential, per_party, places } = turnRulesOf(connections)
        return [connections, places, per_party, per_credential]
      }),
      [
        [1, 1, 1, 1],
        [2, 1, 1, 1],
        [4, 3, 2, 2],
        [6, 4, 3, 2],
        [10, 8, 3, 2],
        [20, 16, 3, 2]
      ]
    )
  })
})

const asked = (by: string | null) => Effect.provideService(Requester, by === null ? null : requester(by))

describe("takingTurns", () => {
  const inTurn = (turns: Turns) => {
    const taking = takingTurns(turns)
    return <A, E, R>(work: Effect.Effect<A, E, R>) => taking(work, (cause: NotDone) => cause.message)
  }
  const one = { places: 1, per_party: 1, per_credential: 1, waiting: 1 }

  it.effect("work that is interrupted, or fails, or does not get its turn in time, gives its place back", () =>
    Effect.gen(function* () {
      const turn = inTurn(new Turns(one))
      const [begun, end] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const holding = Effect.andThen(Deferred.succeed(begun, undefined), Deferred.await(end))
      const holder = yield* Effect.forkChild(asked("a")(turn(holding)))
      yield* Deferred.await(begun)

      const leaving = yield* Effect.forkChild(asked("b")(turn(Effect.void)), { startImmediately: true })
      assert.match(yield* Effect.flip(asked("b")(turn(Effect.void))), /^Too many statements/)
      yield* Fiber.interrupt(leaving)
      const late = Effect.provideService(asked("b")(turn(Effect.void)), StatementLimit, Duration.millis(20))
      assert.strictEqual(yield* Effect.flip(late), "Postgres took too long.")

      yield* Fiber.interrupt(holder)
      assert.strictEqual(yield* Effect.flip(asked("b")(turn(Effect.fail("failed")))), "failed")
      assert.strictEqual(yield* asked("b")(turn(Effect.succeed("done"))), "done")
    })
  )

  it.effect("the platform's own work takes no turns", () =>
    Effect.gen(function* () {
      const turn = inTurn(new Turns(one))
      const own = asked(null)(turn(Effect.succeed("done")))
      assert.strictEqual(yield* asked("a")(turn(own)), "done")
    })
  )
})
