/**
 * The twins of roles, which clients act as on a read-only endpoint (docs/design/proxy.md P34). Pure.
 *
 * The twin of a role has its verifier, so the role's password works for it, and read-only access. The proxy names the
 * twin in the startup packet of a read-only endpoint. Postgres takes the user from there and ignores the name inside of
 * SCRAM, so the client authenticates with its own password. No client may name a twin itself.
 */
import type { Endpoint } from "./Endpoint.ts"

/** Ends the name of every twin. Minted roles have no such name. */
export const twinSuffix = "__read_only"

/** Postgres truncates longer names, in bytes, so that two names may become one. */
export const longestRoleName = 63

interface Role {
  readonly role: string
  readonly access: "read_write" | "read_only"
}

const bytes = (text: string) => new TextEncoder().encode(text).length

/** The roles that the Postgres of a branch with these endpoints has to know: with their twins if one is read-only. */
export const withTwins = <R extends Role>(
  roles: ReadonlyArray<R>,
  endpoints: ReadonlyArray<Pick<Endpoint, "type">>
): ReadonlyArray<R> => {
  if (!endpoints.some(({ type }) => type === "read_only")) return roles
  const twins = roles.map((role): R => ({ ...role, role: role.role + twinSuffix, access: "read_only" }))
  return [...roles, ...twins.filter(({ role }) => bytes(role) <= longestRoleName)]
}
