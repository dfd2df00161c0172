/** One `Idempotency-Key` sent many times at once, to two servers: one effect, one answer. */
import { layer } from "@effect/vitest"
import { Effect, Result } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { ask, enter, withTwoServers } from "./support/twoServers.ts"

const calls = 50

layer(PostgresServer.layer, { excludeTestServices: true })("an idempotency key", (it) => {
  it.effect(
    `raced by ${calls} calls on two servers makes one effect`,
    () =>
      withTwoServers((ports) =>
        rounds(
          "idempotency",
          (n) =>
            Effect.gen(function* () {
              const { token } = yield* enter(ports[0], `once-${n}@example.com`)
              const create = (at: number) =>
                ask(ports[at % 2 === 0 ? 0 : 1], "POST", "/v1/api-keys/", {
                  token,
                  body: { name: "once" },
                  headers: { "idempotency-key": `round-${n}` }
                })
              const outcomes = yield* race(Array.from({ length: calls }, (_, at) => create(at)))
              const answers = outcomes.flatMap((it) => (Result.isSuccess(it) ? [it.success] : []))
              const late = yield* create(1)
              const made = answers.filter(({ status }) => status === 201)
              const shown = made.filter(({ body }) => body.secret !== null)
              const ids = new Set([...made, late].map(({ body }) => body.api_key.id))
              const others = answers.filter(
                ({ body, status }) => status !== 201 && !(status === 409 && body.code === "idempotency_in_progress")
              )
              const { body: list } = yield* ask(ports[1], "GET", "/v1/api-keys/", { token })
              return [
                ...(list.api_keys.length === 1 && ids.size === 1
                  ? []
                  : [`${list.api_keys.length} keys, ${ids.size} ids`]),
                ...(shown.length === 1 ? [] : [`the secret was shown ${shown.length} times`]),
                ...others.map(({ body, status }) => `${status} ${body.code}`)
              ]
            }),
          { lanes: 1 }
        )
      ),
    patience
  )
})
