/** Roles in words, and which ones a person may grant (docs/design/authorization.md, Effective rights). */
import { knownRoles } from "@narthex/api"

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

/**
 * The built-in roles that a person with these permissions may grant to a member who has `present`, weakest first: the
 * person's role may be one of the host's own. The API decides; this only leaves out what it would refuse.
 */
export const rolesToGrant = (permissions: ReadonlyArray<string>, present: string | null): ReadonlyArray<string> => {
  const owners = permissions.includes("manage_owners")
  if (!permissions.includes("manage_members") || (present === "owner" && !owners)) return []
  return knownRoles.filter((it) => it !== "owner" || owners)
}

export const roleChoices = (roles: ReadonlyArray<string>) =>
  roles.map((role) => ({ value: role, label: roleLabel(role) }))
