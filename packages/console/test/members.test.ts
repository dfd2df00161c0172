/** The page of members: roles, removal with what it ends, and invitations. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { browserOf } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in to a team in this role, together with Grace, a member. */
const inTeam = Effect.fnUntraced(function* (email: string, role = "owner") {
  const api = yield* Api
  const { founder, grace, person } = yield* go(async () => {
    const person = await api.person(email)
    const founder = await api.team(
      role === "owner" ? person : await api.person(`founder-of-${email}`),
      "Engines & Sons"
    )
    const grace = await api.join(founder, await api.person(`grace-of-${email}`), "member")
    return { founder, grace, person: role === "owner" ? founder : await api.join(founder, person, role) }
  })
  const team = { org_id: founder.org }
  /** The role of a member; `undefined`: not a member. */
  const roleOf = ({ id }: { readonly id: string }) =>
    go(async () => (await founder.client.orgs.members(team)).members.find(({ user_id }) => user_id === id)?.role)
  const invitations = go(async () => (await founder.client.invitations.list(team)).invitations)
  const promote = (role: string) => go(() => founder.client.orgs.changeMember({ ...team, user_id: grace.id, role }))
  return { ...(yield* browserOf(person)), api, founder, grace, invitations, promote, roleOf, team: { id: founder.org } }
})

layer(layerTestConsole(), { excludeTestServices: true })("members", (it) => {
  it.effect("an owner sees every member, and invites by address and role", () =>
    Effect.gen(function* () {
      const { api, browser, grace, home, team } = yield* inTeam("owner@example.com")
      const page = yield* go(() => browser.open(`${home}/members`))
      assert.include(page.text, grace.email)
      assert.include(page.text, "Owner: also makes owners")
      const form_token = fieldIn(page, "form_token")
      const sent = { email: "new@example.com", role: "viewer", form_token }
      const invited = yield* go(() => browser.post(`${home}/invitations`, sent))
      assert.deepStrictEqual([invited.status, invited.headers.get("location")?.split("?")[0]], [303, `${home}/members`])
      const path = `/v1/orgs/${team.id}/invitations`
      const call = api.last("POST", path)
      assert.deepStrictEqual(api.sent("POST", path), { email: "new@example.com", role: "viewer" })
      assert.strictEqual(call?.headers["idempotency-key"], form_token)
      const listed = (yield* go(() => browser.open(`${home}/members`))).text
      assert.include(listed, "new@example.com")
      assert.match(listed, /data-copy="http:\/\/127\.0\.0\.1:\d+\/invitations\?for=[\w.-]+"/)
    })
  )

  it.effect("the row of a member leads to what the person may change about it", () =>
    Effect.gen(function* () {
      const { browser, grace, home, person } = yield* inTeam("rows@example.com")
      const { text } = yield* go(() => browser.open(`${home}/members`))
      assert.include(text, `<a href="${home}/members/${grace.id}#role-card">Change role</a>`)
      assert.include(text, `<a href="${home}/members/${grace.id}#removal" class="danger">Remove</a>`)
      assert.include(text, `<a href="${home}/members/${person.id}#removal" class="danger">Leave</a>`)
      const other = yield* inTeam("rows-of-a-member@example.com", "member")
      const plain = (yield* go(() => other.browser.open(`${other.home}/members`))).text
      assert.include(plain, `<a href="${other.home}/members/${other.person.id}#removal" class="danger">Leave</a>`)
      assert.notInclude(plain, `${other.grace.id}#`)
    })
  )

  it.effect("an invitation is renewed, and revoked, and then it is no longer listed", () =>
    Effect.gen(function* () {
      const { api, browser, founder, home, team } = yield* inTeam("renews@example.com")
      const sent = { org_id: team.id, email: "late@example.com", role: "member" }
      const { invitation } = yield* go(() => founder.client.invitations.invite(sent))
      api.plane.edit(`/v1/orgs/${team.id}/invitations`, ({ invitations, ...more }: { invitations: Array<object> }) => ({
        ...more,
        invitations: invitations.map((it) => ({ ...it, status: "expired" }))
      }))
      assert.include((yield* go(() => browser.open(`${home}/members`))).text, "Expired")
      api.plane.instead = undefined
      const path = `${home}/invitations/${invitation.id}`
      assert.strictEqual((yield* go(() => browser.post(`${path}/resend`, {}))).status, 303)
      assert.isDefined(api.last("POST", `/v1/orgs/${team.id}/invitations/${invitation.id}/resend`))
      assert.strictEqual((yield* go(() => browser.post(`${path}/revoke`, {}))).status, 303)
      assert.notInclude((yield* go(() => browser.open(`${home}/members`))).text, "late@example.com")
      assert.strictEqual((yield* go(() => browser.post(`${home}/invitations/nonsense/revoke`, {}))).status, 404)
    })
  )

  it.effect("an invalid address keeps the draft, and an address that is invited already is a sentence", () =>
    Effect.gen(function* () {
      const { browser, home, invitations } = yield* inTeam("mistakes@example.com")
      const wrong = yield* go(() => browser.post(`${home}/invitations`, { email: "grace at home", role: "admin" }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, 'value="grace at home"')
      assert.include(wrong.text, 'id="email-error"')
      assert.match(wrong.text, /<option value="admin" selected/)
      assert.notInclude(JSON.stringify(yield* invitations), "grace at home")
      const sent = { email: "twice@example.com", role: "member" }
      yield* go(() => browser.post(`${home}/invitations`, sent))
      const twice = yield* go(() => browser.post(`${home}/invitations`, sent))
      assert.strictEqual(twice.status, 409)
      assert.include(twice.text, "An invitation of this address is pending.")
    })
  )

  it.effect("a member is offered no invitation, role or removal, and invitations are not even asked for", () =>
    Effect.gen(function* () {
      const { api, browser, grace, home, team } = yield* inTeam("plain@example.com", "member")
      api.plane.requests.length = 0
      const page = yield* go(() => browser.open(`${home}/members`))
      assert.include(page.text, grace.email)
      assert.notInclude(page.text, "Invite a person")
      assert.isFalse(api.plane.requests.some(({ path }) => path.startsWith(`/v1/orgs/${team.id}/invitations`)))
      const member = yield* go(() => browser.open(`${home}/members/${grace.id}`))
      assert.strictEqual(member.status, 200)
      assert.notInclude(member.text, "Change role")
      assert.notInclude(member.text, "Remove")
    })
  )

  it.effect("a role is changed, and only owners are offered the role of an owner", () =>
    Effect.gen(function* () {
      const { api, browser, grace, home, roleOf, team } = yield* inTeam("changes@example.com")
      const member = `${home}/members/${grace.id}`
      assert.include((yield* go(() => browser.open(member))).text, '<option value="owner"')
      const changed = yield* go(() => browser.post(`${member}/role`, { role: "admin" }))
      assert.strictEqual(changed.status, 303)
      assert.strictEqual(yield* roleOf(grace), "admin")
      assert.strictEqual((yield* go(() => browser.post(`${member}/role`, { role: "a king" }))).status, 422)
      // A role that a host declares.
      api.plane.edit(`/v1/orgs/${team.id}/members`, ({ members, ...more }: { members: Array<object> }) => ({
        ...more,
        members: members.map((it) => ({ ...it, role: "accountant" }))
      }))
      assert.include((yield* go(() => browser.open(member))).text, '<option value="accountant" selected')
      api.plane.instead = undefined

      const other = yield* inTeam("admin@example.com", "admin")
      const page = yield* go(() => other.browser.open(`${other.home}/members/${other.grace.id}`))
      assert.include(page.text, '<option value="admin"')
      assert.notInclude(page.text, '<option value="owner"')
    })
  )

  it.effect("an owner is not changed or removed by an admin", () =>
    Effect.gen(function* () {
      const { browser, grace, home, promote } = yield* inTeam("under@example.com", "admin")
      yield* promote("owner")
      const page = yield* go(() => browser.open(`${home}/members/${grace.id}`))
      assert.notInclude(page.text, "Change role")
      assert.notInclude(page.text, "/remove")
    })
  )

  it.effect("a change of the own role asks for a confirmation, and the last owner's is refused with a sentence", () =>
    Effect.gen(function* () {
      const { browser, home, person, roleOf } = yield* inTeam("self@example.com")
      const me = `${home}/members/${person.id}`
      const unconfirmed = yield* go(() => browser.post(`${me}/role`, { role: "viewer" }))
      assert.strictEqual(unconfirmed.status, 422)
      assert.include(unconfirmed.text, 'id="confirm-error"')
      const last = yield* go(() => browser.post(`${me}/role`, { role: "viewer", confirm: "true" }))
      assert.strictEqual(last.status, 409)
      assert.include(last.text, "The last owner cannot be demoted.")
      assert.strictEqual(yield* roleOf(person), "owner")
    })
  )

  it.effect("the removal names the keys and credentials that end, and may hand credentials over", () =>
    Effect.gen(function* () {
      const { api, browser, founder, grace, home, roleOf, team } = yield* inTeam("removes@example.com")
      yield* go(() => grace.client.apiKeys.create({ name: "graces pipeline", capability: "agent" }))
      const project = yield* go(() => api.project(founder, "shop"))
      const branch = { project_id: project.id, branch_id: project.branch_id }
      const { credential } = yield* go(() => grace.client.branches.mint({ ...branch, access: "read_only" }))
      const page = yield* go(() => browser.open(`${home}/members/${grace.id}`))
      for (const part of ["1 API key", "graces pipeline · Agent", "1 database credential", credential.role, "Hand the"])
        assert.include(page.text, part)
      const removed = yield* go(() => browser.post(`${home}/members/${grace.id}/remove`, { hand_over: "true" }))
      assert.strictEqual(removed.headers.get("location")?.split("?")[0], `${home}/members`)
      assert.isUndefined(yield* roleOf(grace))
      const call = api.last("DELETE", `/v1/orgs/${team.id}/members/${grace.id}`)
      assert.strictEqual(String(call?.query), "hand_over_credentials=true")
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
