/** A code of a command-line login is worth one key, however many ask for it at once. */
import { createHash, randomBytes } from "node:crypto"
import { layer } from "@effect/vitest"
import { ApiKeys, CliLogin } from "@narthex/core"
import { Effect, Redacted, Result } from "effect"
import { patience, race, rounds } from "./support/rounds.ts"
import { authenticate, signIn, world } from "./support/world.ts"

const exchanges = 200
const redirect_uri = "http://127.0.0.1:4321/callback"

layer(world, { excludeTestServices: true })("a command-line login", (it) => {
  it.effect(
    `${exchanges} parallel exchanges of one code make one key`,
    () =>
      Effect.gen(function* () {
        const cli = yield* CliLogin
        const keys = yield* ApiKeys
        yield* rounds(
          "exchanges of one code",
          (n) =>
            Effect.gen(function* () {
              const caller = yield* signIn(`cli-${n}@example.com`)
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
              const exchange = cli.exchange({ code, code_verifier: Redacted.make(verifier), redirect_uri })
              const outcomes = yield* race(Array.from({ length: exchanges }, () => exchange))
              const made = outcomes.flatMap((it) => (Result.isSuccess(it) ? [it.success] : []))
              const others = outcomes.filter((it) => Result.isFailure(it) && it.failure._tag !== "InvalidCode")
              const stored = yield* keys.list(caller)
              const [key] = made
              const opens = key === undefined ? undefined : yield* Effect.result(authenticate(key.secret))
              return [
                ...(made.length === 1 && stored.length === 1 ? [] : [`${made.length} made, ${stored.length} kept`]),
                ...(others.length === 0 ? [] : [`${others.length} were answered something else`]),
                ...(opens !== undefined && Result.isSuccess(opens) ? [] : ["the key does not open"])
              ]
            }),
          { lanes: 1 }
        )
      }),
    patience
  )
})
