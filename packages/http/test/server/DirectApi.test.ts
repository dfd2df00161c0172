/** The API as a client of its own process: what its caller's context must not do, and what goes over a socket. */
import { assert, it, layer } from "@effect/vitest"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { HttpBody, HttpClientRequest, HttpRouter, HttpServerRequest } from "effect/http"
import { DirectApi, ServerIdentity } from "../../src/index.ts"
import { consoleToken, memoryApi } from "../support/apiOver.ts"
import { arrive, founder, key, project } from "../support/story.ts"
import { TestApi } from "../support/wire.ts"

const client = Effect.flatMap(TestApi, ({ direct }) => Effect.fromNullishOr(direct))

const asked = (method: "GET" | "POST", path: string, token: string) =>
  HttpClientRequest.make(method)(`http://api.test${path}`).pipe(HttpClientRequest.bearerToken(token))

layer(memoryApi(), { excludeTestServices: true })("the API within its process", (it) => {
  it.effect("nothing of the caller's context reaches the API but what headers say", () =>
    Effect.gen(function* () {
      const { token } = yield* arrive()
      const request = asked("GET", "/v1/client-address", token)
      const reporting = HttpClientRequest.setHeaders(request, { "narthex-client-address": "203.0.113.5" })
      const trusted = HttpClientRequest.setHeader(reporting, "narthex-console", consoleToken)
      const forged = HttpClientRequest.setHeader(reporting, "narthex-console", "the caller's own token")
      const { execute } = yield* client
      const answers = yield* Effect.forEach([trusted, forged, request], (it) =>
        Effect.flatMap(execute(it), ({ json }) => json)
      ).pipe(
        Effect.provideService(ServerIdentity, {
          ...(yield* ServerIdentity),
          origin: { trusted_hops: 0, console_token: Redacted.make("the caller's own token") }
        }),
        Effect.provideService(
          HttpServerRequest.HttpServerRequest,
          HttpServerRequest.fromWeb(new Request("http://console.test/orgs"))
        )
      )
      assert.deepStrictEqual(answers, [{ address: "203.0.113.5" }, { address: "127.0.0.1" }, { address: "127.0.0.1" }])
    })
  )

  it.effect("calls that arrive together are answered each for its own credential", () =>
    Effect.gen(function* () {
      const [one, other] = [yield* founder(), yield* founder()]
      const made = yield* one.call("POST", "/v1/projects", { body: { name: "of one" } })
      const { execute } = yield* client
      const together = (path: string) =>
        Effect.forEach([one, other, one, other], ({ token }) => execute(asked("GET", path, token)), {
          concurrency: "unbounded"
        })
      const branches = yield* together(`/v1/projects/${made.body.project.id}/branches`)
      assert.deepStrictEqual(
        branches.map(({ status }) => status),
        [200, 404, 200, 404]
      )
      const cursors = (yield* together("/v1/projects")).map(({ headers }) => headers["events-cursor"])
      assert.deepStrictEqual(cursors.slice(2), cursors.slice(0, 2))
      assert.notStrictEqual(cursors[0], cursors[1])
    })
  )

  it.effect("calls of one key that arrive together from two addresses are read for each address", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { id, token } = yield* key(who)
      const { execute } = yield* client
      const from = (address: string) =>
        HttpClientRequest.setHeaders(asked("GET", "/v1/auth/whoami", token), {
          "narthex-console": consoleToken,
          "narthex-client-address": address
        })
      // The first use is written at once, later ones are kept for a while.
      yield* execute(from("203.0.113.4"))
      const addresses = ["203.0.113.5", "203.0.113.5", "203.0.113.6"]
      const together = Effect.gen(function* () {
        const answers = yield* Effect.forEach(addresses, (address) => execute(from(address)), {
          concurrency: "unbounded"
        })
        assert.deepStrictEqual(
          answers.map(({ status }) => status),
          [200, 200, 200]
        )
        const { body } = yield* who.call("GET", `/v1/api-keys/${id}`)
        return String(body.api_key.last_used_from)
      })
      // Either of the two reads may end last. If all calls shared one, it would have the first address each time.
      const last = yield* Effect.repeat(together, { until: (address) => address === addresses[2], times: 100 })
      assert.strictEqual(last, addresses[2])
    })
  )

  it.effect("bodies that are too large, and those whose size is not known, are measured by the server", () =>
    Effect.gen(function* () {
      const { token } = yield* founder()
      const { execute } = yield* client
      const { port } = yield* TestApi
      const create = HttpClientRequest.make("POST")(`http://127.0.0.1:${port}/v1/projects`).pipe(
        HttpClientRequest.bearerToken(token)
      )
      const text = JSON.stringify({ name: "x", padding: "x".repeat(64 * 1024) })
      const answer = yield* execute(HttpClientRequest.bodyText(create, text, "application/json"))
      assert.strictEqual(answer.status, 413)
      assert.propertyVal(yield* answer.json, "code", "body_too_large")
      const raw = HttpBody.raw(JSON.stringify({ name: "raw" }), { contentType: "application/json" })
      assert.strictEqual((yield* execute(HttpClientRequest.setBody(create, raw))).status, 201)
    })
  )

  it.effect("a body that is not JSON is 415, and the type of an empty one does not count", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { path } = yield* project(who)
      const { execute } = yield* client
      const create = asked("POST", `${path}/branches`, who.token)
      for (const [text, status] of [
        ["name=x", 415],
        ["", 201]
      ] as const)
        assert.strictEqual((yield* execute(HttpClientRequest.bodyText(create, text, "text/plain"))).status, status)
    })
  )
})

it.live("a call is interrupted when its caller is, and its caller does not wait for it", () =>
  Effect.gen(function* () {
    const begun = yield* Deferred.make<void>()
    const interrupted = yield* Deferred.make<void>()
    const released = yield* Deferred.make<void>()
    const slow = Effect.andThen(Deferred.succeed(begun, undefined), Effect.never).pipe(
      Effect.onInterrupt(() => Effect.andThen(Deferred.succeed(interrupted, undefined), Deferred.await(released)))
    )
    const served = DirectApi.layer.pipe(
      Layer.provide(HttpRouter.add("GET", "/slow", slow)),
      Layer.provide(HttpRouter.layer)
    )
    const { execute } = Context.get(yield* Layer.build(served), DirectApi)
    const call = yield* Effect.forkChild(execute(HttpClientRequest.get("http://api.test/slow")))
    yield* Deferred.await(begun)
    yield* Fiber.interrupt(call)
    yield* Deferred.await(interrupted)
    yield* Deferred.succeed(released, undefined)
  }).pipe(Effect.scoped)
)
