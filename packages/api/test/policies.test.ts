/** Holds the policies to the matrix of docs/design/authorization.md, as far as the path alone decides. */
import { assert, describe, it } from "@effect/vitest"
import { Api, Authentication, OwnToken, PolicyCheck, ProxyAuthentication, policyOf } from "@narthex/api"
import { type AnyCaller, type CredentialPolicy, decide, decideTarget, type PathIds } from "@narthex/core"
import { aKeyCaller, matrixCallers, matrixIds, matrixScopes, refusalLetters } from "@narthex/core/testing"
import type { HttpApiEndpoint } from "effect/http-api"
import { endpointsOf } from "./endpointsOf.ts"

const { org_id, project_id } = matrixIds
const { A, KA, KB, KP, KR, KW, M, O, P, V, X } = matrixCallers

const own: PathIds = { org_id, project_id, branch_id: matrixIds.branch_id, endpoint_id: "ep-1", operation_id: "op-1" }
const otherBranch: PathIds = { ...own, branch_id: "br-2" }
const otherProject: PathIds = { ...otherBranch, project_id: "prj-2" }

/** The columns of the table below: P X O A M V KW KP KP' KB KB' KR KA. A dash is the other project or branch. */
const columns: ReadonlyArray<readonly [AnyCaller, PathIds]> = [
  ...[P, X, O, A, M, V, KW, KP].map((caller) => [caller, own] as const),
  [KP, otherProject],
  [KB, own],
  [KB, otherBranch],
  [KR, own],
  [KA, own]
]

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
  "an .... sssssss": ["auth.account", "apiKeys.create", "apiKeys.createBare", "apiKeys.rotate", "cli.authorize"],
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
    "projects.overview",
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
      return refusal === undefined ? "." : refusalLetters[refusal.code]
    })
    .join("")
}

/** On main, on a branch that an agent key made, on any other. */
const agentOn = (name: string): string => {
  const policy = credentialPolicies.get(name)
  if (policy === undefined) return "no such call"
  return [
    { main: true, made_by_agent: true },
    { main: false, made_by_agent: true },
    { main: false, made_by_agent: false }
  ]
    .map((branch) => (decideTarget(policy, KA, branch) === undefined ? "." : "c"))
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
      for (const scope of Object.values(matrixScopes))
        for (const capability of ["read_write", "read", "agent"] as const) {
          const caller = aKeyCaller(capability, scope)
          assert.isUndefined(decide(policy, caller, { api_key_id: "key-own" }), name)
          assert.strictEqual(decide(policy, caller, { api_key_id: "key-other" })?.code, "key_self_only", name)
        }
      assert.strictEqual(decide(policy, X, { api_key_id: "key-own" })?.code, "not_a_member", name)
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
