import { execFile } from "node:child_process"
import { join } from "node:path"
import { promisify } from "node:util"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { within } from "../../../test/harness/eventually.ts"
import { Browser, field } from "./Browser.ts"
import { running } from "./running.ts"
import { authorization, callback, json, redeem, signIn, verify } from "./signIn.ts"

describe("signing in with a browser", () => {
  it.live("a sign-in ends with an id token that has the account and the application's nonce", () =>
    Effect.gen(function* () {
      for (const { algorithms, issuer } of yield* running()) {
        const { landing, tokens } = yield* Effect.promise(() => signIn(issuer, "ada@example.com"))
        assert.strictEqual(`${landing.url.origin}${landing.url.pathname}`, callback)
        assert.strictEqual(landing.url.searchParams.get("state"), "state-1")
        assert.strictEqual(landing.url.searchParams.get("iss"), issuer)
        assert.strictEqual(tokens.status, 200)
        const { payload } = yield* Effect.promise(() => verify(issuer, tokens.body["id_token"], algorithms[0] ?? ""))
        assert.strictEqual(payload["email"], "ada@example.com")
        assert.strictEqual(payload["email_verified"], true)
        assert.strictEqual(payload["name"], "Ada Lovelace")
        assert.strictEqual(payload["nonce"], "nonce-1")
      }
    })
  )

  it.live("a sign-in gives the same subject as POST /id-token", () =>
    Effect.gen(function* () {
      const [{ algorithms, issuer }] = yield* running()
      const { tokens } = yield* Effect.promise(() => signIn(issuer, "ada@example.com"))
      const byScript = yield* Effect.promise(() =>
        json(`${issuer}/id-token`, { method: "POST", body: new Blob(['{"email":"ada@example.com"}']) })
      )
      const subjects = yield* Effect.forEach([tokens, byScript], ({ body }) =>
        Effect.promise(() => verify(issuer, body["id_token"], algorithms[0] ?? ""))
      )
      assert.strictEqual(subjects[0]?.payload.sub, subjects[1]?.payload.sub)
    })
  )

  it.live("the sign-in page says what it is, has no script, and can return only to the application", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const page = yield* Effect.promise(() => new Browser().go(authorization(issuer).url))
      assert.strictEqual(page.response.status, 200)
      assert.strictEqual(page.url.origin, issuer)
      assert.include(page.text, "Development provider.")
      assert.include(page.text, "signs anyone in")
      assert.include(page.text, '<label for="email">')
      assert.match(page.text, /<input id="email"[^>]* autofocus/s)
      assert.notMatch(page.text, /<script|<style|style=| on\w+=/)
      const policy = page.response.headers.get("content-security-policy") ?? ""
      assert.include(policy, "default-src 'none'; style-src 'self'; form-action 'self' http://127.0.0.1:4401;")
      assert.include(policy, "frame-ancestors 'none'")
      assert.strictEqual(page.response.headers.get("cache-control"), "no-store")
      const style = yield* Effect.promise(() => fetch(`${issuer}/style.css`))
      assert.strictEqual(style.headers.get("content-type"), "text/css; charset=utf-8")
      yield* Effect.promise(() => style.text())
    })
  )

  it.live("the next sign-in asks again, filled in with the last address, and accepts another address", () =>
    Effect.gen(function* () {
      const [{ algorithms, issuer }] = yield* running()
      const browser = new Browser()
      yield* Effect.promise(() => signIn(issuer, "ada@example.com", browser))
      const { page, tokens } = yield* Effect.promise(() => signIn(issuer, "bob@example.com", browser))
      assert.strictEqual(field(page, "email"), "ada@example.com")
      assert.strictEqual(field(page, "name"), "Ada Lovelace")
      const { payload } = yield* Effect.promise(() => verify(issuer, tokens.body["id_token"], algorithms[0] ?? ""))
      assert.strictEqual(payload["email"], "bob@example.com")
    })
  )

  it.live(
    "sign-ins at both providers do not disturb each other in one browser, which shares cookies between ports",
    () =>
      Effect.gen(function* () {
        const [one, two] = yield* running()
        const browser = new Browser()
        const first = authorization(one.issuer)
        const firstPage = yield* Effect.promise(() => browser.go(first.url))
        yield* Effect.promise(() => signIn(two.issuer, "bob@example.com", browser))
        const landing = yield* Effect.promise(() => browser.submit(firstPage, { email: "ada@example.com" }))
        const tokens = yield* Effect.promise(() => redeem(one.issuer, landing, first.verifier))
        const { payload } = yield* Effect.promise(() => verify(one.issuer, tokens.body["id_token"], "RS256"))
        assert.strictEqual(payload["email"], "ada@example.com")
        const again = yield* Effect.promise(() => browser.go(authorization(two.issuer).url))
        assert.strictEqual(field(again, "email"), "bob@example.com")
      })
  )

  it.live("the form prefers the application's hint to the last address", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const browser = new Browser()
      yield* Effect.promise(() => signIn(issuer, "ada@example.com", browser))
      const page = yield* Effect.promise(() =>
        browser.go(authorization(issuer, { login_hint: '"><b>eve@example.com' }).url)
      )
      assert.strictEqual(field(page, "email"), "&#34;&#62;&#60;b&#62;eve@example.com")
      assert.strictEqual(field(page, "name"), "")
    })
  )

  it.live("with the box cleared, the address in the token is not verified", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const { url, verifier } = authorization(issuer)
      const browser = new Browser()
      const page = yield* Effect.promise(() => browser.go(url))
      const landing = yield* Effect.promise(() =>
        browser.submit(page, { email: "ada@example.com", email_verified: "", name: "" })
      )
      const tokens = yield* Effect.promise(() => redeem(issuer, landing, verifier))
      const { payload } = yield* Effect.promise(() => verify(issuer, tokens.body["id_token"], "RS256"))
      assert.strictEqual(payload["email_verified"], false)
      assert.strictEqual(payload["name"], "ada")
    })
  )

  it.live("an invalid address shows the form again with a sentence", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const browser = new Browser()
      const { url, verifier } = authorization(issuer)
      const page = yield* Effect.promise(() => browser.go(url))
      const again = yield* Effect.promise(() => browser.submit(page, { email: "nobody", name: "Ada" }))
      assert.strictEqual(again.response.status, 422)
      assert.include(again.text, 'role="alert">The address must be an address like ada@example.com')
      assert.strictEqual(field(again, "email"), "nobody")
      assert.strictEqual(field(again, "name"), "Ada")
      const landing = yield* Effect.promise(() => browser.submit(again, { email: "ada@example.com" }))
      assert.strictEqual((yield* Effect.promise(() => redeem(issuer, landing, verifier))).status, 200)
    })
  )

  it.live("cancelling a sign-in reports access_denied to the application", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const browser = new Browser()
      const page = yield* Effect.promise(() => browser.go(authorization(issuer).url))
      const landing = yield* Effect.promise(() => browser.submit(page, { action: "cancel" }))
      assert.strictEqual(landing.url.searchParams.get("error"), "access_denied")
      assert.strictEqual(landing.url.searchParams.get("error_description"), "The sign-in was cancelled.")
    })
  )

  it.live("prompt=none is answered with login_required, because no session is stored", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const browser = new Browser()
      yield* Effect.promise(() => signIn(issuer, "ada@example.com", browser))
      const landing = yield* Effect.promise(() => browser.go(authorization(issuer, { prompt: "none" }).url))
      assert.strictEqual(landing.url.searchParams.get("error"), "login_required")
    })
  )

  it.live.each(["login", "consent", "login consent"])("prompt=%s shows the form once", (prompt) =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const browser = new Browser()
      const { url, verifier } = authorization(issuer, { prompt })
      const page = yield* Effect.promise(() => browser.go(url))
      const landing = yield* Effect.promise(() => browser.submit(page, { email: "ada@example.com" }))
      assert.strictEqual((yield* Effect.promise(() => redeem(issuer, landing, verifier))).status, 200)
    })
  )

  it.live("a sign-in that another browser began is refused", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const page = yield* Effect.promise(() => new Browser().go(authorization(issuer).url))
      const stranger = yield* Effect.promise(() => new Browser().submit(page, { email: "eve@example.com" }))
      assert.strictEqual(stranger.response.status, 400)
      assert.include(stranger.text, "This sign-in has ended or belongs to another browser.")
    })
  )
})

describe("the library underneath", () => {
  it.live("oidc-provider prints no warnings", () =>
    Effect.gen(function* () {
      const script = join(import.meta.dirname, "quiet.ts")
      const said = yield* Effect.promise(() =>
        within(
          "the whole sign-in in a process of its own",
          promisify(execFile)(process.execPath, ["--conditions=source", script], { env: {} })
        )
      )
      assert.deepStrictEqual(said, { stdout: "200\n", stderr: "" })
    })
  )
})

describe("the duties of the application", () => {
  it.live("an authorization request without PKCE is refused", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const { url } = authorization(issuer)
      url.searchParams.delete("code_challenge")
      url.searchParams.delete("code_challenge_method")
      const landing = yield* Effect.promise(() => new Browser().go(url))
      assert.strictEqual(landing.url.searchParams.get("error"), "invalid_request")
    })
  )

  it.live("a code is redeemed only with its own verifier", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const { landing } = yield* Effect.promise(() => signIn(issuer, "ada@example.com"))
      const { verifier } = authorization(issuer)
      const refused = yield* Effect.promise(() => redeem(issuer, landing, verifier))
      assert.strictEqual(refused.status, 400)
      assert.strictEqual(refused.body["error"], "invalid_grant")
    })
  )

  it.live("a code is redeemed once", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const { landing, verifier } = yield* Effect.promise(() => signIn(issuer, "ada@example.com"))
      const refused = yield* Effect.promise(() => redeem(issuer, landing, verifier))
      assert.strictEqual(refused.body["error"], "invalid_grant")
    })
  )

  it.live.each([
    [{ redirect_uri: "http://127.0.0.1:4401/elsewhere" }],
    [{ redirect_uri: "http://127.0.0.1:9/callback" }],
    [{ client_id: "stranger" }]
  ])("is refused with %j on a page, never by a redirect", ([more]) =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const page = yield* Effect.promise(() => new Browser().go(authorization(issuer, more).url))
      assert.strictEqual(page.url.origin, issuer)
      assert.strictEqual(page.response.status, 400)
      assert.include(page.text, "The request was refused: ")
      assert.include(page.response.headers.get("content-security-policy") ?? "", "form-action 'none'")
    })
  )

  it.live("a client with a secret authenticates in the header or in the body", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running({ clientSecret: Redacted.make("the secret of the console") })
      const without = yield* Effect.promise(() => signIn(issuer, "ada@example.com"))
      assert.strictEqual(without.tokens.status, 401)
      assert.strictEqual(without.tokens.body["error"], "invalid_client")
      const secret = { client_secret: "the secret of the console" }
      const shown = yield* Effect.promise(() => redeem(issuer, without.landing, without.verifier, secret))
      assert.strictEqual(shown.status, 200)
    })
  )
})
