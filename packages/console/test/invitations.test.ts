/** A person's own invitations, and the notice of a membership that the first sign-in made. */
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Api } from "./support/Api.ts"
import { Browser, fieldIn } from "./support/Browser.ts"
import { cookieKey, layerTestConsole } from "./support/Console.ts"
import { browserOf, sealedAs, signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Grace's team, which has invited this address. */
const inviting = Effect.fnUntraced(function* (email: string) {
  const api = yield* Api
  return yield* go(async () => {
    const address = `grace-of-${email}`
    const inviter = await api.team(await api.person(address, "Grace Hopper"), "Engines & Sons")
    const org_id = inviter.org
    const { invitation } = await inviter.client.invitations.invite({ org_id, email, role: "member" })
    const members = go(async () => (await inviter.client.orgs.members({ org_id })).members)
    const roleOf = (id: string) => Effect.map(members, (all) => all.find(({ user_id }) => user_id === id)?.role)
    return { id: invitation.id, inviter, team: { id: org_id, roleOf } }
  })
})

/** Signed in, and invited into a team. */
const invited = Effect.fnUntraced(function* (email: string) {
  const signedIn = yield* signedInAs(email)
  const { id, inviter, team } = yield* inviting(email)
  return { ...signedIn, id, inviter, team }
})

layer(layerTestConsole(), { excludeTestServices: true })("invitations", (it) => {
  it.effect("the navigation counts pending invitations, and the page shows who invites into what", () =>
    Effect.gen(function* () {
      const { browser, home, inviter } = yield* invited("counted@example.com")
      const projects = yield* go(() => browser.open(`${home}/projects`))
      assert.match(
        projects.text,
        /<a class="place" href="\/invitations".*?Invitations<span class="count">1<\/span><\/a>/
      )
      const page = yield* go(() => browser.open("/invitations"))
      for (const part of ["Engines &amp; Sons", `Grace Hopper (${inviter.email}) invites you as member`])
        assert.include(page.text, part)
      const other = yield* signedInAs("uninvited@example.com")
      assert.notInclude((yield* go(() => other.browser.open(`${other.home}/projects`))).text, "Invitations")
      assert.include((yield* go(() => other.browser.open("/invitations"))).text, "No invitations")
    })
  )

  it.effect("accepting joins the organization once, and offers to switch to it", () =>
    Effect.gen(function* () {
      const { browser, id, person, team } = yield* invited("accepts@example.com")
      const form_token = fieldIn(yield* go(() => browser.open("/invitations")), "form_token")
      assert.match(form_token, /^form-/)
      const accepted = yield* go(() => browser.post(`/invitations/${id}/accept`, { form_token }))
      assert.deepStrictEqual(
        [accepted.status, accepted.headers.get("location")],
        [303, `/invitations?joined=${team.id}`]
      )
      const page = yield* go(() => browser.open(`/invitations?joined=${team.id}`))
      assert.include(page.text, "You are a member of Engines &amp; Sons.")
      assert.include(page.text, "Switch to Engines &amp; Sons")
      assert.strictEqual(yield* team.roleOf(person.id), "member")
      const again = yield* go(() => browser.post(`/invitations/${id}/accept`, {}))
      assert.strictEqual(again.status, 404)
      assert.include(again.text, "This invitation is closed")
    })
  )

  it.effect("declining ends the invitation, and joins nothing", () =>
    Effect.gen(function* () {
      const { browser, id, person, team } = yield* invited("declines@example.com")
      const declined = yield* go(() => browser.post(`/invitations/${id}/decline`, {}))
      assert.strictEqual(declined.headers.get("location"), "/invitations?done=invitation-declined")
      const page = yield* go(() => browser.open("/invitations?done=invitation-declined"))
      assert.include(page.text, "The invitation was declined.")
      assert.include(page.text, "No invitations")
      assert.isUndefined(yield* team.roleOf(person.id))
    })
  )

  it.effect("a form of another site, a foreign id and a malformed one change nothing", () =>
    Effect.gen(function* () {
      const { browser, id, person, team } = yield* invited("attacked@example.com")
      const other = yield* signedInAs("other@example.com")
      const path = `/invitations/${id}/accept`
      assert.strictEqual((yield* go(() => browser.post(path, {}, { "sec-fetch-site": "cross-site" }))).status, 403)
      assert.strictEqual((yield* go(() => other.browser.post(path, {}))).status, 404)
      assert.strictEqual((yield* go(() => browser.post("/invitations/nonsense/accept", {}))).status, 404)
      assert.isUndefined(yield* team.roleOf(person.id))
      assert.isUndefined(yield* team.roleOf(other.person.id))
    })
  )
})

/** The link of an invitation, as the page of members gives it. */
const linkFrom = (inviter: { readonly browser: Browser; readonly home: string }, email: string) =>
  go(async () => {
    await inviter.browser.post(`${inviter.home}/invitations`, { email, role: "member" })
    const { text } = await inviter.browser.open(`${inviter.home}/members`)
    const link = new RegExp(`<th [^>]*>${email}</th>[\\s\\S]*?data-copy="([^"]+)"`).exec(text)?.[1]
    return new URL(link ?? assert.fail(text))
  })

/** A browser of a person who founded a team. */
const founding = Effect.fnUntraced(function* (email: string, name: string) {
  const api = yield* Api
  return yield* browserOf(yield* go(async () => api.team(await api.person(email), name)))
})

layer(layerTestConsole(), { excludeTestServices: true })("the link of an invitation", (it) => {
  it.effect("a visitor reads who invites which address into what, and lands where it is accepted", () =>
    Effect.gen(function* () {
      const inviter = yield* founding("ada@links.example.com", "Acme & Sons")
      // With an account already, no sign-in accepts for the person.
      yield* go(async () => new Browser(inviter.browser.origin).signIn("bob@links.example.com"))
      const link = yield* linkFrom(inviter, "bob@links.example.com")
      const bob = new Browser(inviter.browser.origin)
      const asked = yield* go(() => bob.open(link))
      assert.strictEqual(asked.url.pathname, "/sign-in")
      assert.include(asked.text, "<h1>Join Acme &amp; Sons</h1>")
      assert.match(
        asked.text.replaceAll(/<[^>]+>/g, ""),
        /ada@links\.example\.com invites you\. Sign in as bob@links\.example\.com to join Acme/
      )
      assert.strictEqual(asked.headers.get("cache-control"), "no-store")
      const [, from = ""] = /href="(\/sign-in\/dev-one[^"]*)"/.exec(asked.text) ?? []
      const landed = yield* go(() => bob.signIn("bob@links.example.com", from))
      assert.strictEqual(landed.url.href, link.href)
      assert.include(landed.text, 'aria-label="Accept the invitation to Acme &amp; Sons"')
      assert.notInclude(landed.text, "Sign out, then open the link again")
    })
  )

  it.effect("a person who is signed in with another address is told which one the invitation is for", () =>
    Effect.gen(function* () {
      const inviter = yield* founding("ada@others.example.com", "Acme")
      const link = yield* linkFrom(inviter, "bob@others.example.com")
      const eve = yield* signedInAs("eve@others.example.com")
      const { text } = yield* go(() => eve.browser.open(link))
      assert.include(text, "The invitation to Acme is for bob@others.example.com, and you are signed in as eve@others")
      assert.include(text, "No invitations")
    })
  )

  it.effect("a link that the console did not make, or that has expired, is a sign-in like any other", () =>
    Effect.gen(function* () {
      const inviter = yield* founding("ada@forged.example.com", "Acme")
      const link = yield* linkFrom(inviter, "bob@forged.example.com")
      const sealed = link.searchParams.get("for") ?? ""
      const content = { email: "bob@forged.example.com", organization: "Acme", inviter: null }
      const session = inviter.browser.cookies.get("narthex") ?? ""
      const visitor = new Browser(link.origin)
      const foreign = yield* sealedAs(content, "invitation", Redacted.make(new Uint8Array(32).fill(8)))
      const past = yield* sealedAs(content, "invitation", cookieKey, -60)
      for (const text of [`${sealed.slice(0, -2)}xx`, session, foreign, past, "nonsense", ""]) {
        const page = yield* go(() => visitor.open(`/invitations?for=${text}`))
        assert.include(page.text, "<h1>Sign in</h1>")
        assert.notInclude(page.text, "Acme")
      }
      // The other way round, a link is no session.
      visitor.cookies.set("narthex", sealed)
      assert.strictEqual((yield* go(() => visitor.open("/projects"))).url.pathname, "/sign-in")
    })
  )

  it.effect("the page of a link asks the API nothing, so it says nothing about other invitations", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const inviter = yield* founding("ada@quiet.example.com", "Acme")
      const link = yield* linkFrom(inviter, "bob@quiet.example.com")
      plane.requests.length = 0
      yield* go(() => new Browser(link.origin).open(link))
      assert.deepStrictEqual(plane.requests, [])
    })
  )
})

layer(layerTestConsole(), { excludeTestServices: true })("a pending account", (it) => {
  it.effect("a pending account sees its invitations and can accept one", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, id, person, team } = yield* invited("pending@example.com")
      api.pend()
      const page = yield* go(() => browser.open("/invitations"))
      assert.strictEqual(page.url.pathname, "/pending")
      assert.include(page.text, "Engines &amp; Sons")
      assert.strictEqual((yield* go(() => browser.post(`/invitations/${id}/accept`, {}))).status, 303)
      assert.strictEqual(yield* team.roleOf(person.id), "member")
    })
  )
})

/** Signed in, in a team that the first sign-in led into. */
const landed = Effect.fnUntraced(function* (email: string) {
  const api = yield* Api
  const { team } = yield* inviting(email)
  return { ...(yield* browserOf(yield* go(() => api.person(email)))), api, team }
})

layer(layerTestConsole(), { excludeTestServices: true })("the notice of an invitation", (it) => {
  it.effect("each page names the inviter, until the person stays", () =>
    Effect.gen(function* () {
      const { browser, home, person, team } = yield* landed("stays@example.com")
      const notice = `Grace Hopper (grace-of-${person.email}) invited you to Engines &amp; Sons.`
      for (const section of ["projects", "api-keys"])
        assert.include((yield* go(() => browser.open(`${home}/${section}`))).text, notice)
      const stayed = yield* go(() =>
        browser.post("/api/auth/switch-org", { org_id: team.id, return_to: `${home}/api-keys` })
      )
      assert.strictEqual(stayed.headers.get("location"), `${home}/api-keys`)
      assert.notInclude((yield* go(() => browser.open(`${home}/projects`))).text, "invited you")
    })
  )

  it.effect("leaving ends the membership and goes on in the personal organization", () =>
    Effect.gen(function* () {
      const { browser, home, person, team } = yield* landed("leaves@example.com")
      const left = yield* go(() => browser.post(`${home}/leave`, {}))
      assert.deepStrictEqual([left.status, left.headers.get("location")], [303, "/projects"])
      assert.isUndefined(yield* team.roleOf(person.id))
      const page = yield* go(() => browser.open("/projects"))
      assert.strictEqual(page.url.pathname, `/orgs/${person.personal}/projects`)
      assert.notInclude(page.text, "invited you")
    })
  )

  it.effect("leaving an organization that is not the session's own changes nothing", () =>
    Effect.gen(function* () {
      const { api, browser, client, person, team } = yield* landed("elsewhere@example.com")
      const other = yield* go(() => api.team(person, "Other"))
      assert.strictEqual((yield* go(() => browser.post(`/orgs/${other.org}/leave`, {}))).status, 404)
      const { organizations } = yield* go(() => client.orgs.list({}))
      assert.include(
        organizations.map(({ id }) => id),
        other.org
      )
      assert.isDefined(yield* team.roleOf(person.id))
    })
  )
})
