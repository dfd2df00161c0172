/** Permissions and roles that a host adds to the built-in table (docs/design/authorization.md Z45 to Z48). */
import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import type { Capability, Scope } from "../../src/records/keys/ApiKey.ts"
import { decideOwn } from "../../src/rules/authorization/decideOwn.ts"
import { effectivePermissions } from "../../src/rules/authorization/effectivePermissions.ts"
import { knownRoles, permissionsOf } from "../../src/rules/authorization/Permission.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import {
  builtInRoles,
  layerRoles,
  MalformedRoles,
  type RoleAdditions,
  Roles
} from "../../src/rules/authorization/Roles.ts"
import { Invitations } from "../../src/services/organizations/Invitations.ts"
import { Organizations } from "../../src/services/organizations/Organizations.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { aBranchId, aProjectId } from "../../testing/records.ts"
import { callerOf, People, sessionCallerOf, signIn } from "../memory/core.ts"
import { team } from "../sign-in/inTest.ts"
import { ownBranch as branchInScope, capabilities, own as inScope, keyOf, person, scopes } from "./callers.ts"

const additions: RoleAdditions = {
  permissions: { "invoices.read": "read", "invoices.write": "write", "invoices.void": "destroy" },
  grants: { viewer: ["invoices.read"], admin: ["invoices.write"] },
  roles: {
    accountant: { like: "viewer", permissions: ["invoices.write"] },
    robot: { permissions: ["invoices.void"] }
  }
}

const table = Effect.provide(Roles, layerRoles(additions))

it.effect("additions leave the built-in permissions and the order of built-in roles as they are", () =>
  Effect.gen(function* () {
    const roles = yield* table
    for (const role of [...knownRoles, "unknown", "constructor"]) {
      assert.deepStrictEqual(roles.permissionsOf(role), permissionsOf(role))
      for (const other of [...knownRoles, "unknown", "__proto__"])
        assert.strictEqual(roles.covers(role, other), builtInRoles.covers(role, other), `${role} ${other}`)
    }
  })
)

it.effect("roles above a built-in one have its own permissions, owners have all, own roles have theirs", () =>
  Effect.gen(function* () {
    const roles = yield* table
    const own = (role: string) => [...roles.ownPermissionsOf(role)].sort()
    assert.deepStrictEqual(own("viewer"), ["invoices.read"])
    assert.deepStrictEqual(own("member"), ["invoices.read"])
    assert.deepStrictEqual(own("admin"), ["invoices.read", "invoices.write"])
    assert.deepStrictEqual(own("owner"), ["invoices.read", "invoices.void", "invoices.write"])
    assert.deepStrictEqual(own("accountant"), ["invoices.read", "invoices.write"])
    assert.deepStrictEqual(own("robot"), ["invoices.void"])
    assert.deepStrictEqual(own("unknown"), [])
    assert.deepStrictEqual(roles.permissionsOf("accountant"), permissionsOf("viewer"))
    assert.deepStrictEqual([...roles.permissionsOf("robot")], [])
    assert.deepStrictEqual(
      [...knownRoles, "accountant", "robot"].filter((role) => roles.covers(role, "accountant")),
      ["admin", "owner", "accountant"]
    )
    assert.deepStrictEqual(
      [...knownRoles, "accountant", "robot"].filter((role) => roles.covers(role, "robot")),
      ["owner", "robot"]
    )
  })
)

it.effect("additions that contradict themselves or the built-in table stop the start", () =>
  Effect.gen(function* () {
    const wrong: ReadonlyArray<RoleAdditions> = [
      { permissions: { read: "read" } },
      { permissions: { manage_owners: "read" } },
      { permissions: { "Invoices.read": "read" } },
      { permissions: {}, grants: { viewer: ["invoices.read"] } },
      { permissions: {}, roles: { accountant: { permissions: ["manage_owners"] } } },
      { permissions: {}, roles: { viewer: { permissions: [] } } },
      { permissions: {}, roles: { owner: { permissions: [] } } },
      { permissions: {}, roles: { "": { permissions: [] } } },
      { permissions: {}, grants: Object.fromEntries([["accountant", []]]) }
    ]
    for (const it of wrong)
      assert.instanceOf(yield* Effect.flip(Effect.provide(Effect.void, layerRoles(it))), MalformedRoles)
  })
)

const project = aProjectId()
const [own, other] = [{ project_id: project }, { project_id: aProjectId() }]

it.effect("an own permission asks for account, membership, scope, capability and role, in this order", () =>
  Effect.gen(function* () {
    const roles = yield* table
    const { access_token } = yield* signIn("ada")
    const session = yield* callerOf(access_token)
    const as = (role: string | null, rest: object = {}): AnyCaller => ({
      ...session,
      ...rest,
      organization: { ...session.organization, role }
    })
    const key = (capability: Capability, scope: Scope, role = "owner") =>
      as(role, { kind: "api_key", api_key_id: "key", api_key_name: "", capability, scope })
    const whole: Scope = { type: "organization" }
    const narrow: Scope = { type: "project", project_id: project }
    const branch: Scope = { type: "branch", project_id: project, branch_id: aBranchId() }
    const code = (caller: AnyCaller, permission: string, ids = {}) => decideOwn(roles, permission, caller, ids)?.code
    assert.isUndefined(code(as("viewer"), "invoices.read"))
    assert.strictEqual(code(as("viewer"), "invoices.write"), "role_insufficient")
    assert.isUndefined(code(as("accountant"), "invoices.write"))
    assert.isUndefined(code(as("owner"), "invoices.void"))
    assert.strictEqual(code(as("owner"), "invoices.undeclared"), "role_insufficient")
    assert.strictEqual(code(as("unknown"), "invoices.read"), "role_insufficient")
    assert.strictEqual(code(as(null), "invoices.read"), "not_a_member")
    assert.strictEqual(code(as("owner", { account_state: "pending" }), "invoices.read"), "alpha_pending")
    assert.isUndefined(code(key("read_write", whole), "invoices.void"))
    assert.isUndefined(code(key("read", whole), "invoices.read"))
    assert.strictEqual(code(key("read", whole), "invoices.write"), "capability_insufficient")
    assert.isUndefined(code(key("agent", whole), "invoices.read"))
    assert.strictEqual(code(key("agent", whole), "invoices.write"), "capability_insufficient")
    assert.isUndefined(code(key("read_write", narrow), "invoices.write", own))
    assert.strictEqual(code(key("read_write", narrow), "invoices.write", other), "scope_insufficient")
    assert.strictEqual(code(key("read_write", narrow), "invoices.write"), "scope_insufficient")
    assert.strictEqual(code(key("read_write", branch), "invoices.write", own), "scope_insufficient")
    assert.strictEqual(code(key("read", narrow), "invoices.write", other), "scope_insufficient")
    assert.strictEqual(code(key("read_write", whole, "viewer"), "invoices.write"), "role_insufficient")
  }).pipe(Effect.provide(People))
)

it.effect("a caller shows exactly the own permissions that it has on some object of the host", () =>
  Effect.gen(function* () {
    const effects = ["read", "write", "sandbox", "mint", "destroy", "admin", "self"] as const
    const permissions = Object.fromEntries(effects.map((effect) => [`invoices.${effect}`, effect]))
    const roles = yield* Effect.provide(Roles, layerRoles({ permissions }))
    const owner = person("owner", "active")
    const ids = { project_id: inScope, branch_id: branchInScope }
    const admitted = (caller: AnyCaller) =>
      Object.keys(permissions).filter((it) => decideOwn(roles, it, caller, ids) === undefined)
    const shown = (caller: AnyCaller) => effectivePermissions(caller, roles).filter((it) => it.includes("."))
    for (const capability of capabilities)
      for (const scope of scopes) {
        const caller = keyOf(owner, capability, scope)
        assert.deepStrictEqual(shown(caller), admitted(caller), `${capability} ${scope.type}`)
      }
    for (const role of ["owner", "viewer", null])
      assert.deepStrictEqual(shown(person(role, "active")), admitted(person(role, "active")))
  })
)

it.effect("an own role is granted by those who have all of its permissions, and acts at once", () =>
  Effect.gen(function* () {
    const [organizations, invitations] = [yield* Organizations, yield* Invitations]
    const sessions = yield* Sessions
    const founder = (yield* signIn("owner")).access_token
    const { id } = yield* team(founder)
    const owner = yield* sessionCallerOf((yield* sessions.switchOrg(yield* sessionCallerOf(founder), id)).access_token)
    yield* invitations.create(owner, { email: "admin@example.com", role: "admin" })
    yield* invitations.create(owner, { email: "ada@example.com", role: "robot" })
    const admin = yield* sessionCallerOf((yield* signIn({ subject: "admin", email: "admin@example.com" })).access_token)
    const ada = (yield* signIn({ subject: "ada", email: "ada@example.com" })).access_token
    assert.strictEqual(admin.org_id, owner.org_id)
    const robot = yield* callerOf(ada)
    assert.deepStrictEqual([robot.organization.role, [...robot.permissions]], ["robot", []])
    const byAdmin = (role: string) => organizations.changeRole(admin, robot.user.id, role, false)
    assert.strictEqual((yield* Effect.flip(byAdmin("robot")))._tag, "Refused")
    assert.strictEqual((yield* byAdmin("accountant")).role, "accountant")
    const unknown = yield* Effect.flip(invitations.create(owner, { email: "eve@example.com", role: "unheard" }))
    assert.strictEqual(unknown._tag, "InvalidMember")
    const roles = yield* Roles
    assert.isUndefined(decideOwn(roles, "invoices.write", yield* callerOf(ada)))
  }).pipe(Effect.provide(Layer.provideMerge(People, layerRoles(additions))))
)
