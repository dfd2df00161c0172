/** Sign-in at a real OpenID Connect provider, and sign-out. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { Browser } from "./support/Browser.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"

const visitor = Effect.map(consoleUrl, (url) => new Browser(url))
const go = <A>(run: () => Promise<A>) => Effect.promise(run)

layer(layerTestConsole(), { excludeTestServices: true })("sign-in", (it) => {
  it.effect("sign-in lists both providers, and each leads to the projects", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const choice = yield* go(() => browser.open("/sign-in"))
      assert.match(choice.text, /Continue with Development One/)
      assert.match(choice.text, /Continue with Development Two/)
      for (const provider of ["dev-one", "dev-two"]) {
        const landed = yield* go(() => new Browser(browser.origin).signIn("ada@example.com", `/sign-in/${provider}`))
        assert.strictEqual(landed.status, 200)
        assert.match(landed.url.pathname, /^\/orgs\/[0-9a-f-]{36}\/projects$/)
        assert.match(landed.text, /<h1>Projects<\/h1>/)
      }
    })
  )

  it.effect("sign-in requests a code with PKCE, state and nonce, and sends the nonce to the API", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const asked = yield* go(() => browser.send("/sign-in/dev-one"))
      assert.strictEqual(asked.status, 303)
      const { searchParams } = new URL(asked.headers.get("location") ?? "")
      assert.strictEqual(searchParams.get("response_type"), "code")
      assert.strictEqual(searchParams.get("code_challenge_method"), "S256")
      assert.strictEqual(searchParams.get("redirect_uri"), `${browser.origin}/sign-in/callback`)
      for (const name of ["state", "nonce", "code_challenge"]) assert.match(searchParams.get(name) ?? "", /^[\w-]{43}$/)
      yield* go(() => browser.signIn("nonce@example.com"))
      const body = (yield* Api).last("POST", "/v1/auth/exchange")?.body ?? ""
      assert.match(body, /"nonce":"[\w-]{43}"/)
      assert.match(body, /"provider":"dev-one"/)
    })
  )

  it.effect("sign-in returns to the requested page", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const turned = yield* go(() => browser.send("/api-keys"))
      assert.strictEqual(turned.headers.get("location"), "/sign-in?return_to=%2Fapi-keys")
      const choice = yield* go(() => browser.open("/sign-in?return_to=%2Fapi-keys"))
      assert.include(choice.text, "/sign-in/dev-one?return_to=%2Fapi-keys")
      const landed = yield* go(() => browser.signIn("back@example.com", "/sign-in/dev-one?return_to=%2Fapi-keys"))
      assert.match(landed.url.pathname, /\/api-keys$/)
    })
  )

  it.effect("sign-in never returns to another origin", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      for (const evil of ["//evil.example", "/\\evil.example", "https://evil.example", "/\t/evil.example"]) {
        const from = `/sign-in/dev-one?return_to=${encodeURIComponent(evil)}`
        const landed = yield* go(() => new Browser(browser.origin).signIn("safe@example.com", from))
        assert.strictEqual(landed.url.origin, browser.origin)
        assert.match(landed.url.pathname, /\/projects$/)
      }
    })
  )

  it.effect("the callback refuses an answer without an attempt, and an answer to another attempt", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const stray = yield* go(() => browser.send("/sign-in/callback?code=x&state=y"))
      assert.strictEqual(stray.status, 400)
      assert.match(stray.text, /This sign-in has expired/)
      const begun = yield* go(() => browser.send("/sign-in/dev-one"))
      const state = new URL(begun.headers.get("location") ?? "").searchParams.get("state") ?? ""
      const forged = yield* go(() =>
        browser.send(`/sign-in/callback?code=x&state=${state.slice(0, 12)}${"x".repeat(31)}`)
      )
      assert.strictEqual(forged.status, 400)
      assert.isFalse(browser.cookies.has(browser.session))
      assert.isFalse(
        browser.cookies.has(`${browser.session}-sign-in-${state.slice(0, 12)}`),
        "an attempt accepts one answer"
      )
    })
  )

  it.effect("two tabs sign in, the first one first, and a stale callback leads to the console", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const begun = [
        yield* go(() => browser.send("/sign-in/dev-one")),
        yield* go(() => browser.send("/sign-in/dev-two"))
      ]
      for (const { headers } of begun) {
        const tab = yield* go(() => browser.open(headers.get("location") ?? ""))
        const landed = yield* go(() =>
          browser.open(tab.url, { method: "POST", body: new URLSearchParams({ email: "tabs@example.com" }) })
        )
        assert.match(landed.url.pathname, /\/projects$/, landed.text)
      }
      const stale = yield* go(() => browser.send(`/sign-in/callback?code=x&state=${"s".repeat(43)}`))
      assert.strictEqual(stale.headers.get("location"), "/projects")
      for (let begun = 0; begun < 12; begun++) yield* go(() => browser.send("/sign-in/dev-one"))
      const open = [...browser.cookies.keys()].filter((name) => name.startsWith(`${browser.session}-sign-in-`))
      assert.lengthOf(open, 5, "abandoned attempts do not fill the head of requests")
    })
  )

  it.effect("cancelling at the provider is shown as a cancelled sign-in", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const form = yield* go(() => browser.open("/sign-in/dev-one"))
      const landed = yield* go(() =>
        browser.open(form.url, {
          method: "POST",
          body: new URLSearchParams({ action: "cancel", email: "x@example.com" })
        })
      )
      assert.strictEqual(landed.status, 403)
      assert.match(landed.text, /Sign-in cancelled/)
    })
  )

  it.effect("sign-in at an unknown provider is not found", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      assert.strictEqual((yield* go(() => browser.send("/sign-in/nobody"))).status, 404)
    })
  )
})

const listed = { signup: { sign_in_allowlist: ["listed@example.com"] } }

layer(layerTestConsole({}, listed), { excludeTestServices: true })("sign-in by a list", (it) => {
  it.effect("an email address that is not on the sign-in allowlist gets a page and no session", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      const landed = yield* go(() => browser.signIn("stranger@example.com"))
      assert.strictEqual(landed.status, 403)
      assert.match(landed.text, /This email address cannot sign in/)
      assert.isFalse(browser.cookies.has(browser.session))
    })
  )
})

layer(layerTestConsole(), { excludeTestServices: true })("pending accounts and sign-out", (it) => {
  it.effect("a pending account stays on /pending until it is enabled", () =>
    Effect.gen(function* () {
      const { pend, plane } = yield* Api
      const browser = yield* visitor
      pend()
      const landed = yield* go(() => browser.signIn("waiting@example.com"))
      assert.strictEqual(landed.url.pathname, "/pending")
      assert.match(landed.text, /<meta http-equiv="refresh" content="30"/)
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, "/pending")
      assert.strictEqual((yield* go(() => browser.send("/api/events"))).status, 403)
      plane.instead = undefined
      assert.match((yield* go(() => browser.open("/pending"))).url.pathname, /\/projects$/)
    })
  )

  it.effect("the landing page leads a person who is signed in to the projects, and is there again after sign-out", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      assert.match((yield* go(() => browser.open("/"))).text, /Sign in to start/)
      yield* go(() => browser.signIn("returning@example.com"))
      const { headers, status } = yield* go(() => browser.send("/"))
      assert.deepStrictEqual([status, headers.get("location")], [303, "/projects"])
      yield* go(() => browser.post("/sign-out", {}))
      assert.match((yield* go(() => browser.open("/"))).text, /Sign in to start/)
    })
  )

  it.effect("sign-out revokes the session and clears the cookie, and keeps API keys", () =>
    Effect.gen(function* () {
      const { last, product } = yield* Api
      const browser = yield* visitor
      const landed = yield* go(() => browser.signIn("leaving@example.com"))
      const fields = { name: "cli", capability: "read", scope: "organization", expires_in_days: "" }
      const made = yield* go(() => browser.post(landed.url.pathname.replace(/projects$/, "api-keys"), fields))
      const secret = /nsk_\w+/.exec(made.text)?.[0]
      const before = browser.cookieHeader
      const out = yield* go(() => browser.post("/sign-out", {}))
      assert.strictEqual(out.status, 303)
      assert.strictEqual(out.headers.get("location"), "/")
      assert.isFalse(browser.cookies.has(browser.session))
      assert.isDefined(last("POST", "/v1/auth/logout"))
      assert.strictEqual((yield* go(() => product.authenticate(secret))).api_key?.name, "cli")
      const replay = yield* go(() => browser.send("/projects", { headers: { cookie: before } }))
      const page = yield* go(() => browser.send(replay.headers.get("location") ?? "", { headers: { cookie: before } }))
      assert.match(page.headers.get("location") ?? "", /^\/sign-in/)
    })
  )

  it.effect("a second sign-in makes another session", () =>
    Effect.gen(function* () {
      const browser = yield* visitor
      yield* go(() => browser.signIn("twice@example.com"))
      const first = browser.cookies.get(browser.session)
      yield* go(() => browser.signIn("twice@example.com"))
      assert.notStrictEqual(browser.cookies.get(browser.session), first)
    })
  )
})
