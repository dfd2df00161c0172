/** A person's own invitations, and the notice of a membership that the first sign-in made. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { browserOf, signedInAs } from "./support/signedIn.ts"

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
