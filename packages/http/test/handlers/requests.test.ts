/** Rules of every call: docs/design/api.md, Requests and Errors. Holds docs/design/library.md N15. */
import { request } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Api } from "@narthex/api"
import { Effect } from "effect"
import { Ahead, everyServing, memoryApi } from "../support/apiOver.ts"
import { arrive, founder, key, project, refused, settled } from "../support/story.ts"
import { bytes, call, TestApi } from "../support/wire.ts"

const endpoints = Object.values(Api.groups).flatMap((group) =>
  Object.values(group.endpoints).map(({ method, path }) => ({ method: String(method), path: String(path) }))
)

/** Sends one request with two credentials: as two lines, which no client library sends, or as a `Headers` joins them. */
const bothSent = (first: string, second: string, path: string) =>
  Effect.flatMap(TestApi, ({ fetch, port }) =>
    fetch === undefined
      ? twoLines(port, ["host", "x", "Authorization", first, "authorization", second], path)
      : call("GET", path, { headers: { authorization: `${first}, ${second}` } })
  )

const twoLines = (port: number, headers: ReadonlyArray<string>, path: string) =>
  Effect.callback<{ readonly status: number; readonly text: string }>((resume) => {
    const outgoing = request({ host: "127.0.0.1", port, path, headers }, (incoming) => {
      let text = ""
      incoming.setEncoding("utf8").on("data", (chunk: string) => {
        text += chunk
      })
      incoming.on("end", () => resume(Effect.succeed({ status: incoming.statusCode ?? 0, text })))
    })
    outgoing.end()
  })

for (const serving of everyServing)
  layer(memoryApi({ serving }), { excludeTestServices: true })("every call", (it) => {
    it.effect("400: JSON that does not parse; of duplicate members the last counts", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        for (const text of ["{", "{'name':1}", '{"name":"a",}', "nonsense"])
          refused(yield* who.call("POST", "/v1/projects", { raw: text }), 400, "malformed_request")
        const made = yield* who.call("POST", "/v1/projects", { raw: '{"name":"first","name":"second"}' })
        assert.strictEqual(made.body.project.name, "second")
      })
    )

    it.effect("400: two Authorization headers, before any of them is read", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        for (const credential of [`Bearer ${who.token}`, "Bearer b"])
          for (const path of ["/v1/regions", "/v1/auth/providers"]) {
            const { status, text } = yield* bothSent(`Bearer ${who.token}`, credential, path)
            assert.deepStrictEqual([status, JSON.parse(text).code], [400, "malformed_request"])
          }
      })
    )

    it.effect("401: no credential, another scheme; the answer does not say why a credential is refused", () =>
      Effect.gen(function* () {
        const none = yield* call("GET", "/v1/regions")
        refused(none, 401, "unauthenticated")
        assert.strictEqual(none.headers["www-authenticate"], 'Bearer realm="narthex"')
        const { token } = yield* arrive()
        for (const authorization of ["Basic YTpi", "Bearer", "", token])
          refused(yield* call("GET", "/v1/regions", { headers: { authorization } }), 401, "unauthenticated")
        for (const sent of [{ headers: { cookie: `token=${token}` } }, {}])
          refused(yield* call("GET", `/v1/regions?access_token=${token}`, sent), 401, "unauthenticated")
        assert.strictEqual(
          (yield* call("GET", "/v1/regions", { headers: { authorization: `bEaReR ${token}` } })).status,
          200
        )
      })
    )

    it.effect("401: unknown, malformed, revoked, expired keys and forged tokens are one body", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        const revoked = yield* key(who)
        yield* revoked.call("DELETE", "/v1/api-keys/self")
        const expired = yield* key(who, { expires_in_days: 1 })
        yield* (yield* Ahead).by("25 hours")
        const bad = [
          revoked.token,
          expired.token,
          "nsk_nothing",
          `nsk_${"0".repeat(49)}`,
          "a.b.c",
          "x",
          `${who.token}x`,
          "x".repeat(5000)
        ]
        const answers = yield* Effect.forEach(bad, (token) =>
          call("GET", "/v1/regions", { token, headers: { "x-request-id": "same" } })
        )
        for (const answer of answers) {
          refused(answer, 401, "invalid_token")
          assert.strictEqual(answer.headers["www-authenticate"], 'Bearer realm="narthex", error="invalid_token"')
          assert.strictEqual(bytes(answer), bytes(answers[0] ?? answer))
        }
        refused(yield* who.call("GET", "/v1/regions"), 401, "sign_in_required")
      })
    )

    it.effect("404: no such route, a superfluous slash; a DELETE with a trailing slash changes nothing", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { endpoint, id, main, path } = yield* project(who)
        yield* who.call("POST", `${path}/ip-allow`, { body: { cidr: "10.0.0.0/8" } })
        for (const other of [
          "/",
          "/v1",
          "/v1/projects/",
          "/v1//projects",
          "//v1/projects",
          "/v2/projects",
          "/v1/orgs/"
        ])
          refused(yield* who.call("GET", other), 404, "not_found")
        const slashed = [
          `${path}/`,
          `${path}/ip-allow/`,
          `${path}/ip-allow//`,
          `${path}/ip-allow///`,
          `${path}/branches/${main}/`,
          `${path}/endpoints/${endpoint}/`,
          `/v1/orgs/${who.org_id}/`,
          `/v1/orgs/${who.org_id}/members/${who.user_id}/?confirm_self_lockout=true`,
          "/v1/api-keys/self/"
        ]
        for (const other of slashed) refused(yield* who.call("DELETE", other), 404, "not_found")
        assert.strictEqual((yield* who.call("GET", `${path}/ip-allow`)).body.rules.length, 1)
        assert.strictEqual((yield* who.call("GET", `/v1/projects/${id}`)).status, 200)
      })
    )

    it.effect("405: every path answers a wrong method with its methods in Allow", () =>
      Effect.gen(function* () {
        const methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
        for (const path of new Set(endpoints.map((it) => it.path))) {
          // `…/api-keys/self` is a key's path too.
          const has = endpoints.filter((it) => new RegExp(`^${it.path.replace(/:\w+/g, "[^/]+")}$`).test(path))
          const own = new Set(has.flatMap(({ method }) => (method === "GET" ? ["GET", "HEAD"] : [method])))
          for (const method of methods.filter((it) => !own.has(it))) {
            const answer = yield* call(method, path.replace(/:\w+/g, "x"))
            if (method !== "HEAD") refused(answer, 405, "method_not_allowed")
            assert.deepStrictEqual(
              [answer.status, answer.headers["allow"]],
              [405, [...own].toSorted().join(", ")],
              path
            )
          }
        }
      })
    )

    it.effect("413: a body over 64 KiB, with an idempotency key too; nothing is created", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        const text = JSON.stringify({ name: "x", padding: "x".repeat(65 * 1024) })
        for (const headers of [{}, { "idempotency-key": "large" }, { "transfer-encoding": "chunked" }])
          refused(yield* who.call("POST", "/v1/projects", { raw: text, headers }), 413, "body_too_large")
        assert.deepStrictEqual((yield* who.call("GET", "/v1/projects")).body.projects, [])
        const fits = JSON.stringify({ name: "x", padding: "x".repeat(60 * 1024) })
        assert.strictEqual((yield* who.call("POST", "/v1/projects", { raw: fits })).status, 201)
      })
    )

    it.effect("415: a non-empty body that is not JSON; a missing type counts as JSON, an empty body has none", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        for (const type of ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
          refused(
            yield* who.call("POST", "/v1/projects", { raw: '{"name":"x"}', headers: { "content-type": type } }),
            415,
            "unsupported_media_type"
          )
        for (const headers of [{}, { "content-type": "application/json; charset=utf-8" }])
          assert.strictEqual((yield* who.call("POST", "/v1/projects", { raw: '{"name":"x"}', headers })).status, 201)
        const { path } = yield* project(who)
        const type = { "content-type": "text/plain" }
        // In a `Request` of the process no header has the length.
        for (const empty of [
          { headers: { ...type, "content-length": "0" } },
          { headers: type },
          { headers: type, raw: "" }
        ])
          assert.strictEqual((yield* who.call("POST", `${path}/branches`, empty)).status, 201)
      })
    )

    it.effect("422: JSON of another type than an object", () =>
      Effect.gen(function* () {
        const who = yield* arrive()
        for (const text of ["[]", '"text"', "1", "true", "null"])
          refused(yield* who.call("POST", "/v1/projects", { raw: text }), 422, "invalid_request")
      })
    )

    it.effect("bodies of calls without input are ignored, and so is their type", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const made = yield* settled(
          who,
          yield* who.call("POST", `${place.path}/branches`, { body: { endpoint: true } })
        )
        const id: string = made.body.branch.id
        const endpoint: string = made.body.endpoint.id
        const invited = yield* who.call("POST", `/v1/orgs/${who.org_id}/invitations`, {
          body: { email: "x@example.com" }
        })
        const junk = { raw: "{not json", headers: { "content-type": "text/plain" } }
        for (const path of [
          `${place.path}/endpoints/${endpoint}/start`,
          `${place.path}/endpoints/${endpoint}/suspend`,
          `${place.path}/branches/${id}/reset`,
          `${place.path}/branches/${id}/set-default`,
          `/v1/orgs/${who.org_id}/invitations/${invited.body.invitation.id}/resend`,
          "/v1/auth/refresh"
        ]) {
          const answer = yield* who.call("POST", path, junk)
          assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`)
          if (answer.body.operations !== undefined) yield* settled(who, answer)
        }
        assert.strictEqual((yield* who.call("POST", "/v1/auth/logout", junk)).status, 204)
      })
    )

    it.effect("a valid x-request-id is echoed, in the body too; any other is replaced", () =>
      Effect.gen(function* () {
        const { token } = yield* arrive()
        for (const path of ["/v1/regions", "/v1/events", "/nowhere", "/livez"]) {
          const sane = yield* call("GET", path, { token, headers: { "x-request-id": "req-1.a:b@c+d/e" } })
          assert.strictEqual(sane.headers["x-request-id"], "req-1.a:b@c+d/e", path)
          for (const id of ["has space", "x".repeat(129), "<script>"]) {
            const made = (yield* call("GET", path, { token, headers: { "x-request-id": id } })).headers["x-request-id"]
            assert.match(made ?? "", /^[0-9a-f-]{36}$/, path)
          }
        }
      })
    )

    it.effect("HEAD answers on every GET route like GET, without a body", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { endpoint, id, main } = yield* project(who)
        const made = yield* key(who)
        const { body } = yield* who.call("GET", `/v1/projects/${id}/operations`)
        const hook = { body: { url: "https://hooks.example.com/" } }
        const hooked = yield* who.call("POST", `/v1/orgs/${who.org_id}/webhooks`, hook)
        const ids: Record<string, string> = {
          project_id: id,
          branch_id: main,
          endpoint_id: endpoint,
          org_id: who.org_id,
          user_id: who.user_id,
          operation_id: body.operations[0].id,
          api_key_id: made.id,
          webhook_id: hooked.body.webhook.id
        }
        for (const { path } of endpoints.filter(
          ({ method, path: it }) => method === "GET" && !it.includes("/proxy/")
        )) {
          const query = path.endsWith("/check") ? "?address=192.0.2.1" : ""
          const url = path.replace(/:(\w+)/g, (_, name: string) => ids[name] ?? "") + query
          const get = yield* who.call("GET", url)
          const head = yield* who.call("HEAD", url)
          assert.deepStrictEqual([get.status, head.status, head.text], [200, 200, ""], path)
        }
        for (const path of ["/openapi.json", "/docs"])
          assert.deepStrictEqual([(yield* call("GET", path)).status, (yield* call("HEAD", path)).status], [200, 200])
      })
    )

    it.effect("answers to the command line carry its newest version", () =>
      Effect.gen(function* () {
        const mine = yield* call("GET", "/livez", { headers: { "user-agent": "narthex-cli/0.0.9" } })
        assert.strictEqual(mine.headers["narthex-cli-latest"], "0.1.0")
        assert.isUndefined((yield* call("GET", "/livez")).headers["narthex-cli-latest"])
      })
    )

    it.effect("406: event streams, when Accept excludes them", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { path } = yield* project(who)
        for (const url of ["/v1/events", `${path}/events`]) {
          for (const accept of ["application/json", "text/html", "text/event-stream;q=0"])
            refused(yield* who.call("GET", url, { headers: { accept } }), 406, "not_acceptable")
          for (const accept of ["text/event-stream", "text/*", "*/*", "application/json, */*;q=0.1"])
            assert.strictEqual((yield* who.call("GET", url, { headers: { accept } })).status, 200)
          const stream = yield* who.call("GET", url)
          assert.strictEqual(stream.headers["cache-control"], "no-store, no-transform")
          assert.strictEqual(stream.headers["x-accel-buffering"], "no")
        }
      })
    )
  })
