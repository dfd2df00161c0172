/** The limit on open streams (docs/design/events.md) as a caller sees it. */
import { assert, layer } from "@effect/vitest"
import { defaultEventSettings, EventSettings } from "@narthex/core"
import { Effect, Layer } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { arrive, refused } from "../support/story.ts"

const none = { streams: 0, org_streams: 10, instance_streams: 10, opens: 10 }
const noStreams = Layer.succeed(EventSettings, { ...defaultEventSettings, limits: none })

layer(memoryApi().pipe(Layer.provide(noStreams)), { excludeTestServices: true })("a limit on open streams", (it) => {
  it.effect("too many open streams are 429, with the headers of every other limit", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const answer = yield* who.call("GET", "/v1/events")
      refused(answer, 429, "rate_limited")
      assert.strictEqual(answer.headers["ratelimit-policy"], '"streams";q=0')
      assert.match(answer.headers.ratelimit ?? "", /^"streams";r=0;t=[1-9]/)
      assert.deepInclude(answer.body, { limit: "streams", held: 0, allowed: 0 })
    })
  )
})
