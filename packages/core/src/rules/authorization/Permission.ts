/**
 * The permissions of roles (docs/design/authorization.md, Effective rights). A role is open text: an unknown role
 * grants nothing.
 */
import { Schema } from "effect"

export const Permission = Schema.Literals([
  "read",
  "mint_read_only",
  "own_keys",
  "leave",
  "create_projects",
  "change_projects",
  "mint_read_write",
  "delete_projects",
  "manage_invitations",
  "manage_members",
  "rename_organization",
  "manage_keys",
  "manage_credentials",
  "read_audit",
  "manage_webhooks",
  "manage_owners",
  "delete_organization"
])
export type Permission = typeof Permission.Type

const viewer: ReadonlyArray<Permission> = ["read", "mint_read_only", "own_keys", "leave"]
const member: ReadonlyArray<Permission> = [...viewer, "create_projects", "change_projects", "mint_read_write"]
const admin: ReadonlyArray<Permission> = [
  ...member,
  "delete_projects",
  "manage_invitations",
  "manage_members",
  "rename_organization",
  "manage_keys",
  "manage_credentials",
  "read_audit",
  "manage_webhooks"
]
const owner: ReadonlyArray<Permission> = [...admin, "manage_owners", "delete_organization"]

const ranked = { viewer, member, admin, owner } as const
export type KnownRole = keyof typeof ranked

/** The roles that this version knows, weakest first. */
export const knownRoles: ReadonlyArray<KnownRole> = ["viewer", "member", "admin", "owner"]

const isKnown = (role: string): role is KnownRole => Object.hasOwn(ranked, role)

const none: ReadonlySet<Permission> = new Set()
const granted: Record<KnownRole, ReadonlySet<Permission>> = {
  viewer: new Set(viewer),
  member: new Set(member),
  admin: new Set(admin),
  owner: new Set(owner)
}

/** The permissions of a role; an unknown role has none. Callers share the sets. */
export const permissionsOf = (role: string): ReadonlySet<Permission> => (isKnown(role) ? granted[role] : none)

/** Whether `role` has every permission of `other`. A member cannot grant a role above their own. */
export const coversRole = (role: string, other: string): boolean =>
  isKnown(role) && isKnown(other) && knownRoles.indexOf(other) <= knownRoles.indexOf(role)

export const isKnownRole = isKnown
