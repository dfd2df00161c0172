/** Roles in words, and which ones a person may grant (docs/design/authorization.md, Effective rights). */
import { coversRole, knownRoles } from "@narthex/api"

const meanings: Readonly<Record<string, string>> = {
  viewer: "sees everything, connects read-only",
  member: "creates and changes projects, connects read-write",
  admin: "also deletes projects, manages people and all keys",
  owner: "also makes owners, and deletes the organization"
}

/** `member: creates and changes projects, connects read-write`. A role of a newer version, or of a host, is its name. */
export const roleLabel = (role: string): string => {
  const meaning = meanings[role]
  const name = role.charAt(0).toUpperCase() + role.slice(1)
  return meaning === undefined ? name : `${name}: ${meaning}`
}

export interface Granting {
  readonly role: string | null
  readonly permissions: ReadonlyArray<string>
}

/**
 * The roles that the person may grant to a member who has `present`, weakest first. Only owners make and change owners,
 * and no role above the own one is granted. The API decides; this only leaves out what it would refuse.
 */
export const rolesToGrant = ({ permissions, role }: Granting, present: string | null): ReadonlyArray<string> => {
  const owners = permissions.includes("manage_owners")
  if (role === null || (present === "owner" && !owners)) return []
  return knownRoles.filter((it) => coversRole(role, it) && (it !== "owner" || owners))
}

export const roleChoices = (roles: ReadonlyArray<string>) =>
  roles.map((role) => ({ value: role, label: roleLabel(role) }))
