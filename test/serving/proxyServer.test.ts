/** `narthex-proxy` as a process, between a real driver, the API of another process and a real Postgres. */
import { createServer } from "node:http"
import { assert, layer } from "@effect/vitest"
import { Context, Effect, Layer } from "effect"
import postgres from "postgres"
import { eventually, within } from "../harness/eventually.ts"
import { metricsWithoutEntry } from "../support/metricsWithoutEntry.ts"
import { ask } from "./support/ask.ts"
import { listening } from "./support/listening.ts"
import { Program, run } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"
import { knock, StaticPlatform } from "./support/StaticPlatform.ts"

class Platform extends Context.Service<Platform, StaticPlatform["Service"] & { readonly proxy: Program }>()(
  "@narthex/test/serving/Platform"
) {
  static readonly layer = Layer.effect(
    Platform,
    Effect.gen(function* () {
      const platform = yield* StaticPlatform
      return { ...platform, proxy: yield* Program.start("proxy", [], platform.settings) }
    })
  ).pipe(Layer.provideMerge(StaticPlatform.layer))
}

const state = Effect.gen(function* () {
  const { call, endpoint, project } = yield* Platform
  return String((yield* call("GET", `/v1/projects/${project}/endpoints/${endpoint}`)).body.endpoint.current_state)
})

const answer = Effect.gen(function* () {
  const { proxy, through } = yield* Platform
  return yield* knock(through(proxy.address("proxy")))
})

layer(Platform.layer, { excludeTestServices: true })("narthex-proxy", (it) => {
  it.effect("narthex-proxy refuses an address outside the allowlist with 28000, and wakes no compute", () =>
    Effect.gen(function* () {
      const { call, endpoint, project } = yield* Platform
      const path = `/v1/projects/${project}`
      yield* call("POST", `${path}/endpoints/${endpoint}/suspend`)
      yield* eventually(
        "the endpoint to be suspended",
        Effect.map(state, (it) => it === "idle")
      )
      const { status } = yield* call("POST", `${path}/ip-allow`, { cidr: "203.0.113.0/24" })
      assert.strictEqual(status, 201)
      const operations = Effect.map(call("GET", `${path}/operations`), ({ body }) => JSON.stringify(body))
      const before = yield* operations
      assert.strictEqual(yield* answer, "28000")
      assert.strictEqual(yield* operations, before)
      assert.strictEqual(yield* state, "idle")
    })
  )

  it.effect("a client that narthex-proxy has refused is listed with its address, its endpoint and the reason", () =>
    Effect.gen(function* () {
      const { call, endpoint, project } = yield* Platform
      yield* call("POST", `/v1/projects/${project}/ip-allow`, { cidr: "203.0.113.0/24" })
      assert.strictEqual(yield* answer, "28000")
      const listed = Effect.map(call("GET", `/v1/projects/${project}/ip-allow/refusals`), ({ body }) => body.refusals)
      yield* eventually(
        "the report of the proxy",
        Effect.map(listed, (refusals) => Array.isArray(refusals) && refusals.length > 0),
        { every: 100 }
      )
      const [refusal, ...more] = yield* listed
      assert.deepStrictEqual(more, [])
      const { endpoint_id, reason, role } = refusal
      assert.deepStrictEqual(
        { endpoint_id, reason, role },
        { endpoint_id: endpoint, reason: "address_not_listed", role: null }
      )
      assert.match(String(refusal.address), /^(127\.0\.0\.1|::1)$/)
      assert.isAtLeast(refusal.count, 1)
      assert.isAtMost(Date.parse(refusal.first_at), Date.parse(refusal.last_at))
    })
  )

  it.effect(
    "narthex-proxy relays the answer of an operator's own server that is started, and starts it for no client",
    () =>
      Effect.gen(function* () {
        const { call, endpoint, project } = yield* Platform
        const added = yield* call("POST", `/v1/projects/${project}/ip-allow`, { cidr: "127.0.0.1/32" })
        assert.strictEqual(added.status, 201, JSON.stringify(added.body))
        yield* eventually(
          "the proxy to let the address through",
          Effect.map(answer, (it) => it === "57P03"),
          { every: 50 }
        )
        assert.strictEqual(yield* state, "idle")
        yield* call("POST", `/v1/projects/${project}/endpoints/${endpoint}/start`)
        yield* eventually(
          "the endpoint to serve",
          Effect.map(answer, (it) => it === "in"),
          { every: 50 }
        )
        assert.strictEqual(yield* state, "active")
      })
  )

  it.effect("narthex-proxy prints its version without any setting, and refuses an argument that it does not know", () =>
    Effect.gen(function* () {
      const said = yield* run("proxy", ["--version"], {})
      assert.deepStrictEqual([said.code, said.stdout], [0, "narthex-proxy v0.1.0\n"])
      const { code, stderr } = yield* run("proxy", ["--verson"], {})
      assert.strictEqual(code, 2)
      assert.match(stderr, /^error: narthex-proxy has no flag --verson\./)
    })
  )

  it.effect("narthex-proxy exits with 1 and a sentence when the control plane refuses its token", () =>
    Effect.gen(function* () {
      const { url } = yield* Platform
      const { environment } = yield* Serving
      const wrong = { ...environment, NARTHEX_API_URL: url, NARTHEX_PROXY_TOKEN: "another-token" }
      const { code, stderr, stdout } = yield* run("proxy", [], wrong)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: The control plane at \S+ refuses NARTHEX_PROXY_TOKEN\./m)
      assert.notInclude(stderr, "another-token")
    })
  )

  it.effect("narthex-proxy exits with 1 and a sentence without a token", () =>
    Effect.gen(function* () {
      const { NARTHEX_PROXY_TOKEN: _, ...environment } = (yield* Serving).environment
      const { code, stderr, stdout } = yield* run("proxy", [], environment)
      assert.deepStrictEqual([code, stdout], [1, ""])
      assert.match(stderr, /^error: NARTHEX_PROXY_TOKEN is not set\.[^\n]*\n$/)
    })
  )

  it.effect("narthex-proxy listens and announces itself only after the control plane has answered", () =>
    Effect.gen(function* () {
      const { environment } = yield* Serving
      let asked = 0
      let answers = false
      const controlPlane = yield* listening(
        createServer((request, response) => {
          request.resume()
          asked += 1
          response.writeHead(answers ? 200 : 503, { "content-type": "application/json" }).end('{"allowlists":[]}')
        })
      )
      const launched = yield* Program.launch("proxy", [], { ...environment, NARTHEX_API_URL: controlPlane })
      yield* eventually(
        "the proxy to ask twice",
        Effect.sync(() => asked >= 2)
      )
      assert.strictEqual(launched.output(), "")
      const [admin, ...others] = launched.listensOn()
      assert.deepStrictEqual(others, [])
      const before = yield* ask(`http://127.0.0.1:${admin}`, "GET", "/ready")
      assert.deepStrictEqual(
        [before.status, before.body],
        [503, { status: "not_ready", reason: "The control plane has not answered yet." }]
      )
      assert.include(launched.log(), "does not answer: status 503")
      answers = true
      const proxy = yield* Effect.promise(launched.up)
      assert.deepStrictEqual(Object.keys(proxy.ready), ["ready", "pid", "proxy", "admin"])
      assert.sameMembers([...proxy.listensOn], [Number(proxy.address("proxy").split(":").at(-1)), Number(admin)])
      assert.strictEqual((yield* ask(proxy.address("admin"), "GET", "/ready")).status, 200)
    })
  )

  it.effect("narthex-proxy serves liveness, readiness and the metrics of its connections on the admin port", () =>
    Effect.gen(function* () {
      const { proxy } = yield* Platform
      const admin = proxy.address("admin")
      assert.strictEqual((yield* ask(admin, "GET", "/health")).status, 200)
      assert.deepStrictEqual((yield* ask(admin, "GET", "/ready")).body, { status: "ready" })
      const metrics = yield* Effect.promise(() => fetch(`${admin}/metrics`).then((response) => response.text()))
      assert.include(metrics, "narthex_proxy_connections")
      assert.deepStrictEqual(metricsWithoutEntry(metrics), [])
    })
  )

  it.effect("narthex-proxy logs and measures no secret: neither its token nor what clients present", () =>
    Effect.gen(function* () {
      const { endpoint, proxy } = yield* Platform
      const { environment } = yield* Serving
      const [password, unknown] = ["a-password-of-a-client", "a-password-for-no-endpoint"]
      const presented = (at: string, secret: string) => {
        const address = `${proxy.address("proxy")}/postgres?options=endpoint%3D${at}`
        const sql = postgres(`postgresql://role_of_nobody:${secret}@${address}`, { max: 1, connect_timeout: 40 })
        return Effect.promise(() =>
          sql`select 1`.then(
            () => "in",
            ({ code }) => String(code)
          )
        ).pipe(Effect.ensuring(Effect.promise(() => sql.end({ timeout: 5 }))))
      }
      assert.notStrictEqual(yield* presented(endpoint, password), "in")
      assert.notStrictEqual(yield* presented("ep-of-nothing", unknown), "in")
      const metrics = yield* Effect.promise(() =>
        fetch(`${proxy.address("admin")}/metrics`).then((response) => response.text())
      )
      for (const text of [proxy.log, metrics])
        for (const secret of [password, unknown, environment.NARTHEX_PROXY_TOKEN]) assert.notInclude(text, secret)
      assert.isNotEmpty(proxy.log, "it logs")
    })
  )

  it.effect("narthex-proxy ends an idle session on SIGTERM and exits with 0", () =>
    Effect.gen(function* () {
      const { proxy, through } = yield* Platform
      const closed = Promise.withResolvers<void>()
      const sql = postgres(through(proxy.address("proxy")), { max: 1, onclose: () => closed.resolve() })
      yield* Effect.promise(() => sql`select 1`)
      assert.strictEqual(yield* Effect.promise(() => proxy.stop()), 0)
      yield* Effect.promise(() => within("the session to end", closed.promise))
      yield* Effect.promise(() => sql.end({ timeout: 1 }))
    })
  )
})
