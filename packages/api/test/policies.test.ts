/** Holds the policies to the matrix of docs/design/authorization.md, as far as the path alone decides. */
import { assert, describe, it } from "@effect/vitest"
import { Api, Authentication, OwnToken, PolicyCheck, ProxyAuthentication, policyOf } from "@narthex/api"
import {
  type AnyCaller,
  ApiKeyId,
  BranchId,
  type Capability,
  type CredentialPolicy,
  decide,
  decideTarget,
  OrgId,
  type PathIds,
  ProjectId,
  permissionsOf,
  type Scope,
  SessionId,
  User,
  UserId
} from "@narthex/core"
import { DateTime } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { endpointsOf } from "./endpointsOf.ts"

const org_id = OrgId.make("o-1")
const user = new User({
  id: UserId.make("u-1"),
  issuer: "https://id.example",
  subject: "1",
  email: "ada@example.com",
  email_verified: true,
  name: null,
  created_at: DateTime.makeUnsafe(0),
  enabled_at: null,
  disabled_at: null
})

const person = (role: string | null, account_state: "active" | "pending" = "active") => ({
  user,
  org_id,
  organization: { id: org_id, name: "o", role, personal: false },
  invited_by: null,
  account_state,
  permissions: permissionsOf(role ?? ""),
  expires_at: null
})

const session = (role: string | null, state?: "pending"): AnyCaller => ({
  ...person(role, state),
  kind: "session",
  session_id: SessionId.make("s-1")
})

const key = (capability: Capability, scope: Scope): AnyCaller => ({
  ...person("owner"),
  kind: "api_key",
  api_key_id: ApiKeyId.make("key-own"),
  api_key_name: "k",
  capability,
  scope,
  secret: { digest: "digest", pepper_id: "1", dies_at: null }
})

const project_id = ProjectId.make("prj-1")
const ofProject: Scope = { type: "project", project_id }
const ofBranch: Scope = { type: "branch", project_id, branch_id: BranchId.make("br-1") }
const ofOrganization: Scope = { type: "organization" }

const own: PathIds = { org_id, project_id, branch_id: "br-1", endpoint_id: "ep-1", operation_id: "op-1" }
const otherBranch: PathIds = { ...own, branch_id: "br-2" }
const otherProject: PathIds = { ...otherBranch, project_id: "prj-2" }

/** The columns of the table below: P X O A M V KW KP KP' KB KB' KR KA. A dash is the other project or branch. */
const columns: ReadonlyArray<readonly [AnyCaller, PathIds]> = [
  [session("owner", "pending"), own],
  [session(null), own],
  [session("owner"), own],
  [session("admin"), own],
  [session("member"), own],
  [session("viewer"), own],
  [key("read_write", ofOrganization), own],
  [key("read_write", ofProject), own],
  [key("read_write", ofProject), otherProject],
  [key("read_write", ofBranch), own],
  [key("read_write", ofBranch), otherBranch],
  [key("read", ofOrganization), own],
  [key("agent", ofOrganization), own]
]

const letters = {
  alpha_pending: "a",
  not_a_member: "n",
  session_required: "s",
  key_self_only: "k",
  scope_insufficient: "i",
  capability_insufficient: "c",
  role_insufficient: "r"
} as const

/** What each credential gets before anything is looked up: a letter of the matrix, or a dot for going on. */
const matrix: Record<string, ReadonlyArray<string>> = {
  "..... . .......": ["auth.whoami", "auth.clientAddress"],
  ".. .... .iiiicc": ["ownInvitations.list", "ownInvitations.accept", "ownInvitations.decline"],
  ".. .... sssssss": ["auth.switchOrg", "auth.sessions", "auth.endSession"],
  "an .... .......": ["apiKeys.list", "apiKeys.listBare", "regions.list", "projects.list"],
  "an .... .iiii..": [
    "apiKeys.get",
    "orgs.list",
    "orgs.get",
    "orgs.usage",
    "orgs.members",
    "events.stream",
    "events.history"
  ],
  "an .... sssssss": ["apiKeys.create", "apiKeys.createBare", "apiKeys.rotate", "cli.authorize"],
  "a. .... sssssss": ["orgs.create"],
  "an ...r .iiiicc": ["projects.create"],
  "an ..rr .iiiicc": [
    "orgs.rename",
    "orgs.changeMember",
    "invitations.list",
    "invitations.invite",
    "invitations.resend",
    "invitations.revoke"
  ],
  "an .... .iiiicc": ["orgs.removeMember", "orgs.holdings"],
  "an .rrr .iiiicc": ["orgs.delete"],
  "an .... ..iii..": [
    "projects.get",
    "ipAllow.list",
    "ipAllow.check",
    "ipAllow.refusals",
    "events.projectStream",
    "events.projectHistory"
  ],
  "an ...r ..iiicc": [
    "projects.rename",
    "ipAllow.add",
    "ipAllow.remove",
    "ipAllow.removeSplit",
    "ipAllow.reset",
    "branches.setDefault"
  ],
  "an ..rr ..iiicc": ["projects.delete"],
  "an .... ..i....": ["branches.list", "endpoints.list", "endpoints.get", "operations.list", "operations.get"],
  "an .... ..i.i..": ["branches.get", "branches.credentials"],
  "an ...r ..iiic.": ["branches.create", "sandboxes.create", "endpoints.create", "branches.delete", "endpoints.delete"],
  "an ...r ..i.ic.": ["branches.change", "branches.reset"],
  "an ...r ..i..c.": ["endpoints.change", "endpoints.start", "endpoints.suspend"],
  "an ...r ..i..cc": ["operations.cancel"],
  "an .... ..i.ic.": ["branches.mint", "branches.revokeCredential"]
}

const listed = endpointsOf(Api).map(({ endpoint, group }) => ({ endpoint, name: `${group}.${endpoint.identifier}` }))

const credentialPolicies = new Map(
  listed.flatMap(({ endpoint, name }): ReadonlyArray<readonly [string, CredentialPolicy]> => {
    const policy = policyOf(endpoint)
    return policy?._tag === "Credential" ? [[name, policy]] : []
  })
)

/** Only what the path of the endpoint names. */
const idsIn = (endpoint: HttpApiEndpoint.Top, ids: PathIds): PathIds =>
  Object.fromEntries(
    Object.entries({ ...ids, api_key_id: "key-other" }).filter(([name]) => endpoint.path.includes(`:${name}`))
  )

const rowOf = (name: string): string => {
  const endpoint = listed.find((it) => it.name === name)?.endpoint
  const policy = credentialPolicies.get(name)
  if (endpoint === undefined || policy === undefined) return "no such call"
  return columns
    .map(([caller, ids]) => {
      const refusal = decide(policy, caller, idsIn(endpoint, ids))
      return refusal === undefined ? "." : letters[refusal.code]
    })
    .join("")
}

const agent = key("agent", ofOrganization)
/** On main, on a branch that an agent key made, on any other. */
const agentOn = (name: string): string => {
  const policy = credentialPolicies.get(name)
  if (policy === undefined) return "no such call"
  return [
    { main: true, made_by_agent: true },
    { main: false, made_by_agent: true },
    { main: false, made_by_agent: false }
  ]
    .map((branch) => (decideTarget(policy, agent, branch) === undefined ? "." : "c"))
    .join("")
}

describe("policies", () => {
  it("every endpoint has one policy and the middleware for it", () => {
    for (const { endpoint, name } of listed) {
      const policy = policyOf(endpoint)
      assert.isDefined(policy, name)
      const wanted = {
        Anonymous: [],
        OwnToken: [OwnToken],
        Proxy: [ProxyAuthentication],
        Credential: [PolicyCheck, Authentication]
      }[policy?._tag ?? "Anonymous"].map(({ key: id }) => id)
      const guards = [PolicyCheck, Authentication, OwnToken, ProxyAuthentication].map(({ key: id }) => id)
      const has = Array.from(endpoint.middlewares, ({ key: id }) => id).filter((id) => guards.includes(id))
      assert.deepStrictEqual(has, wanted, name)
    }
  })

  it("every call with a credential policy is in the matrix", () => {
    assert.sameMembers(
      [...Object.values(matrix).flat(), "apiKeys.revoke", "apiKeys.revokeSelf"],
      [...credentialPolicies.keys()]
    )
  })

  for (const [row, names] of Object.entries(matrix)) {
    for (const name of names) {
      it(`${name} is ${row}`, () => {
        assert.strictEqual(rowOf(name), row.replaceAll(" ", ""))
      })
    }
  }

  it("a key revokes itself whatever its capability, and no other", () => {
    for (const name of ["apiKeys.revoke", "apiKeys.revokeSelf"]) {
      const policy = credentialPolicies.get(name)
      assert.isDefined(policy)
      if (policy === undefined) continue
      for (const scope of [ofOrganization, ofProject, ofBranch])
        for (const capability of ["read_write", "read", "agent"] as const) {
          const caller = key(capability, scope)
          assert.isUndefined(decide(policy, caller, { api_key_id: "key-own" }), name)
          assert.strictEqual(decide(policy, caller, { api_key_id: "key-other" })?.code, "key_self_only", name)
        }
      assert.strictEqual(decide(policy, session(null), { api_key_id: "key-own" })?.code, "not_a_member", name)
    }
  })

  it("agent keys may not change main branches", () => {
    const rows: Record<string, ReadonlyArray<string>> = {
      "c.c": ["branches.change", "branches.reset", "branches.delete", "endpoints.change", "endpoints.delete"],
      "c..": ["endpoints.suspend"],
      "...": ["endpoints.start", "branches.mint", "branches.create", "sandboxes.create", "endpoints.create"]
    }
    for (const [row, names] of Object.entries(rows))
      for (const name of names) assert.strictEqual(agentOn(name), row, name)
  })

  it("a call that reveals a connection secret is a mint or a sandbox", () => {
    assert.strictEqual(credentialPolicies.get("branches.mint")?.effect, "mint")
    assert.strictEqual(credentialPolicies.get("sandboxes.create")?.effect, "sandbox")
  })
})
