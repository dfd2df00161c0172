/**
 * A code of a command-line login makes one key, however many exchanges run at once.
 * Holds docs/design/identity.md I39.
 */
import { createHash, randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { ApiKeys, CliLogin, type SessionCaller } from "@narthex/core"
import { firstPage } from "@narthex/core/testing"
import { Effect, Redacted, Result } from "effect"
import { times } from "../harness/long.ts"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { authenticate, signIn, world } from "./support/world.ts"

const exchanges = times(20, 200)
const redirect_uri = "http://127.0.0.1:4321/callback"

/** A new code and its exchange. */
const authorized = (caller: SessionCaller) =>
  Effect.gen(function* () {
    const cli = yield* CliLogin
    const verifier = randomBytes(32).toString("base64url")
    const { code } = yield* cli.authorize(caller, {
      redirect_uri,
      state: randomBytes(32).toString("base64url"),
      code_challenge: createHash("sha256").update(verifier).digest("base64url"),
      name: "laptop",
      capability: "read_write",
      scope: { type: "organization" },
      expires_in_days: null
    })
    return cli.exchange({ code, code_verifier: Redacted.make(verifier), redirect_uri })
  })

layer(world, { excludeTestServices: true })("a command-line login", (it) => {
  it.effect("exchanges of a code during and after the first one are refused", () =>
    Effect.gen(function* () {
      const caller = yield* signIn("first@example.com")
      const exchange = yield* authorized(caller)
      const { first, others } = yield* inOrder(
        exchange,
        Array.from({ length: 8 }, () => exchange)
      )
      const late = yield* Effect.result(exchange)
      assert.isTrue(Result.isSuccess(first))
      assert.deepStrictEqual(
        [...others, late].map((it) => (Result.isSuccess(it) ? "a key" : it.failure._tag)),
        Array.from({ length: 9 }, () => "InvalidCode")
      )
      assert.strictEqual((yield* (yield* ApiKeys).list(caller, firstPage)).items.length, 1)
    })
  )

  it.effect(
    `${exchanges} parallel exchanges of one code make one key`,
    () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        yield* rounds(
          "exchanges of one code",
          (n) =>
            Effect.gen(function* () {
              const caller = yield* signIn(`cli-${n}@example.com`)
              const exchange = yield* authorized(caller)
              const outcomes = yield* race(Array.from({ length: exchanges }, () => exchange))
              const made = outcomes.flatMap((it) => (Result.isSuccess(it) ? [it.success] : []))
              const others = outcomes.filter((it) => Result.isFailure(it) && it.failure._tag !== "InvalidCode")
              const { items: stored } = yield* keys.list(caller, firstPage)
              const [key] = made
              const opens = key === undefined ? undefined : yield* Effect.result(authenticate(key.secret))
              return [
                ...(made.length === 1 && stored.length === 1 ? [] : [`${made.length} made, ${stored.length} kept`]),
                ...(others.length === 0 ? [] : [`${others.length} were answered something else`]),
                ...(opens !== undefined && Result.isSuccess(opens) ? [] : ["the key does not open"])
              ]
            }),
          { count: 8, lanes: 1 }
        )
      }),
    patience
  )
})
