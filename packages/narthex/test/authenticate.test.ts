/** The cost of an authentication, in steps of Effect's interpreter: a number that does not depend on the machine. */
import { assert, it } from "@effect/vitest"
import { ApiKeys, Authentication, CredentialStore, KeyDigester, People, Sessions } from "@narthex/core"
import { Effect, Exit, References } from "effect"
import { ControlPlane } from "../src/index.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true, name: "Ada" }

it.live("an authentication by key in memory ends in the turn of its call, a few steps after its look-up", () =>
  Effect.gen(function* () {
    const { authenticate } = yield* Authentication
    const person = yield* (yield* People).ensure(ada)
    const session = yield* (yield* Sessions).start(person.id, { user_agent: null, address: null })
    const owner = yield* authenticate(session.access_token, null)
    if (owner.kind !== "session") throw new Error("The caller of a session is a session.")
    const wanted = {
      name: "ci",
      capability: "read_write",
      scope: { type: "organization" },
      expires_in_days: null
    } as const
    const { secret } = yield* (yield* ApiKeys).create(owner, wanted)
    const digests = (yield* (yield* KeyDigester).digests(secret)).map(({ digest }) => digest)
    const { byKeyDigest } = yield* CredentialStore
    // The first use of a key is written at once.
    yield* authenticate(secret, null)

    const fork = Effect.runForkWith(yield* Effect.context<never>())
    const steps = <A, E>(effect: Effect.Effect<A, E>) => {
      const fiber = fork(Effect.provideService(effect, References.TracerEnabled, false))
      const exit = fiber.pollUnsafe()
      assert.isTrue(exit !== undefined && Exit.isSuccess(exit), "it has ended")
      return fiber.currentOpCount
    }
    assert.isAtMost(steps(authenticate(secret, null)) - steps(byKeyDigest(digests)), 11)
  }).pipe(Effect.provide(ControlPlane.layer({ runner: false })))
)
