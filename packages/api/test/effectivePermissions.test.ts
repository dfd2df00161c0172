/** The permissions that a key shows, against the policies of all calls. */
import { assert, describe, it } from "@effect/vitest"
import { Api, policyOf, RaisedBy } from "@narthex/api"
import { type CredentialPolicy, decide, effectivePermissions, permissionsOf } from "@narthex/core"
import { Context } from "effect"
import { capabilities, keyOf, own, ownBranch, person, scopes } from "../../core/test/authorization/callers.ts"
import { endpointsOf } from "./endpointsOf.ts"

const policies = endpointsOf(Api).flatMap(({ endpoint }): ReadonlyArray<CredentialPolicy> => {
  const policy = policyOf(endpoint)
  const raised = Context.get(endpoint.annotations, RaisedBy)?.policy
  return policy?._tag === "Credential" ? [policy, ...(raised === undefined ? [] : [raised])] : []
})

const owner = person("owner", "active")
const ids = { project_id: own, branch_id: ownBranch }

describe("effective permissions", () => {
  for (const capability of capabilities)
    for (const scope of scopes)
      it(`a ${capability} key of scope ${scope.type} shows exactly the permissions that some call admits`, () => {
        const caller = keyOf(owner, capability, scope)
        const admitted = policies.filter(
          (policy) => policy.target !== "api_key" && decide(policy, caller, ids) === undefined
        )
        const used = new Set(admitted.flatMap(({ permission }) => permission ?? []))
        // Some permissions are asked for inside a call that another permission admits.
        if (used.has("manage_members")) used.add("manage_owners")
        if (used.has("change_projects")) used.add("manage_credentials")
        assert.sameMembers([...effectivePermissions(caller)], [...used])
      })

  it("a session shows the permissions of its role", () => {
    for (const role of ["viewer", "member", "admin", "owner"])
      assert.deepStrictEqual([...effectivePermissions(person(role, "active"))], [...permissionsOf(role)])
  })

  it("a change of a key's list of permissions gives no other key a permission", () => {
    const key = keyOf(person("viewer", "active"), "read", { type: "organization" })
    const shown = effectivePermissions(key)
    // A program in JavaScript can change the list.
    Object.assign(shown, { [shown.length]: "delete_organization" })
    assert.notInclude(effectivePermissions(key), "delete_organization")
  })

  it("a key shows no permission that its creator's role lacks", () => {
    const shown = effectivePermissions(keyOf(person("viewer", "active"), "read_write", { type: "organization" }))
    assert.sameMembers([...shown], ["read", "mint_read_only", "leave"])
  })
})
