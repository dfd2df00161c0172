/** The API of a program that has switched its limits off. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { arrive, founder, refused } from "../support/story.ts"
import { call } from "../support/wire.ts"

layer(memoryApi({ limits: null }), { excludeTestServices: true })("without limits", (it) => {
  it.effect("without limits nothing is counted, and answers carry no limit headers", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      for (let i = 0; i < 10; i++) {
        const answer = yield* call("POST", "/v1/auth/exchange", { body: { id_token: "nonsense" } })
        refused(answer, 401, "invalid_token")
        assert.isUndefined(answer.headers["ratelimit"])
        assert.strictEqual((yield* who.call("POST", "/v1/auth/refresh")).status, 200)
      }
      assert.strictEqual((yield* (yield* arrive()).call("GET", "/v1/regions")).status, 200)
    })
  )
})
