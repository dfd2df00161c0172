/** The session cookie: attributes, decryption, refresh of its token, end. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { problem } from "../../../test/support/HostedPlane.ts"
import { Api } from "./support/Api.ts"
import { Browser } from "./support/Browser.ts"
import { consoleUrl, layerTestConsole } from "./support/Console.ts"
import { browserOf, sealed, signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)
const setCookie = (headers: Headers, name: string) =>
  headers.getSetCookie().find((line) => new RegExp(`^${name}(-[\\w-]{12})?=`).test(line)) ?? ""

layer(layerTestConsole(), { excludeTestServices: true })("session over plain http", (it) => {
  it.effect(
    "the session cookie over http is HttpOnly and Lax, covers the whole host, and holds no readable token",
    () =>
      Effect.gen(function* () {
        const browser = new Browser(yield* consoleUrl)
        const form = yield* go(() => browser.open("/sign-in/dev-one"))
        const sent = new URLSearchParams({
          email: "c@example.com",
          name: "C",
          email_verified: "true",
          action: "sign-in"
        })
        let page = yield* go(() => browser.send(form.url, { method: "POST", body: sent }))
        while (page.url.pathname !== "/sign-in/callback") {
          const location = page.headers.get("location") ?? assert.fail(`${page.url} leads nowhere.`)
          const next = new URL(location, page.url)
          page = yield* go(() => browser.send(next))
        }
        const line = setCookie(page.headers, browser.session)
        assert.match(line, /; HttpOnly/)
        assert.match(line, /; SameSite=Lax/)
        assert.match(line, /; Path=\//)
        assert.notMatch(line, /Domain|Secure/)
        assert.notInclude(line, "eyJhbGciOiJFZERTQ")
        assert.strictEqual(line.split(";")[0]?.split(".").length, 5, "a JWE in compact form")
        assert.match(setCookie(page.headers, `${browser.session}-sign-in`), /Max-Age=0/)
      })
  )

  it.effect("a cookie with another key or purpose, or in another form, is no session", () =>
    Effect.gen(function* () {
      const { browser, home, session } = yield* signedInAs("forged@example.com")
      const attempts = [
        yield* sealed(session, "session", Redacted.make(new Uint8Array(32).fill(8))),
        yield* sealed(session, "sign-in"),
        "not-a-cookie",
        ""
      ]
      for (const value of attempts) {
        browser.cookies.set(browser.session, value)
        const page = yield* go(() => browser.send(`${home}/projects`))
        assert.match(page.headers.get("location") ?? "", /^\/sign-in/)
      }
      browser.cookies.set(browser.session, yield* sealed(session))
      assert.strictEqual((yield* go(() => browser.send(`${home}/projects`))).status, 200)
    })
  )

  it.effect("requests with a token that is about to expire share one refresh and get a new cookie", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, home, session } = yield* signedInAs("stale@example.com", {
        issued_at: Date.now() - 14 * 60_000,
        expires_at: Date.now() + 30_000
      })
      const pages = yield* go(() => Promise.all([1, 2, 3, 4, 5].map(() => browser.send(`${home}/projects`))))
      for (const page of pages) {
        assert.strictEqual(page.status, 200)
        assert.notStrictEqual(setCookie(page.headers, browser.session), "")
      }
      const refreshes = plane.requests.filter(
        ({ headers, path }) => path === "/v1/auth/refresh" && headers.authorization === `Bearer ${session.access_token}`
      )
      assert.strictEqual(refreshes.length, 1)
    })
  )

  it.effect("a token that has expired by the API's clock is refreshed and the page is requested again", () =>
    Effect.gen(function* () {
      const { last, plane } = yield* Api
      const { browser, home, session } = yield* signedInAs("skewed@example.com")
      plane.instead = ({ headers, path }) =>
        headers.authorization === `Bearer ${session.access_token}` && path !== "/v1/auth/refresh"
          ? problem("token_expired")
          : undefined
      const page = yield* go(() => browser.open(`${home}/projects`))
      plane.instead = undefined
      assert.isDefined(last("POST", "/v1/auth/refresh"))
      assert.strictEqual(page.status, 200)
    })
  )

  it.effect("the session ends twelve hours after sign-in", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("late@example.com", { refresh_until: Date.now() - 1 })
      const page = yield* go(() => browser.send(`${home}/projects`))
      assert.strictEqual(page.status, 303)
      assert.strictEqual(page.headers.get("location"), `/sign-in?return_to=${encodeURIComponent(`${home}/projects`)}`)
      assert.match(setCookie(page.headers, browser.session), /Max-Age=0/)
      assert.strictEqual((yield* go(() => browser.send("/api/events"))).status, 401)
    })
  )

  it.effect("a session whose membership was removed continues in the personal organization", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { founder, person } = yield* go(async () => {
        const founder = await api.team(await api.person("remover@example.com"), "Team")
        return { founder, person: await api.join(founder, await api.person("removed@example.com"), "member") }
      })
      yield* go(() => founder.client.orgs.removeMember({ org_id: founder.org, user_id: person.id }))
      const { browser, home } = yield* browserOf(person)
      const page = yield* go(() => browser.open(`${home}/projects`))
      assert.strictEqual(page.status, 404, "the team's page is not found for a former member")
      const landed = yield* go(() => browser.open("/projects"))
      assert.strictEqual(landed.url.pathname, `/orgs/${person.personal}/projects`)
      assert.strictEqual(landed.status, 200)
    })
  )

  it.effect("an account that is no longer on the sign-in allowlist is refused at the refresh", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, home } = yield* signedInAs("dropped@example.com", { expires_at: Date.now() })
      plane.instead = ({ path }) => (path === "/v1/auth/refresh" ? problem("email_not_allowed") : undefined)
      const page = yield* go(() => browser.send(`${home}/projects`))
      plane.instead = undefined
      assert.strictEqual(page.status, 403)
      assert.match(setCookie(page.headers, browser.session), /Max-Age=0/)
    })
  )

  it.effect("the API gets the console's token and the client address, and no header that the browser claims", () =>
    Effect.gen(function* () {
      const { last } = yield* Api
      const { browser, home } = yield* signedInAs("agent@example.com")
      const claims = {
        "user-agent": "Browser/1.0",
        "x-forwarded-for": "203.0.113.9",
        "narthex-client-address": "203.0.113.10",
        authorization: "Bearer mine"
      }
      yield* go(() => browser.send(`${home}/projects`, { headers: claims }))
      const headers = last("GET", "/v1/projects")?.headers ?? {}
      assert.strictEqual(headers["narthex-console"], "console-token-of-the-tests")
      assert.strictEqual(headers["narthex-client-address"], "127.0.0.1")
      assert.strictEqual(headers["narthex-client-agent"], "Browser/1.0")
      assert.isUndefined(headers["x-forwarded-for"])
      assert.match(headers.authorization ?? "", /^Bearer eyJ/)
    })
  )
})

layer(layerTestConsole({ console_url: "https://console.example", trusted_hops: 1 }), { excludeTestServices: true })(
  "session over https",
  (it) => {
    it.effect("cookies over https are __Host- and Secure, and the response has HSTS", () =>
      Effect.gen(function* () {
        const { browser, org } = yield* signedInAs("secure@example.com", { cookie: "__Host-narthex" })
        const begun = yield* go(() => browser.send("/sign-in/dev-one"))
        const attempt = setCookie(begun.headers, "__Host-narthex-sign-in")
        const switched = yield* go(() => browser.post("/api/auth/switch-org", { org_id: org }))
        const session = setCookie(switched.headers, "__Host-narthex")
        for (const line of [attempt, session])
          for (const attribute of ["HttpOnly", "Secure", "SameSite=Lax", "Path=/"])
            assert.include(line, `; ${attribute}`)
        assert.match(attempt, /Max-Age=600/)
        assert.match(switched.headers.get("strict-transport-security") ?? "", /max-age=\d{8}/)
      })
    )

    it.effect("a cookie named as over http is no session over https", () =>
      Effect.gen(function* () {
        const { browser, home } = yield* signedInAs("mixed@example.com", { cookie: "narthex" })
        const page = yield* go(() => browser.send(`${home}/projects`))
        assert.match(page.headers.get("location") ?? "", /^\/sign-in/)
      })
    )

    it.effect("the reported client address is counted from the right of X-Forwarded-For", () =>
      Effect.gen(function* () {
        const { last } = yield* Api
        const { browser, home } = yield* signedInAs("hops@example.com", { cookie: "__Host-narthex" })
        const headers = { "x-forwarded-for": "198.51.100.1, 203.0.113.9" }
        yield* go(() => browser.send(`${home}/projects`, { headers }))
        assert.strictEqual(last("GET", "/v1/projects")?.headers["narthex-client-address"], "203.0.113.9")
      })
    )
  }
)
