/**
 * Every way to get one member of a policy wrong, and which of them a caller could notice at all.
 *
 * Two permissions that the same roles hold, or two effects that the same capabilities allow, are one to every caller; so
 * only one of each kind is tried.
 */
import {
  type AgentRule,
  type AnyCaller,
  BranchId,
  type CallEffect,
  type Capability,
  type CredentialPolicy,
  decide,
  decideTarget,
  type PathIds,
  type Permission,
  ProjectId,
  permissionsOf,
  type Reach,
  type Scope
} from "@narthex/core"
import { aBranch, anOrgId, aProjectId, aUser } from "@narthex/core/testing"
import type { Principal } from "./principals.ts"

const effects: ReadonlyArray<CallEffect> = ["self", "read", "write", "mint"]
/** One permission for each set of roles, the weakest first; and none. */
const permissions: ReadonlyArray<Permission | null> = [
  null,
  "read",
  "create_projects",
  "delete_projects",
  "delete_organization"
]
const reaches: ReadonlyArray<Reach> = ["organization", "project", "branch"]
const agents: ReadonlyArray<AgentRule> = ["any", "not_main", "made_by_agent", "never"]

export interface Mutation {
  readonly change: string
  readonly mutated: CredentialPolicy
}

export const mutationsOf = (policy: CredentialPolicy): ReadonlyArray<Mutation> => {
  const changed = <Member extends keyof CredentialPolicy>(
    member: Member,
    values: ReadonlyArray<CredentialPolicy[Member]>
  ): ReadonlyArray<Mutation> =>
    values
      .filter((value) => value !== policy[member])
      .map((value) => ({ change: `${member} is ${value}`, mutated: { ...policy, [member]: value } }))
  return [
    ...changed("kind", ["any", "session"]),
    ...changed("effect", effects),
    ...changed("permission", permissions),
    ...changed("reach", reaches),
    ...changed("agent", agents),
    ...changed("pending", [true, false]),
    ...changed("ex_member", [true, false])
  ]
}

const org_id = anOrgId()
const user = aUser()
const here = { project_id: aProjectId(), branch_id: BranchId.make("br-here"), api_key_id: "key-mine", user_id: user.id }
const elsewhere = {
  project_id: ProjectId.make("prj-there"),
  branch_id: BranchId.make("br-there"),
  api_key_id: "key-other",
  user_id: "somebody"
}

const scopes: ReadonlyArray<Scope> = [
  { type: "organization" },
  { type: "project", project_id: here.project_id },
  { type: "branch", project_id: here.project_id, branch_id: here.branch_id }
]
const capabilities: ReadonlyArray<Capability> = ["read_write", "read", "agent"]

const caller = (role: string | null, account_state: "active" | "pending") => ({
  user,
  org_id,
  organization: { id: org_id, name: "", role, personal: false },
  account_state,
  permissions: permissionsOf(role ?? ""),
  expires_at: null
})

interface Named {
  /** Which caller of the matrix it is, if it is one of them. */
  readonly principal: Principal | undefined
  readonly caller: AnyCaller
}

const sessionNames: Readonly<Record<string, Principal>> = {
  "owner active": "O",
  "admin active": "A",
  "member active": "M",
  "viewer active": "V",
  "null active": "X",
  "owner pending": "P"
}

const wide = { read_write: "KW", read: "KR", agent: "KA" } as const
const narrowed = { read_write: "K", read: "KR", agent: "KA" } as const

const keyName = (name: string, capability: Capability, { type }: Scope): Principal | undefined => {
  if (name === "owner active")
    return type === "organization" ? wide[capability] : `${narrowed[capability]}${type === "project" ? "P" : "B"}`
  if (type !== "organization" || capability !== "read_write") return undefined
  return name === "null active" ? "XK" : name === "owner pending" ? "PK" : undefined
}

/** The callers of the matrix, and others like them: sessions of every role, and keys of owners. */
const callers = (["owner", "admin", "member", "viewer", null] as const).flatMap((role) =>
  (["active", "pending"] as const).flatMap((state): ReadonlyArray<Named> => {
    const name = `${role} ${state}`
    // The compared decisions read no other members of a caller.
    const session = { ...caller(role, state), kind: "session", session_id: "s" } as unknown as AnyCaller
    const keyOf = (capability: Capability, scope: Scope) => {
      const key = { kind: "api_key", api_key_id: here.api_key_id, api_key_name: "k", capability, scope }
      return { ...caller(role, state), ...key } as unknown as AnyCaller
    }
    const keys = role === "owner" || role === null ? scopes : []
    return [
      { principal: sessionNames[name], caller: session },
      ...keys.flatMap((scope) =>
        capabilities.map((capability) => ({
          principal: keyName(name, capability, scope),
          caller: keyOf(capability, scope)
        }))
      )
    ]
  })
)

const branches = [
  undefined,
  ...[true, false].flatMap((main) => [true, false].map((made_by_agent) => ({ main, made_by_agent })))
].map((facts) => facts && { ...aBranch(here.project_id), ...facts })

/** The ids that a path of this form names: each of the caller's own reach, or outside of it. */
const idsOf = (path: string, { kind }: AnyCaller): ReadonlyArray<PathIds> =>
  [...path.matchAll(/:(\w+)/g)]
    .map(([, name = ""]) => name)
    .filter((name): name is keyof typeof here => name in here)
    .reduce<ReadonlyArray<PathIds>>(
      (all, name) => all.flatMap((ids) => [here, elsewhere].map((from) => ({ ...ids, [name]: from[name] }))),
      // The path names the key that calls.
      [path.endsWith("/api-keys/self") && kind === "api_key" ? { api_key_id: here.api_key_id } : {}]
    )

/**
 * The callers whom the two policies answer differently; those of the matrix by their names. A change without such a
 * caller cannot be noticed at all.
 */
export const noticing = (
  one: CredentialPolicy,
  other: CredentialPolicy,
  path: string
): ReadonlyArray<Principal | undefined> => {
  const named = one.target === "branch" || one.target === "endpoint" ? branches.slice(1) : branches.slice(0, 1)
  const differs = (it: AnyCaller) =>
    idsOf(path, it).some((ids) => {
      const [first, second] = [decide(one, it, ids)?.code, decide(other, it, ids)?.code]
      if (first !== second) return true
      return (
        first === undefined &&
        named.some((branch) => decideTarget(one, it, branch)?.code !== decideTarget(other, it, branch)?.code)
      )
    })
  return callers.filter(({ caller: it }) => differs(it)).map(({ principal }) => principal)
}
