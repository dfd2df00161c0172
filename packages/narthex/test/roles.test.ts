/** Permissions and roles that the host adds. Holds docs/design/authorization.md Z46. */
import { assert, describe, it } from "@effect/vitest"
import { type ControlPlane, type ControlPlaneOptions, createControlPlane } from "../src/index.ts"
import { codeOf } from "./support/codeOf.ts"

type Roles = NonNullable<ControlPlaneOptions["roles"]>

const withRoles = async (work: (cp: ControlPlane) => Promise<void>, roles: Roles) => {
  await using cp = await createControlPlane({ log: "off", roles })
  await work(cp)
}

describe("permissions of the host", () => {
  const roles = {
    permissions: { "invoices.read": "read", "invoices.write": "write" },
    grants: { viewer: ["invoices.read"] }
  } as const

  it("a key has an own permission as far as its capability and its scope let it", () =>
    withRoles(async (cp) => {
      const person = await cp.people.ensure({ subject: "ada" })
      const client = cp.client(await cp.sessions.start(person))
      const { project } = await client.projects.create({ name: "shop" })
      const whole = await cp.authenticate((await client.apiKeys.create({ name: "a", capability: "read" })).secret)
      const scope = { type: "project", project_id: project.id } as const
      const narrow = await cp.authenticate((await client.apiKeys.create({ name: "b", scope })).secret)
      await whole.require("invoices.read")
      assert.strictEqual(await codeOf(whole.require("invoices.write")), "capability_insufficient")
      assert.strictEqual(await codeOf(whole.require("invoices.read", { org_id: "another" })), "not_found")
      await narrow.require("invoices.write", { project_id: project.id })
      assert.strictEqual(await codeOf(narrow.require("invoices.write")), "scope_insufficient")
      assert.strictEqual(await codeOf(narrow.require("invoices.undeclared")), "scope_insufficient")
    }, roles))

  it("an invitation grants an own role, whose permissions its member and that member's keys have", () =>
    withRoles(
      async (cp) => {
        const person = async (subject: string) => {
          const email = `${subject}@example.com`
          return cp.client(await cp.sessions.start(await cp.people.ensure({ subject, email, email_verified: true })))
        }
        const [ada, bob] = [await person("ada"), await person("bob")]
        const { organization } = await ada.orgs.create({ name: "team" })
        const org_id = organization.id
        await ada.auth.switchOrg({ org_id })
        const invited = (role: string) => ada.invitations.invite({ org_id, email: "bob@example.com", role })
        assert.strictEqual(await codeOf(invited("bookkeeper")), "invalid_request")
        assert.strictEqual((await invited("accountant")).invitation.role, "accountant")
        const [offer] = (await bob.ownInvitations.list()).invitations
        await bob.ownInvitations.accept({ invitation_id: offer?.id ?? "none" })
        await bob.auth.switchOrg({ org_id })
        assert.includeMembers([...(await bob.auth.whoami()).permissions], ["read", "invoices.read", "invoices.write"])
        const { secret } = await bob.apiKeys.create({ name: "books", capability: "read" })
        const key = await cp.authenticate(secret)
        assert.deepStrictEqual(key.permissions, (await cp.client(secret).auth.whoami()).permissions)
        assert.include(key.permissions, "invoices.read")
        assert.notInclude(key.permissions, "invoices.write")
        const { user } = await bob.auth.whoami()
        const member = { org_id, user_id: user.id }
        assert.strictEqual(await codeOf(ada.orgs.changeMember({ ...member, role: "bookkeeper" })), "invalid_request")
        await ada.orgs.changeMember({ ...member, role: "viewer" })
        assert.strictEqual((await ada.orgs.changeMember({ ...member, role: "accountant" })).member.role, "accountant")
        const { access_token } = await cp.sessions.start(user.id)
        const caller = await cp.authenticate((await cp.client(access_token).auth.switchOrg({ org_id })).access_token)
        await caller.require("invoices.write")
      },
      { ...roles, roles: { accountant: { like: "viewer", permissions: ["invoices.write"] } } }
    ))

  it("additions that contradict the built-in roles are refused", async () => {
    const wrong = { permissions: {}, roles: { owner: { permissions: [] } } }
    assert.strictEqual(await codeOf(createControlPlane({ log: "off", roles: wrong })), "invalid_options")
  })
})
