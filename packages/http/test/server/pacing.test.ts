/** Requests that arrive together: what those of one client delay those of others by. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { HttpClientRequest } from "effect/http"
import { consoleToken, memoryApi } from "../support/apiOver.ts"
import { founder } from "../support/story.ts"
import { TestApi } from "../support/wire.ts"

const many = 200

layer(memoryApi(), { excludeTestServices: true })("requests that arrive together", (it) => {
  /** Answers of `many` requests from one address that come before that of one more, which arrives after them. */
  const answeredBefore = (last: { readonly address: string; readonly token: string }, token: string) =>
    Effect.gen(function* () {
      const { execute } = yield* Effect.flatMap(TestApi, ({ direct }) => Effect.fromNullishOr(direct))
      const from = (address: string, token: string) =>
        HttpClientRequest.get("http://api.test/v1/auth/whoami").pipe(
          HttpClientRequest.bearerToken(token),
          HttpClientRequest.setHeaders({ "narthex-client-address": address, "narthex-console": consoleToken })
        )
      let answered = 0
      const first = Array.from({ length: many }, () =>
        Effect.map(execute(from("203.0.113.1", token)), () => answered++)
      )
      const other = Effect.map(execute(from(last.address, last.token)), () => answered)
      const [, before] = yield* Effect.all([Effect.all(first, { concurrency: "unbounded" }), other], {
        concurrency: "unbounded"
      })
      assert.strictEqual(answered, many)
      return before
    })

  it.effect("two hundred requests of one address let a later one of another address go first", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* founder(), yield* founder()]
      assert.isBelow(yield* answeredBefore({ address: "203.0.113.2", token: other.token }, one.token), many / 2)
    })
  )

  it.effect("two hundred requests with one credential let a later one with another credential go first", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* founder(), yield* founder()]
      assert.isBelow(yield* answeredBefore({ address: "203.0.113.1", token: other.token }, one.token), many / 2)
    })
  )
})
