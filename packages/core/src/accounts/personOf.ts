/**
 * The person that an organization counts for where people take turns (docs/design/operations.md O7).
 *
 * A personal organization counts for its person. A team organization counts for its founder while the founder is an
 * owner of it, then for its owner of longest standing. One that has no owner counts by itself.
 *
 * Pitfall: counting for an absent founder, or for no person then. A founder who has left would answer for what others do;
 * and a person with a second account could found organizations, hand them to it and have a turn for each.
 */
import { Order } from "effect"
import type { OrgId, UserId } from "../Ids.ts"
import type { Membership } from "./Membership.ts"
import type { Organization } from "./Organization.ts"

/** What decides it. `memberships` may contain other roles, but no other organization's. */
export interface Ownership {
  readonly personal: boolean
  readonly founder: UserId | undefined
  readonly memberships: ReadonlyArray<Membership>
}

const byStanding = Order.combine(
  Order.mapInput(Order.Number, ({ joined_at }: Membership) => joined_at.epochMilliseconds),
  Order.mapInput(Order.String, ({ user_id }: Membership) => user_id)
)

export const personOf = (org: OrgId, { founder, memberships, personal }: Ownership): OrgId | UserId => {
  if (personal) return org // it has the id of its person
  const owners = memberships.filter(({ role }) => role === "owner").toSorted(byStanding)
  return (owners.find(({ user_id }) => user_id === founder) ?? owners[0])?.user_id ?? org
}

/** What decides it for all organizations. */
export interface Ownerships {
  readonly organizations: ReadonlyArray<Organization>
  readonly founders: ReadonlyArray<{ readonly org: OrgId; readonly user: UserId }>
  readonly memberships: ReadonlyArray<Membership>
}

/** `personOf` for any organization. Each is looked for once. */
export const personAmong = ({ founders, memberships, organizations }: Ownerships) => {
  const known = new Map<OrgId, OrgId | UserId>()
  return (org: OrgId): OrgId | UserId => {
    const person =
      known.get(org) ??
      personOf(org, {
        personal: organizations.some(({ id, personal }) => id === org && personal),
        founder: founders.find((it) => it.org === org)?.user,
        memberships: memberships.filter(({ org_id }) => org_id === org)
      })
    known.set(org, person)
    return person
  }
}
