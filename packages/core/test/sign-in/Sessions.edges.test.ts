import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { idTokenOf, People, signedIn, tagOf } from "../memory/core.ts"

describe("A session", () => {
  it.effect("a revoked session cannot switch organizations", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      const ada = yield* signedIn("ada")
      const { id } = yield* (yield* Organizations).create(ada, "Team")
      yield* sessions.switchOrg(ada, id)
      yield* sessions.end(ada.user.id, ada.session_id)
      assert.strictEqual(yield* tagOf(sessions.switchOrg(ada, id)), "SignInRequired")
    }).pipe(Effect.provide(People))
  )

  it.effect("a session stores at most 256 characters of the user agent", () =>
    Effect.gen(function* () {
      const sessions = yield* Sessions
      yield* sessions.exchange(yield* idTokenOf({ subject: "ada" }), { user_agent: "x".repeat(1_000), address: null })
      const { user } = yield* signedIn("ada")
      const agents = (yield* sessions.list(user.id)).map(({ user_agent }) => user_agent)
      assert.include(agents, "x".repeat(256))
    }).pipe(Effect.provide(People))
  )
})
