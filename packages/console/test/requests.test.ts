/** What holds for every request: cross-site forms, headers, missing pages, an API that is away. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

layer(layerTestConsole(), { excludeTestServices: true })("every request", (it) => {
  const sources = [
    { name: "a form of our own", headers: { "sec-fetch-site": "same-origin" }, refused: false },
    { name: "an address that was typed", headers: { "sec-fetch-site": "none" }, refused: false },
    { name: "a sibling host", headers: { "sec-fetch-site": "same-site" }, refused: true },
    { name: "another site", headers: { "sec-fetch-site": "cross-site" }, refused: true }
  ]
  for (const { headers, name, refused } of sources)
    it.effect(`${refused ? "refuses" : "takes"} a POST from ${name}`, () =>
      Effect.gen(function* () {
        const { state } = yield* ApiDouble
        const { browser, home, org } = yield* signedInAs("csrf@example.com")
        const before = state.projects.size
        const answer = yield* go(() => browser.post(`${home}/projects`, { name: name, region: "eu-north" }, headers))
        assert.strictEqual(answer.status, refused ? 403 : 303)
        assert.strictEqual(state.projects.size - before, refused ? 0 : 1)
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

  it.effect("a browser without Sec-Fetch-Site is judged by Origin, and no browser is let through", () =>
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

  it.effect("every page has the headers, and signed-in ones are not kept", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("headers@example.com")
      for (const path of ["/", "/sign-in", `${home}/projects`, `${home}/api-keys`, "/nowhere"]) {
        const { headers } = yield* go(() => browser.send(path))
        assert.match(headers.get("content-security-policy") ?? "", /default-src 'none'.*frame-ancestors 'none'/)
        assert.strictEqual(headers.get("x-content-type-options"), "nosniff")
        assert.strictEqual(headers.get("cache-control"), "no-store")
        assert.isNull(headers.get("strict-transport-security"), "this one is plain http")
      }
    })
  )

  it.effect("no page has inline script or style", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, home, org } = yield* signedInAs("inline@example.com")
      const project = state.addProject(org, "inline")
      for (const path of ["/", "/sign-in", `${home}/projects`, `${home}/projects/${project.id}`, `${home}/api-keys`]) {
        const { text } = yield* go(() => browser.send(path))
        assert.notMatch(text, /<style|\sstyle=|\son[a-z]+=|javascript:/i)
        for (const [script] of text.matchAll(/<script[^>]*>/g)) assert.match(script, / src="\/assets\//)
      }
    })
  )

  it.effect("assets may be kept for good, because their address changes with them", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("assets@example.com")
      const { text } = yield* go(() => browser.send("/"))
      const paths = [...text.matchAll(/(?:href|src)="(\/assets\/[^"]+)"/g)].map(([, path = ""]) => path)
      assert.strictEqual(paths.length, 3)
      for (const path of paths) {
        const asset = yield* go(() => browser.send(path))
        assert.strictEqual(asset.status, 200)
        assert.match(asset.headers.get("cache-control") ?? "", /immutable/)
      }
      assert.strictEqual((yield* go(() => browser.send("/assets/000000000000/style.css"))).status, 404)
    })
  )

  it.effect("what is not there is a page for people and a problem for programs", () =>
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

  it.effect("a body that is no form is refused before anything happens", () =>
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

layer(layerTestConsole({ api_url: "http://127.0.0.1:1" }), { excludeTestServices: true })("without an API", (it) => {
  it.effect("pages say so, programs get 503, and the session stays", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("alone@example.com")
      const page = yield* go(() => browser.send(`${home}/projects`))
      assert.strictEqual(page.status, 503)
      assert.match(page.text, /Service unavailable/)
      assert.strictEqual(page.headers.get("retry-after"), "5")
      assert.strictEqual((yield* go(() => browser.send("/api/events"))).status, 503)
      assert.isTrue(browser.cookies.has("narthex"))
    })
  )

  it.effect("sign-out clears the browser all the same", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("away@example.com")
      assert.strictEqual((yield* go(() => browser.post("/sign-out", {}))).headers.get("location"), "/")
      assert.isFalse(browser.cookies.has("narthex"))
    })
  )
})
