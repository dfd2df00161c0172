/** The metric of authentications: which credentials are accepted, and why others are not (docs/design/settings.md S10). */
import { assert, layer } from "@effect/vitest"
import { Effect, Layer, Metric } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { call } from "../support/wire.ts"

const registry = Layer.succeed(Metric.MetricRegistry, new Map())

const counted = Effect.map(Metric.snapshot, (all) =>
  Object.fromEntries(
    all.flatMap(({ attributes, id, state }) =>
      id === "narthex_authentications_total" && "count" in state
        ? [[`${attributes?.["credential"]} ${attributes?.["outcome"]}`, Number(state.count)]]
        : []
    )
  )
)

layer(memoryApi().pipe(Layer.provideMerge(registry)), { excludeTestServices: true })("authentications", (it) => {
  it.effect("each request with a credential counts by its kind and its outcome", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const made = yield* owner.call("POST", "/v1/api-keys", { body: { name: "ci", capability: "read" } })
      const before = yield* counted
      const get = (token?: string) => call("GET", "/v1/projects", { token })
      yield* owner.call("GET", "/v1/projects")
      yield* get(made.body.secret)
      yield* get(made.body.secret)
      yield* get("nsk_unknown")
      yield* get("unknown")
      yield* get()
      const after = yield* counted
      const more = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)])
      assert.deepStrictEqual(Object.fromEntries(more), {
        "session accepted": 1,
        "api_key accepted": 2,
        "api_key invalid_token": 1,
        "session invalid_token": 1
      })
    })
  )
})
