/**
 * The console over the real API, in both ways in which it calls it: over a socket, and within the process of the API.
 * People have the same rights and pages in both, and a right that ended ends with the next page.
 */
import { createServer } from "node:http"
import { assert, layer } from "@effect/vitest"
import { ConsoleListener, layerConsoleServer } from "@narthex/console"
import { Context, Effect, Fiber, Layer, Redacted, References } from "effect"
import { Browser, fieldIn } from "../../packages/console/test/support/Browser.ts"
import { cookieKey } from "../../packages/console/test/support/Console.ts"
import { sealed } from "../../packages/console/test/support/signedIn.ts"
import { defaultRateLimits } from "../../packages/http/src/index.ts"
import { consoleToken, memoryApi } from "../../packages/http/test/support/apiOver.ts"
import { arrive, type Caller, founder, joined } from "../../packages/http/test/support/story.ts"
import { call, TestApi } from "../../packages/http/test/support/wire.ts"
import { until, within } from "../harness/eventually.ts"

/** The requests that the API got over its socket from the console. */
class OverSocket extends Context.Service<OverSocket, { count: number }>()("test/OverSocket") {}

type Way = "over a socket" | "within the process"
const ways: ReadonlyArray<Way> = ["over a socket", "within the process"]

const consoleOf = (way: Way) =>
  Layer.unwrap(
    Effect.map(TestApi, ({ direct, port }) =>
      layerConsoleServer({
        api_url: `http://127.0.0.1:${port}`,
        api_client: way === "within the process" ? direct : undefined,
        console_url: null,
        console_token: Redacted.make(consoleToken),
        cookie_key: cookieKey,
        providers: [],
        trusted_hops: 1
      })
    )
  ).pipe(
    Layer.provideMerge(ConsoleListener.layer({ host: "127.0.0.1", port: 0 })),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal"))
  )

const everything = (way: Way) => {
  const seen = { count: 0 }
  const counting = () => {
    const server = createServer({ keepAliveTimeout: 3_600_000 })
    server.on("request", ({ headers }) => {
      if (headers["narthex-console"] !== undefined) seen.count += 1
    })
    return server
  }
  const limits = { ...defaultRateLimits, creation_per_minute: 3 }
  return consoleOf(way).pipe(
    Layer.provideMerge(Layer.succeed(OverSocket, seen)),
    Layer.provideMerge(memoryApi({ createServer: counting, limits, idle: true, stands: true }))
  )
}

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** A browser that is signed in with the token of a caller. */
const browserOf = Effect.fnUntraced(function* ({ org_id, token }: Caller) {
  const now = Date.now()
  const browser = new Browser((yield* ConsoleListener).url)
  const cookie = {
    id: token.slice(-12),
    access_token: token,
    org_id,
    issued_at: now,
    expires_at: now + 10 * 60_000,
    refresh_until: now + 3_600_000
  }
  browser.cookies.set(browser.session, yield* sealed(cookie))
  return { browser, home: `/orgs/${org_id}` }
})

for (const way of ways)
  layer(everything(way), { excludeTestServices: true })(`the console ${way}`, (it) => {
    it.effect(`pages and forms work, and the way is the chosen one (${way})`, () =>
      Effect.gen(function* () {
        const { browser, home } = yield* browserOf(yield* founder())
        const seen = yield* OverSocket
        const before = seen.count
        const form = yield* go(() => browser.open(`${home}/projects/new`))
        const fields = { name: "storefront", form_token: fieldIn(form, "form_token") }
        const made = yield* go(() => browser.post(`${home}/projects`, fields))
        assert.strictEqual(made.status, 303)
        const again = yield* go(() => browser.post(`${home}/projects`, fields))
        assert.strictEqual(again.headers.get("location"), made.headers.get("location"), "one form, one project")
        const page = yield* go(() => browser.open(made.headers.get("location") ?? ""))
        assert.strictEqual(page.status, 200)
        assert.include(page.text, "storefront")
        assert.strictEqual(seen.count > before, way === "over a socket")
      })
    )

    it.effect(`the address of the browser is the one that its proxy reports (${way})`, () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { browser, home } = yield* browserOf(who)
        const made = yield* who.call("POST", "/v1/projects", { body: { name: "addressed" } })
        const headers = { "x-forwarded-for": "203.0.113.77" }
        const page = yield* go(() => browser.send(`${home}/projects/${made.body.project.id}/ip-allow`, { headers }))
        assert.include(page.text, "203.0.113.77")
      })
    )

    it.effect(`a project of another organization is not found (${way})`, () =>
      Effect.gen(function* () {
        const other = yield* arrive()
        const made = yield* other.call("POST", "/v1/projects", { body: { name: "foreign" } })
        const { browser, home } = yield* browserOf(yield* founder())
        const page = yield* go(() => browser.open(`${home}/projects/${made.body.project.id}`))
        assert.strictEqual(page.status, 404)
        assert.notInclude(page.text, "foreign")
      })
    )

    it.effect(`a refusal of the API keeps the draft, and a limit of the API holds (${way})`, () =>
      Effect.gen(function* () {
        const { browser, home } = yield* browserOf(yield* founder())
        const refused = yield* go(() => browser.post(`${home}/projects`, { name: "x".repeat(200) }))
        assert.strictEqual(refused.status, 422)
        assert.include(refused.text, "x".repeat(200))
        for (let n = 0; n < 3; n++) {
          const made = yield* go(() => browser.post(`${home}/projects`, { name: `project ${n}` }))
          assert.strictEqual(made.status, 303)
        }
        assert.strictEqual((yield* go(() => browser.post(`${home}/projects`, { name: "too many" }))).status, 429)
      })
    )

    it.effect(`a demotion acts on the next page (${way})`, () =>
      Effect.gen(function* () {
        const owner = yield* founder()
        const member = yield* joined(owner, "member")
        const { browser, home } = yield* browserOf(member)
        const offers = Effect.map(
          go(() => browser.open(`${home}/projects`)),
          ({ text }) => text.includes(`${home}/projects/new`)
        )
        assert.isTrue(yield* offers)
        const path = `/v1/orgs/${owner.org_id}/members/${member.user_id}`
        assert.strictEqual((yield* owner.call("PATCH", path, { body: { role: "viewer" } })).status, 200)
        assert.isFalse(yield* offers)
        assert.strictEqual((yield* go(() => browser.post(`${home}/projects`, { name: "late" }))).status, 403)
      })
    )

    it.effect(`a removed member sees nothing of the organization on the next page (${way})`, () =>
      Effect.gen(function* () {
        const owner = yield* founder()
        const member = yield* joined(owner, "member")
        yield* owner.call("POST", "/v1/projects", { body: { name: "confidential" } })
        const { browser, home } = yield* browserOf(member)
        assert.include((yield* go(() => browser.send(`${home}/projects`))).text, "confidential")
        yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}/members/${member.user_id}`)
        const page = yield* go(() => browser.send(`${home}/projects`))
        assert.notStrictEqual(page.status, 200)
        assert.notInclude(page.text, "confidential")
      })
    )

    it.effect(`a session that ended elsewhere is asked to sign in on the next page (${way})`, () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { browser, home } = yield* browserOf(who)
        assert.strictEqual((yield* go(() => browser.send(`${home}/projects`))).status, 200)
        assert.strictEqual((yield* call("POST", "/v1/auth/logout", { token: who.token })).status, 204)
        const page = yield* go(() => browser.send(`${home}/projects`))
        assert.strictEqual(page.status, 303)
        assert.match(page.headers.get("location") ?? "", /^\/sign-in/)
      })
    )

    it.effect(`live activity passes what happens, and ends with the session (${way})`, () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { browser } = yield* browserOf(who)
        const seen = yield* OverSocket
        const before = seen.count
        const stream = yield* go(() =>
          fetch(`${browser.origin}/api/events`, { headers: { cookie: browser.cookieHeader } })
        )
        assert.strictEqual(stream.status, 200)
        assert.strictEqual(seen.count > before, way === "over a socket")
        let text = ""
        const read = go(async () => {
          for await (const bytes of stream.body ?? []) text += new TextDecoder().decode(bytes)
        })
        const reading = yield* Effect.forkChild(read)
        yield* go(() => until("the stream to begin", () => text.includes(": ok")))
        const made = yield* who.call("POST", "/v1/projects", { body: { name: "lively" } })
        yield* go(() => until("the project's event", () => text.includes(made.body.project.id)))
        assert.match(text, /^id: [0-9A-Z]{26}\nevent: operation\.updated\.v1\ndata: \{/m)
        assert.strictEqual((yield* call("POST", "/v1/auth/logout", { token: who.token })).status, 204)
        yield* go(() => within("the stream to end", Effect.runPromise(Fiber.join(reading))))
      })
    )

    it.effect(`a stream of another organization's project is not found (${way})`, () =>
      Effect.gen(function* () {
        const made = yield* (yield* arrive()).call("POST", "/v1/projects", { body: { name: "foreign" } })
        const { browser } = yield* browserOf(yield* founder())
        const refused = yield* go(() => browser.send(`/api/projects/${made.body.project.id}/events`))
        assert.strictEqual(refused.status, 404)
        assert.include(refused.text, '"code":"not_found"')
      })
    )
  })
