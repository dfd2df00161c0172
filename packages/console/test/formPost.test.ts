/** Sign-in at a provider of another site that posts its answer (docs/design/console.md W6, W7). */
import { assert, layer } from "@effect/vitest"
import { Duration, Effect, Layer, Tracer } from "effect"
import { newContext, sharedBrowser } from "../../../test/harness/browser.ts"
import { Browser } from "./support/Browser.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"

const elsewhere = { host: "127.0.0.2", response_mode: "form_post" } as const
const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** A form that another site posts: browsers send no cookie that is SameSite=Lax with it. */
const foreign = { cookie: "", origin: "http://127.0.0.2", "sec-fetch-site": "cross-site" }

const spans: Array<Tracer.NativeSpan> = []
const recording = Layer.succeed(
  Tracer.Tracer,
  Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
)

const world = layerTestConsole({}, {}, Duration.seconds(10), elsewhere).pipe(Layer.provide(recording))

layer(world, { excludeTestServices: true })("form_post", (it) => {
  it.effect(
    "sign-in at a provider that posts its answer leads to the projects, in a browser",
    () =>
      Effect.gen(function* () {
        const origin = yield* consoleUrl
        const shared = yield* go(sharedBrowser)
        const context = yield* go(() => newContext(shared))
        const page = yield* go(() => context.newPage())
        const posts: Array<string> = []
        page.on("request", (request) => {
          if (request.method() === "POST" && request.url().startsWith(origin)) posts.push(request.url())
        })
        yield* go(() => page.goto(`${origin}/sign-in/dev-one`))
        yield* go(() => page.fill('input[name="email"]', "ada@example.com"))
        yield* go(() => page.keyboard.press("Enter"))
        yield* go(() => page.waitForURL(/\/projects$/))
        assert.deepStrictEqual(posts, [`${origin}/sign-in/callback`])
        yield* go(() => shared.close())
      }),
    { tags: ["chromium"] }
  )

  it.effect(
    "a posted answer becomes a GET with the members of the answer, and is compared with the attempt there",
    () =>
      Effect.gen(function* () {
        const browser = new Browser(yield* consoleUrl)
        const begun = yield* go(() => browser.send("/sign-in/dev-one"))
        const { searchParams } = new URL(begun.headers.get("location") ?? "")
        assert.strictEqual(searchParams.get("response_mode"), "form_post")
        const state = searchParams.get("state") ?? ""
        const answer = { state, code: "forged", user: '{"email":"ada@example.com"}' }
        const turned = yield* go(() => browser.post("/sign-in/callback", answer, foreign))
        assert.deepStrictEqual(
          [turned.status, turned.headers.get("location")],
          [303, `/sign-in/callback?code=forged&state=${state}`]
        )
        assert.lengthOf(turned.headers.getSetCookie(), 0)
        const other = yield* go(() => new Browser(browser.origin).open(turned.headers.get("location") ?? ""))
        assert.match(other.text, /This sign-in has expired/, "another browser has no attempt")
        const own = yield* go(() => browser.open(turned.headers.get("location") ?? ""))
        assert.deepStrictEqual([own.status, browser.cookies.has(browser.session)], [400, false])
      })
  )

  it.effect("traces have neither code nor state of a callback", () =>
    Effect.gen(function* () {
      const browser = new Browser(yield* consoleUrl)
      const callback = "/sign-in/callback?code=secret-code&state=secret-state&iss=kept"
      yield* go(() => browser.send(callback))
      const traced = spans.map(({ attributes }) => JSON.stringify([...attributes])).join("\n")
      assert.include(traced, "kept")
      assert.notMatch(traced, /secret-(?:code|state)/)
    })
  )

  it.effect("no other path takes a form of another site", () =>
    Effect.gen(function* () {
      const browser = new Browser(yield* consoleUrl)
      for (const path of ["/sign-out", "/sign-in/callback?next=1", "/sign-in/callback/"]) {
        const { status } = yield* go(() => browser.post(path, {}, foreign))
        assert.strictEqual(status, 403, path)
      }
    })
  )

  it.effect("a posted answer that is no form is refused", () =>
    Effect.gen(function* () {
      const browser = new Browser(yield* consoleUrl)
      const headers = { ...foreign, "content-type": "text/plain" }
      const { status } = yield* go(() => browser.send("/sign-in/callback", { method: "POST", body: "code=x", headers }))
      assert.strictEqual(status, 415)
    })
  )
})
