/** The page of members: roles, removal with what it ends, and invitations. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in to a team in this role, together with Grace, a member. */
const inTeam = Effect.fnUntraced(function* (email: string, role = "owner") {
  const { last, state } = yield* ApiDouble
  const team = state.org("Engines & Sons")
  const person = state.person(email)
  const grace = state.person(`grace-of-${email}`)
  team.members.set(person.id, role)
  team.members.set(grace.id, "member")
  const signedIn = yield* signedInAs(email, { org_id: team.id })
  return { ...signedIn, grace, last, state, team }
})

layer(layerTestConsole(), { excludeTestServices: true })("members", (it) => {
  it.effect("an owner sees every member, and invites by address and role", () =>
    Effect.gen(function* () {
      const { browser, grace, home, last, team } = yield* inTeam("owner@example.com")
      const page = yield* go(() => browser.open(`${home}/members`))
      assert.include(page.text, grace.email)
      assert.include(page.text, "Owner: also makes owners")
      assert.match(page.text, /id="invitation-link"[^>]*>http:\/\/[^<]*\/invitations</)
      const form_token = fieldIn(page, "form_token")
      const sent = { email: "new@example.com", role: "viewer", form_token }
      const invited = yield* go(() => browser.post(`${home}/invitations`, sent))
      assert.deepStrictEqual([invited.status, invited.headers.get("location")?.split("?")[0]], [303, `${home}/members`])
      const call = last("POST", `/v1/orgs/${team.id}/invitations`)
      assert.deepStrictEqual(call?.body, { email: "new@example.com", role: "viewer" })
      assert.strictEqual(call?.headers["idempotency-key"], form_token)
      assert.include((yield* go(() => browser.open(`${home}/members`))).text, "new@example.com")
    })
  )

  it.effect("an invitation is renewed, and revoked, and then it is no longer listed", () =>
    Effect.gen(function* () {
      const { browser, home, team } = yield* inTeam("renews@example.com")
      const invited = { id: "0198f3d2-7c1a-7b44-9c55-0000000000f1", email: "late@example.com", role: "member" }
      team.invited.push({ ...invited, status: "expired" })
      assert.include((yield* go(() => browser.open(`${home}/members`))).text, "Expired")
      const path = `${home}/invitations/${invited.id}`
      assert.strictEqual((yield* go(() => browser.post(`${path}/resend`, {}))).status, 303)
      assert.strictEqual(team.invited[0]?.status, "pending")
      assert.strictEqual((yield* go(() => browser.post(`${path}/revoke`, {}))).status, 303)
      assert.notInclude((yield* go(() => browser.open(`${home}/members`))).text, "late@example.com")
      assert.strictEqual((yield* go(() => browser.post(`${home}/invitations/nonsense/revoke`, {}))).status, 404)
    })
  )

  it.effect("an address that is none keeps the draft, and an address that is invited already is a sentence", () =>
    Effect.gen(function* () {
      const { browser, home, team } = yield* inTeam("mistakes@example.com")
      const wrong = yield* go(() => browser.post(`${home}/invitations`, { email: "grace at home", role: "admin" }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, 'value="grace at home"')
      assert.include(wrong.text, 'id="email-error"')
      assert.match(wrong.text, /<option value="admin" selected/)
      assert.lengthOf(team.invited, 0)
      const sent = { email: "twice@example.com", role: "member" }
      yield* go(() => browser.post(`${home}/invitations`, sent))
      const twice = yield* go(() => browser.post(`${home}/invitations`, sent))
      assert.strictEqual(twice.status, 409)
      assert.include(twice.text, "There is an open invitation for this address.")
    })
  )

  it.effect("a member is offered no invitation, role or removal, and invitations are not even asked for", () =>
    Effect.gen(function* () {
      const { seen } = yield* ApiDouble
      const { browser, grace, home, team } = yield* inTeam("plain@example.com", "member")
      const page = yield* go(() => browser.open(`${home}/members`))
      assert.include(page.text, grace.email)
      assert.notInclude(page.text, "Invite a person")
      assert.isFalse(seen.some(({ url }) => url.startsWith(`/v1/orgs/${team.id}/invitations`)))
      const member = yield* go(() => browser.open(`${home}/members/${grace.id}`))
      assert.strictEqual(member.status, 200)
      assert.notInclude(member.text, "Change role")
      assert.notInclude(member.text, "Remove")
    })
  )

  it.effect("a role is changed, and only owners are offered the role of an owner", () =>
    Effect.gen(function* () {
      const { browser, grace, home, team } = yield* inTeam("changes@example.com")
      const member = `${home}/members/${grace.id}`
      assert.include((yield* go(() => browser.open(member))).text, '<option value="owner"')
      const changed = yield* go(() => browser.post(`${member}/role`, { role: "admin" }))
      assert.strictEqual(changed.status, 303)
      assert.strictEqual(team.members.get(grace.id), "admin")
      assert.strictEqual((yield* go(() => browser.post(`${member}/role`, { role: "a king" }))).status, 422)
      // A role that a host declares.
      team.members.set(grace.id, "accountant")
      assert.include((yield* go(() => browser.open(member))).text, '<option value="accountant" selected')

      const other = yield* inTeam("admin@example.com", "admin")
      const page = yield* go(() => other.browser.open(`${other.home}/members/${other.grace.id}`))
      assert.include(page.text, '<option value="admin"')
      assert.notInclude(page.text, '<option value="owner"')
    })
  )

  it.effect("an owner is not changed or removed by an admin", () =>
    Effect.gen(function* () {
      const { browser, grace, home, team } = yield* inTeam("under@example.com", "admin")
      team.members.set(grace.id, "owner")
      const page = yield* go(() => browser.open(`${home}/members/${grace.id}`))
      assert.notInclude(page.text, "Change role")
      assert.notInclude(page.text, "/remove")
    })
  )

  it.effect("a change of the own role asks for a confirmation, and the last owner's is refused with a sentence", () =>
    Effect.gen(function* () {
      const { browser, home, person, team } = yield* inTeam("self@example.com")
      const me = `${home}/members/${person.id}`
      const unconfirmed = yield* go(() => browser.post(`${me}/role`, { role: "viewer" }))
      assert.strictEqual(unconfirmed.status, 422)
      assert.include(unconfirmed.text, 'id="confirm-error"')
      const last = yield* go(() => browser.post(`${me}/role`, { role: "viewer", confirm: "true" }))
      assert.strictEqual(last.status, 409)
      assert.include(last.text, "The last owner cannot be demoted.")
      assert.strictEqual(team.members.get(person.id), "owner")
    })
  )

  it.effect("the removal names the keys and credentials that end, and may hand credentials over", () =>
    Effect.gen(function* () {
      const { browser, grace, home, seen, state, team } = {
        ...(yield* inTeam("removes@example.com")),
        ...(yield* ApiDouble)
      }
      const scope = { type: "organization" }
      state.addKey({
        org_id: team.id,
        name: "graces pipeline",
        capability: "agent",
        scope,
        expires_in_days: null,
        person: grace
      })
      state.addProject(team.id, "shop").credentials.push({ role: "role_grace", access: "read_only", stuck: false })
      const page = yield* go(() => browser.open(`${home}/members/${grace.id}`))
      for (const part of ["1 API key", "graces pipeline · Agent", "1 database credential", "role_grace", "Hand the"])
        assert.include(page.text, part)
      const removed = yield* go(() => browser.post(`${home}/members/${grace.id}/remove`, { hand_over: "true" }))
      assert.strictEqual(removed.headers.get("location")?.split("?")[0], `${home}/members`)
      assert.isFalse(team.members.has(grace.id))
      const call = seen.findLast(({ method }) => method === "DELETE")
      assert.strictEqual(call?.url, `/v1/orgs/${team.id}/members/${grace.id}?hand_over_credentials=true`)
      assert.strictEqual((yield* go(() => browser.open(`${home}/members/${grace.id}`))).status, 404)
    })
  )

  it.effect("a form that was refused has an address that leads back", () =>
    Effect.gen(function* () {
      const { browser, grace, home } = yield* inTeam("reloads@example.com")
      for (const [path, to] of [
        ["invitations", "members"],
        [`members/${grace.id}/role`, `members/${grace.id}`],
        [`members/${grace.id}/remove`, `members/${grace.id}`]
      ])
        assert.strictEqual((yield* go(() => browser.open(`${home}/${path}`))).url.pathname, `${home}/${to}`)
    })
  )
})
