/** A person's own invitations, and the notice of a membership that the first sign-in made. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { invite } from "./support/doubleInvitations.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in, and invited into a team. */
const invited = Effect.fnUntraced(function* (email: string) {
  const { state } = yield* ApiDouble
  const signedIn = yield* signedInAs(email)
  const team = state.org("Engines & Sons")
  const inviter = state.person(`grace-of-${email}`)
  const id = invite(state, signedIn.person, inviter, team.id)
  return { ...signedIn, id, inviter, state, team }
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
      assert.strictEqual(team.members.get(person.id), "member")
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
      assert.isFalse(team.members.has(person.id))
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
      assert.isFalse(team.members.has(person.id))
      assert.isFalse(team.members.has(other.person.id))
    })
  )

  it.effect("a pending account sees its invitations and can accept one", () =>
    Effect.gen(function* () {
      const { browser, id, person, team } = yield* invited("pending@example.com")
      person.pending = true
      const page = yield* go(() => browser.open("/invitations"))
      assert.strictEqual(page.url.pathname, "/pending")
      assert.include(page.text, "Engines &amp; Sons")
      assert.strictEqual((yield* go(() => browser.post(`/invitations/${id}/accept`, {}))).status, 303)
      assert.strictEqual(team.members.get(person.id), "member")
    })
  )
})

/** Signed in, in a team that the first sign-in led into. */
const landed = Effect.fnUntraced(function* (email: string) {
  const { state } = yield* ApiDouble
  const team = state.org("Engines & Sons")
  const person = state.person(email)
  team.members.set(person.id, "member")
  state.landed.set(person.id, { org: team.id, by: state.person(`grace-of-${email}`) })
  return { ...(yield* signedInAs(email, { org_id: team.id })), state, team }
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
      assert.isFalse(team.members.has(person.id))
      const page = yield* go(() => browser.open("/projects"))
      assert.strictEqual(page.url.pathname, `/orgs/${person.personal}/projects`)
      assert.notInclude(page.text, "invited you")
    })
  )

  it.effect("leaving an organization that is not the session's own changes nothing", () =>
    Effect.gen(function* () {
      const { browser, person, state, team } = yield* landed("elsewhere@example.com")
      const other = state.org("Other")
      other.members.set(person.id, "member")
      assert.strictEqual((yield* go(() => browser.post(`/orgs/${other.id}/leave`, {}))).status, 404)
      assert.isTrue(other.members.has(person.id))
      assert.isTrue(team.members.has(person.id))
    })
  )
})
