/**
 * The permissions that a caller can use: those of the role, as far as the capability and the scope of a key let them
 * through (docs/design/authorization.md Z15). Which objects they apply to is decided call by call.
 */
import type { Capability } from "../../records/keys/ApiKey.ts"
import { effectsOf, width } from "./decide.ts"
import { Permission } from "./Permission.ts"
import type { CallEffect, Reach } from "./Policy.ts"
import type { AnyCaller } from "./Principal.ts"
import { builtInRoles, type RoleTable } from "./Roles.ts"

interface Use {
  readonly effects: ReadonlyArray<CallEffect>
  readonly reach: Reach
  /** Whether agents' keys may call, if their effects allow it. Left out: they may. */
  readonly agents?: false
}

/** The effects of the calls that ask for a permission, and the narrowest scope that reaches one; `null`: sessions alone. */
const uses: Record<Permission, Use | null> = {
  read: { effects: ["read"], reach: "branch" },
  mint_read_only: { effects: ["mint"], reach: "branch" },
  mint_read_write: { effects: ["mint"], reach: "branch" },
  change_projects: { effects: ["sandbox", "write"], reach: "branch" },
  create_projects: { effects: ["write"], reach: "organization" },
  delete_projects: { effects: ["destroy"], reach: "project" },
  manage_credentials: { effects: ["mint"], reach: "branch" },
  leave: { effects: ["admin"], reach: "organization" },
  rename_organization: { effects: ["admin"], reach: "organization" },
  manage_invitations: { effects: ["admin"], reach: "organization" },
  manage_members: { effects: ["admin"], reach: "organization" },
  read_audit: { effects: ["read"], reach: "organization", agents: false },
  manage_webhooks: { effects: ["admin"], reach: "organization" },
  manage_owners: { effects: ["admin"], reach: "organization" },
  delete_organization: { effects: ["admin"], reach: "organization" },
  own_keys: null,
  manage_keys: null
}

/** The permissions that keys of this capability and scope can use. */
const usableBy = (capability: Capability, scope: Reach): ReadonlySet<Permission> =>
  new Set(
    Permission.literals.filter((permission) => {
      const use = uses[permission]
      return (
        use !== null &&
        !(capability === "agent" && use.agents === false) &&
        width[scope] >= width[use.reach] &&
        use.effects.some((effect) => effectsOf[capability].has(effect))
      )
    })
  )

const usableByScope = (capability: Capability): Readonly<Record<Reach, ReadonlySet<Permission>>> => ({
  branch: usableBy(capability, "branch"),
  project: usableBy(capability, "project"),
  organization: usableBy(capability, "organization")
})

/** For each kind of key. It is asked for each request. */
const usable: Readonly<Record<Capability, Readonly<Record<Reach, ReadonlySet<Permission>>>>> = {
  read_write: usableByScope("read_write"),
  read: usableByScope("read"),
  agent: usableByScope("agent")
}

/**
 * The usable permissions of a role, by its set and the set of the kind of key. Roles are few, and each has one set
 * while the program runs.
 */
const filtered = new WeakMap<ReadonlySet<Permission>, Map<ReadonlySet<Permission>, ReadonlyArray<Permission>>>()

const through = (role: ReadonlySet<Permission>, kind: ReadonlySet<Permission>): ReadonlyArray<Permission> => {
  const ofRole = filtered.get(role) ?? new Map<ReadonlySet<Permission>, ReadonlyArray<Permission>>()
  const known = ofRole.get(kind) ?? [...role].filter((permission) => kind.has(permission))
  filtered.set(role, ofRole.set(kind, known))
  return known
}

/** Whether keys of this capability have an own permission whose calls have this effect (`decideOwn`). */
const usesOwn = (capability: Capability, effect: CallEffect | undefined): boolean =>
  effect !== undefined && effectsOf[capability].has(effect) && (capability !== "agent" || effect === "read")

/** The host's own ones. An object of the host may belong to a branch, so every scope reaches one. */
const ownOf = (caller: AnyCaller, { effectOf, ownPermissionsOf }: RoleTable): ReadonlyArray<string> => {
  const { role } = caller.organization
  const own = role === null ? [] : [...ownPermissionsOf(role)]
  return caller.kind === "session" ? own : own.filter((it) => usesOwn(caller.capability, effectOf(it)))
}

/** In the order of the role's permissions, the host's own ones last. The array is the caller's own. */
export const effectivePermissions = (caller: AnyCaller, roles: RoleTable = builtInRoles): ReadonlyArray<string> => [
  ...(caller.kind === "session"
    ? caller.permissions
    : through(caller.permissions, usable[caller.capability][caller.scope.type])),
  ...ownOf(caller, roles)
]
