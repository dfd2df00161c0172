import { assert, describe, it } from "@effect/vitest"
import { ClientCredential, ClientHeaders, type ClientSettings, NarthexClient, ProjectId } from "@narthex/api"
import { Effect, Redacted } from "effect"
import { refuses, type SseServer, type Step, sseServer } from "./sseServer.ts"

const answers =
  (status: number, body: unknown): Step =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" })
    response.end(body === undefined ? undefined : JSON.stringify(body))
  }

const settings = ({ baseUrl }: SseServer): ClientSettings => ({
  baseUrl: `${baseUrl}/`,
  credential: Redacted.make("nsk_own"),
  headers: { "user-agent": "test" },
  retries: false
})

/** Runs calls of a client against a server with these answers, in their order. */
const against = <A, E>(
  steps: ReadonlyArray<Step>,
  use: (client: NarthexClient["Service"], server: SseServer) => Effect.Effect<A, E>
) =>
  Effect.gen(function* () {
    const server = yield* sseServer(...steps)
    return yield* NarthexClient.use((client) => use(client, server)).pipe(
      Effect.provide(NarthexClient.layerFetch(settings(server)))
    )
  })

const operation = {
  id: "0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10",
  project_id: "prj-1",
  branch_id: null,
  endpoint_id: null,
  action: "paint_compute",
  status: "pondering",
  error: null,
  failures_count: 0,
  retry_at: null,
  initiator: { type: "robot", id: null, name: null },
  created_at: "2026-11-20T12:00:00.000Z",
  updated_at: "2026-11-20T12:00:00.000Z",
  started_at: null,
  finished_at: null,
  colour: "blue"
}

const project_id = ProjectId.make("prj-1")

describe("the typed client", () => {
  it.live("the client accepts values and members that it does not know", () =>
    against([answers(200, { operations: [operation], pagination: { next_cursor: null }, more: 1 })], ({ api }) =>
      Effect.gen(function* () {
        const { operations } = yield* api.operations.list({ params: { project_id }, query: {} })
        assert.deepStrictEqual([operations[0]?.status, operations[0]?.action], ["pondering", "paint_compute"])
        assert.notProperty(operations[0], "colour")
      })
    )
  )

  it.live("the client sends its credential only with calls that need one", () =>
    against(
      [answers(200, { regions: [] }), answers(200, { providers: [], console_url: null }), answers(204, undefined)],
      ({ api }, { requests }) =>
        Effect.gen(function* () {
          yield* api.regions.list({})
          yield* api.auth.providers({})
          yield* api.auth.logout({})
          assert.deepStrictEqual(
            requests.map(({ headers, url }) => [url, headers.authorization]),
            [
              ["/v1/regions", "Bearer nsk_own"],
              ["/v1/auth/providers", undefined],
              ["/v1/auth/logout", "Bearer nsk_own"]
            ]
          )
        })
    )
  )

  it.live("a call can have its own credential and additional headers", () =>
    against([answers(200, { regions: [] })], ({ api }, { requests }) =>
      Effect.gen(function* () {
        const regions = api.regions.list({})
        yield* regions.pipe(
          Effect.provideService(ClientCredential, Redacted.make("jwt")),
          Effect.provideService(ClientHeaders, { "idempotency-key": "k-1" })
        )
        yield* regions
        const [first, second] = requests.map(({ headers }) => headers)
        assert.deepStrictEqual([first?.authorization, second?.authorization], ["Bearer jwt", "Bearer nsk_own"])
        assert.deepStrictEqual([first?.["idempotency-key"], second?.["idempotency-key"]], ["k-1", undefined])
        assert.strictEqual(first?.["user-agent"], "test")
      })
    )
  )

  it.live("the client returns secrets as redacted values, which logs do not print", () =>
    against([answers(201, { code: "c-1", expires_at: "2026-11-20T12:00:00.000Z" })], ({ api }, { requests }) =>
      Effect.gen(function* () {
        const { code } = yield* api.cli.authorize({
          payload: {
            redirect_uri: "http://127.0.0.1:4000/callback",
            state: "s".repeat(22),
            code_challenge: "c".repeat(43),
            name: "laptop"
          }
        })
        assert.strictEqual(Redacted.value(code), "c-1")
        assert.notInclude(JSON.stringify({ code }), "c-1")
        assert.strictEqual(requests.length, 1)
      })
    )
  )

  it.live("the client does not send a request that its schema refuses", () =>
    against([answers(500, {})], ({ api }, { requests }) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(api.projects.create({ payload: { name: "" } }))
        assert.strictEqual(error._tag, "SchemaError")
        assert.strictEqual(requests.length, 0)
      })
    )
  )

  it.live("a call fails with the class of a known problem", () =>
    against([refuses(404, "not_found"), refuses(422, "region_required")], ({ api }) =>
      Effect.gen(function* () {
        const missing = yield* Effect.flip(api.projects.get({ params: { project_id } }))
        assert.strictEqual(missing._tag, "NotFoundProblem")
        const region = yield* Effect.flip(api.projects.create({ payload: { name: "n" } }))
        assert.strictEqual(region._tag === "RegionRequiredProblem" && region.detail, "region_required!")
      })
    )
  )

  it.live("a call fails with OtherProblem for an unknown problem", () =>
    against([refuses(403, "moon_phase"), answers(502, "bad gateway")], ({ api }) =>
      Effect.gen(function* () {
        const unknown = yield* Effect.flip(api.regions.list({}))
        assert.deepInclude(unknown, { _tag: "OtherProblem", status: 403, code: "moon_phase", detail: "moon_phase!" })
        const gateway = yield* Effect.flip(api.regions.list({}))
        assert.deepInclude(gateway, { _tag: "OtherProblem", status: 502, code: "unknown" })
      })
    )
  )

  it.live("the client encodes values in paths", () =>
    against([answers(204, undefined)], ({ api }, { requests }) =>
      Effect.gen(function* () {
        yield* api.ipAllow.remove({ params: { project_id, cidr: "10.0.0.0/8" } })
        assert.strictEqual(requests[0]?.url, "/v1/projects/prj-1/ip-allow/10.0.0.0%2F8")
      })
    )
  )
})
