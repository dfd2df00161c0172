/** `/cli/authorize`: which redirect URIs get a code, which never do, and that nothing happens without a person. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { Browser, type Page } from "./support/Browser.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)
let states = 0
const asked = (more: Readonly<Record<string, string>> = {}) => {
  states += 1
  return {
    state: `state-${states}`.padEnd(43, "x"),
    redirect_uri: "http://127.0.0.1:49152/callback",
    code_challenge: "c".repeat(43),
    code_challenge_method: "S256",
    name: "cli on laptop",
    ...more
  }
}
const address = (fields: Readonly<Record<string, string>>) => `/cli/authorize?${new URLSearchParams(fields)}`

/** The fields that the browser sends when the person presses the button. */
const filled = (page: Page, action: string, more: Readonly<Record<string, string>> = {}) => {
  const form = /<form method="post" action="\/cli\/authorize"[\s\S]*?<\/form>/.exec(page.text)?.[0] ?? ""
  const hidden = [...form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g)]
  const fields = Object.fromEntries(hidden.map(([, name = "", value = ""]) => [name, value.replaceAll("&amp;", "&")]))
  return { ...fields, capability: "read_write", scope: "organization", lifetime: "90", action, ...more }
}

layer(layerTestConsole(), { excludeTestServices: true })("/cli/authorize", (it) => {
  it.effect("/cli/authorize leads through sign-in and keeps every field of the request", () =>
    Effect.gen(function* () {
      const browser = new Browser(yield* consoleUrl)
      const target = address(asked())
      const choice = yield* go(() => browser.open(target))
      assert.strictEqual(choice.url.pathname, "/sign-in")
      assert.match(choice.text, /Sign in to authorize the command line/)
      const href = /href="(\/sign-in\/dev-one[^"]*)"/.exec(choice.text)?.[1]?.replaceAll("&amp;", "&")
      const landed = yield* go(() => browser.signIn("cli@example.com", href))
      assert.strictEqual(landed.url.pathname + landed.url.search, target)
      assert.match(landed.text, /Authorize the command line\?/)
    })
  )

  it.effect(
    "/cli/authorize shows organization, account, key name, capability, scope, lifetime and port, and waits",
    () =>
      Effect.gen(function* () {
        const { last } = yield* Api
        const { browser, client, org } = yield* signedInAs("shown@example.com")
        const { organization } = yield* go(() => client.orgs.get({ org_id: org }))
        const page = yield* go(() => browser.open(address(asked({ name: "cli on <b>host</b>" }))))
        for (const part of [organization.name.replaceAll("'", "&#39;"), "shown@example.com", "port 49152"])
          assert.include(page.text.replaceAll("'", "&#39;"), part)
        assert.include(page.text, "cli on &lt;b>host&lt;/b>")
        assert.match(page.text, /<option value="read_write" selected>/)
        assert.match(page.text, /<option value="organization" selected>/)
        assert.match(page.text, /<option value="90" selected>90 days/)
        assert.match(page.text, /<option value="never">Never/)
        assert.isUndefined(last("POST", "/v1/cli/authorizations"), "nothing is approved by looking")
        const policy = page.headers.get("content-security-policy") ?? ""
        assert.include(policy, "form-action 'self' http://127.0.0.1:49152;")
      })
  )

  it.effect("Authorize redirects to the loopback address with code and state", () =>
    Effect.gen(function* () {
      const { sent: asking } = yield* Api
      const { browser } = yield* signedInAs("yes@example.com")
      const request = asked()
      const page = yield* go(() => browser.open(address(request)))
      const sent = yield* go(() => browser.post("/cli/authorize", filled(page, "authorize")))
      assert.strictEqual(sent.status, 303)
      const location = new URL(sent.headers.get("location") ?? "")
      assert.strictEqual(location.origin + location.pathname, request.redirect_uri)
      assert.deepStrictEqual([...location.searchParams.keys()], ["code", "state"])
      assert.strictEqual(location.searchParams.get("state"), request.state)
      assert.deepStrictEqual(asking("POST", "/v1/cli/authorizations"), {
        ...request,
        capability: "read_write",
        scope: { type: "organization" },
        expires_in_days: 90
      })
    })
  )

  it.effect("the lifetime Never sends no number of days", () =>
    Effect.gen(function* () {
      const { sent } = yield* Api
      const { browser } = yield* signedInAs("never@example.com")
      const page = yield* go(() => browser.open(address(asked())))
      yield* go(() =>
        browser.post("/cli/authorize", filled(page, "authorize", { lifetime: "never", capability: "read" }))
      )
      const body = sent("POST", "/v1/cli/authorizations")
      assert.deepInclude(body, { capability: "read" })
      assert.notInclude(JSON.stringify(body), "expires_in_days")
    })
  )

  it.effect("Cancel redirects to the loopback address with an error and does not call the API", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser } = yield* signedInAs("no@example.com")
      const request = asked()
      const page = yield* go(() => browser.open(address(request)))
      const sent = yield* go(() => browser.post("/cli/authorize", filled(page, "cancel")))
      const location = `${request.redirect_uri}?error=access_denied&state=${request.state}`
      assert.strictEqual(sent.headers.get("location"), location)
      assert.isFalse(plane.requests.some(({ body }) => body.includes(request.state)))
    })
  )

  it.effect("a command-line login whose state was already used is refused", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("again@example.com")
      const page = yield* go(() => browser.open(address(asked())))
      yield* go(() => browser.post("/cli/authorize", filled(page, "authorize")))
      const second = yield* go(() => browser.post("/cli/authorize", filled(page, "authorize")))
      assert.strictEqual(second.status, 409)
      assert.isNull(second.headers.get("location"))
    })
  )

  it.effect("a command line is not authorized for another organization than the page showed", () =>
    Effect.gen(function* () {
      const { plane, team: found } = yield* Api
      const { browser, person } = yield* signedInAs("moved@example.com")
      const team = yield* go(() => found(person, "Team"))
      const request = asked()
      const page = yield* go(() => browser.open(address(request)))
      yield* go(() => browser.post("/api/auth/switch-org", { org_id: team.org }))
      const late = yield* go(() => browser.post("/cli/authorize", filled(page, "authorize")))
      assert.strictEqual(late.status, 409)
      assert.match(late.text, /The organization has changed/)
      assert.isFalse(plane.requests.some(({ body }) => body.includes(request.state)))
    })
  )

  it.effect("an IPv6 loopback address gets a page with a link, because a policy cannot name it", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("six@example.com")
      const request = asked({ redirect_uri: "http://[::1]:49152/callback" })
      const page = yield* go(() => browser.open(address(request)))
      const sent = yield* go(() => browser.post("/cli/authorize", filled(page, "authorize")))
      assert.strictEqual(sent.status, 200)
      const code = /href="http:\/\/\[::1\]:49152\/callback\?code=[\w-]+&amp;state=([\w-]+)"/.exec(sent.text)
      assert.strictEqual(code?.[1], request.state)
    })
  )

  const refused = [
    "",
    "http://localhost:49152/callback",
    "https://127.0.0.1:49152/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:80/callback",
    "http://127.0.0.1:1023/callback",
    "http://127.0.0.1:65536/callback",
    "http://127.0.0.1:049152/callback",
    "http://127.0.0.1:49152@evil.example/",
    "http://evil.example:49152/callback",
    "http://127.0.0.1.evil.example:49152/",
    "http://user@127.0.0.1:49152/callback",
    "http://127.1:49152/callback",
    "http://0x7f000001:49152/",
    "http://127.0.0.1:49152/a/../b",
    "http://127.0.0.1:49152/callback?x=1",
    "http://127.0.0.1:49152/callback#x",
    "http://127.0.0.1:49152/%2e%2e/",
    "http://127.0.0.1:49152\\@evil.example",
    " http://127.0.0.1:49152/callback",
    "http://127.0.0.1:49152/callback\n",
    "HTTP://127.0.0.1:49152/callback",
    "http://[::2]:49152/",
    "javascript:alert(1)"
  ]
  for (const redirect_uri of refused)
    it.effect(`/cli/authorize never redirects to ${JSON.stringify(redirect_uri)}`, () =>
      Effect.gen(function* () {
        const { browser, org } = yield* signedInAs("strict@example.com")
        const fields = asked({ redirect_uri })
        const page = yield* go(() => browser.send(address(fields)))
        assert.strictEqual(page.status, 400)
        assert.isNull(page.headers.get("location"))
        for (const action of ["authorize", "cancel"]) {
          const sent = yield* go(() =>
            browser.post("/cli/authorize", { ...fields, org_id: org, lifetime: "90", action })
          )
          assert.strictEqual(sent.status, 400)
          assert.isNull(sent.headers.get("location"))
        }
      })
    )

  it.effect("/cli/authorize refuses fields that are missing, malformed or repeated", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("partial@example.com")
      const { code_challenge: _challenge, ...incomplete } = asked()
      const targets = [
        address(incomplete),
        address(asked({ state: "short" })),
        address(asked({ code_challenge_method: "plain" })),
        address(asked({ name: "x".repeat(65) })),
        `${address(asked())}&redirect_uri=${encodeURIComponent("http://127.0.0.1:50000/")}`
      ]
      for (const target of targets) assert.strictEqual((yield* go(() => browser.send(target))).status, 400)
    })
  )
})
