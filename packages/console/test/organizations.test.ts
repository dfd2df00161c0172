/** Switches of organization by form and by JSON, and pages of an organization that is not active. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in, as a member of a team in addition to the personal organization. */
const inTwo = Effect.fnUntraced(function* (email: string) {
  const api = yield* Api
  const signedIn = yield* signedInAs(email)
  const { foreign, team } = yield* go(async () => {
    const grace = await api.person(`grace-of-${email}`)
    const founder = await api.team(grace, "Acme & Sons")
    await api.join(founder, signedIn.person, "member")
    return { team: { id: founder.org, founder }, foreign: { id: grace.personal } }
  })
  const asJson = (body: unknown) =>
    go(() =>
      signedIn.browser.send("/api/auth/switch-org", {
        method: "POST",
        body: JSON.stringify(body),
        headers: { "content-type": "application/json" }
      })
    )
  return { ...signedIn, team, foreign, asJson }
})

layer(layerTestConsole(), { excludeTestServices: true })("organizations", (it) => {
  it.effect("the menu lists every organization, and its form switches to the chosen one", () =>
    Effect.gen(function* () {
      const { browser, home, team } = yield* inTwo("form@example.com")
      const page = yield* go(() => browser.open(`${home}/projects`))
      assert.include(page.text, "Acme &amp; Sons")
      const switched = yield* go(() => browser.post("/api/auth/switch-org", { org_id: team.id }))
      assert.strictEqual(switched.status, 303)
      assert.strictEqual(switched.headers.get("location"), "/projects")
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, `/orgs/${team.id}/projects`)
    })
  )

  it.effect("a switch by JSON answers the session without its token, and sets the cookie", () =>
    Effect.gen(function* () {
      const { asJson, browser, team } = yield* inTwo("json@example.com")
      const before = browser.cookies.get(browser.session)
      const switched = yield* asJson({ org_id: team.id })
      assert.strictEqual(switched.status, 200)
      const body = JSON.parse(switched.text)
      assert.deepInclude(body, { token_type: "Bearer", account_state: "active" })
      assert.strictEqual(body.organization.id, team.id)
      assert.notProperty(body, "access_token")
      assert.notInclude(switched.text, "eyJ")
      assert.notStrictEqual(browser.cookies.get(browser.session), before)
    })
  )

  it.effect("a switch to an organization of which the person is not a member is 403 and changes nothing", () =>
    Effect.gen(function* () {
      const { asJson, browser, foreign, home } = yield* inTwo("refused@example.com")
      const before = browser.cookies.get(browser.session)
      for (const org_id of [foreign.id, "not-an-id", ""]) {
        const refused = yield* asJson({ org_id })
        assert.strictEqual(refused.status, 403)
        assert.include(refused.text, '"code":"not_a_member"')
        assert.strictEqual((yield* go(() => browser.post("/api/auth/switch-org", { org_id }))).status, 403)
      }
      assert.strictEqual(browser.cookies.get(browser.session), before)
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, `${home}/projects`)
    })
  )

  it.effect("a switch without an organization is 422, and with a malformed body 400", () =>
    Effect.gen(function* () {
      const { asJson, browser } = yield* inTwo("nonsense@example.com")
      for (const body of [{}, { org_id: 7 }, null]) assert.strictEqual((yield* asJson(body)).status, 422)
      const broken = yield* go(() =>
        browser.send("/api/auth/switch-org", {
          method: "POST",
          body: "{",
          headers: { "content-type": "application/json" }
        })
      )
      assert.strictEqual(broken.status, 400)
    })
  )

  it.effect("a switch without a session is a 401 problem for programs and leads people to sign-in", () =>
    Effect.gen(function* () {
      const { asJson, browser, team } = yield* inTwo("gone@example.com")
      browser.cookies.clear()
      const program = yield* asJson({ org_id: team.id })
      assert.strictEqual(program.status, 401)
      assert.match(program.headers.get("content-type") ?? "", /^application\/problem\+json/)
      const person = yield* go(() => browser.post("/api/auth/switch-org", { org_id: team.id }))
      assert.strictEqual(person.status, 303)
      assert.strictEqual(person.headers.get("location"), "/sign-in")
    })
  )

  it.effect("a page of another organization shows and changes nothing, and offers the switch", () =>
    Effect.gen(function* () {
      const { last } = yield* Api
      const { browser, home, team } = yield* inTwo("tabs@example.com")
      const elsewhere = yield* go(() => browser.open(`/orgs/${team.id}/api-keys`))
      assert.strictEqual(elsewhere.status, 409)
      assert.isUndefined(last("GET", "/v1/api-keys/"), "Keys of the active organization were read.")
      assert.match(elsewhere.text, /This page belongs to Acme &amp; Sons/)
      const keys = go(async () => (await team.founder.client.apiKeys.list({})).api_keys.length)
      const late = yield* go(() => browser.post(`/orgs/${team.id}/api-keys`, { name: "late" }))
      assert.strictEqual(late.status, 409)
      assert.strictEqual(yield* keys, 0)
      const back = yield* go(() =>
        browser.post("/api/auth/switch-org", { org_id: team.id, return_to: `/orgs/${team.id}/api-keys` })
      )
      assert.strictEqual(back.headers.get("location"), `/orgs/${team.id}/api-keys`)
      assert.strictEqual((yield* go(() => browser.open(`${home}/projects`))).status, 409)
    })
  )

  it.effect("a page of an organization of which the person is not a member is not found", () =>
    Effect.gen(function* () {
      const { browser, foreign } = yield* inTwo("curious@example.com")
      for (const id of [foreign.id, "nonsense"])
        assert.strictEqual((yield* go(() => browser.open(`/orgs/${id}/projects`))).status, 404)
    })
  )
})
