/** The middleware: cross-site forms, headers, missing pages, an unreachable API. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { Browser } from "./support/Browser.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const configured = layerTestConsole({ docs_url: "https://api.narthex.test/docs" })

layer(configured, { excludeTestServices: true })("every request", (it) => {
  const sources = [
    { name: "the same origin", headers: { "sec-fetch-site": "same-origin" }, refused: false },
    { name: "the address bar", headers: { "sec-fetch-site": "none" }, refused: false },
    { name: "a sibling host", headers: { "sec-fetch-site": "same-site" }, refused: true },
    { name: "another site", headers: { "sec-fetch-site": "cross-site" }, refused: true }
  ]
  for (const { headers, name, refused } of sources)
    it.effect(`a POST from ${name} is ${refused ? "refused" : "accepted"}`, () =>
      Effect.gen(function* () {
        const { browser, client, home, org } = yield* signedInAs("csrf@example.com")
        const count = go(async () => (await client.projects.list({})).projects.length)
        const before = yield* count
        const answer = yield* go(() => browser.post(`${home}/projects`, { name: name, region: "eu-north" }, headers))
        assert.strictEqual(answer.status, refused ? 403 : 303)
        assert.strictEqual((yield* count) - before, refused ? 0 : 1)
        const switched = yield* go(() =>
          browser.send("/api/auth/switch-org", {
            method: "POST",
            body: JSON.stringify({ org_id: org }),
            headers: { ...headers, "content-type": "application/json" }
          })
        )
        assert.strictEqual(switched.status, refused ? 403 : 200)
      })
    )

  it.effect("without Sec-Fetch-Site a POST is checked by Origin, and accepted without either header", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("origin@example.com")
      const post = (headers: Readonly<Record<string, string>>) =>
        go(() => fetch(`${browser.origin}/sign-out`, { method: "POST", headers, redirect: "manual" }))
      assert.strictEqual((yield* post({ origin: "https://evil.example" })).status, 403)
      assert.strictEqual((yield* post({ origin: "null" })).status, 403)
      assert.strictEqual((yield* post({ origin: browser.origin })).status, 303)
      assert.strictEqual((yield* post({})).status, 303)
    })
  )

  it.effect("/docs leads to the documentation of the API, which the configuration names", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("docs@example.com")
      const { headers, status } = yield* go(() => browser.send("/docs"))
      assert.deepStrictEqual([status, headers.get("location")], [303, "https://api.narthex.test/docs"])
    })
  )

  it.effect("every page has the security headers and is not cached", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("headers@example.com")
      const stranger = new Browser(yield* consoleUrl)
      const answers = yield* go(() =>
        Promise.all([
          stranger.send("/"),
          ...["/", "/sign-in", `${home}/projects`, `${home}/api-keys`, "/nowhere"].map((path) => browser.send(path))
        ])
      )
      for (const { headers } of answers) {
        assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/)
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.isNull(headers.get("strict-transport-security"), "the console is on plain http")
      }
    })
  )

  it.effect("no page has inline scripts or styles", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home, person } = yield* signedInAs("inline@example.com")
      const project = yield* go(() => api.project(person, "inline"))
      const stranger = new Browser(yield* consoleUrl)
      const answers = yield* go(() =>
        Promise.all([
          stranger.send("/"),
          ...["/sign-in", `${home}/projects`, `${home}/projects/${project.id}`, `${home}/api-keys`].map((path) =>
            browser.send(path)
          )
        ])
      )
      for (const { text } of answers) {
        assert.notMatch(text, /<style|\sstyle=|\son[a-z]+=|javascript:/i)
        for (const [script] of text.matchAll(/<script[^>]*>/g)) assert.match(script, / src="\/assets\//)
      }
    })
  )

  it.effect("assets are cached forever at a path with a digest of their content", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("assets@example.com")
      const { text } = yield* go(() => browser.send("/sign-in"))
      const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path)
      assert.strictEqual(paths.length, 4)
      for (const path of paths) {
        const asset = yield* go(() => browser.send(path))
        assert.strictEqual(asset.status, 200)
        assert.match(asset.headers.get("cache-control") ?? "", /immutable/)
      }
      assert.strictEqual((yield* go(() => browser.send("/assets/000000000000/style.css"))).status, 404)
      const style = paths.find((path) => path.endsWith(".css")) ?? ""
      const encodings = { "br, gzip": "br", "gzip;q=0.5": "gzip", "br;q=0": null, identity: null }
      for (const [accepted, encoding] of Object.entries(encodings)) {
        const answer = yield* go(() => browser.send(style, { headers: { "accept-encoding": accepted } }))
        assert.strictEqual(answer.headers.get("content-encoding"), encoding)
        assert.include(answer.text, "@font-face")
      }
    })
  )

  it.effect("an unknown path is a page for people and a problem for programs", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("missing@example.com")
      const page = yield* go(() => browser.send("/nowhere"))
      assert.strictEqual(page.status, 404)
      assert.match(page.text, /<h1>Not found<\/h1>/)
      const problem = yield* go(() => browser.send("/api/nowhere"))
      assert.strictEqual(problem.status, 404)
      assert.match(problem.headers.get("content-type") ?? "", /^application\/problem\+json/)
    })
  )

  it.effect("a body of another media type or over 64 KiB is refused", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("body@example.com")
      const post = (body: string, type: string) =>
        go(() => browser.send(`${home}/projects`, { method: "POST", body, headers: { "content-type": type } }))
      assert.strictEqual((yield* post("name=x", "text/plain")).status, 415)
      const large = `name=${"x".repeat(70_000)}`
      assert.strictEqual((yield* post(large, "application/x-www-form-urlencoded")).status, 413)
    })
  )
})

layer(layerTestConsole({ api_url: "http://127.0.0.1:1" }), { excludeTestServices: true })(
  "an unreachable API",
  (it) => {
    it.effect("with an unreachable API pages and programs get 503, and the session is kept", () =>
      Effect.gen(function* () {
        const { browser, home } = yield* signedInAs("alone@example.com")
        const page = yield* go(() => browser.send(`${home}/projects`))
        assert.strictEqual(page.status, 503)
        assert.match(page.text, /The API is away/)
        assert.strictEqual(page.headers.get("retry-after"), "10")
        assert.strictEqual((yield* go(() => browser.send("/api/events"))).status, 503)
        assert.isTrue(browser.cookies.has(browser.session))
      })
    )

    it.effect("sign-out clears the cookie even when the API is unreachable", () =>
      Effect.gen(function* () {
        const { browser } = yield* signedInAs("away@example.com")
        assert.strictEqual((yield* go(() => browser.post("/sign-out", {}))).headers.get("location"), "/")
        assert.isFalse(browser.cookies.has(browser.session))
      })
    )
  }
)
