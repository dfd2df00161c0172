/** A team and its owners, as callers who were authenticated while they were owners. */
import { AccountStore, Membership, Organizations, type OrgId, type SessionCaller } from "@narthex/core"
import { DateTime, Effect } from "effect"
import { signIn } from "./world.ts"

export interface Team {
  readonly org: OrgId
  readonly owners: readonly [SessionCaller, SessionCaller, SessionCaller]
}

/** Only the first is a member until `makeOwners`. */
export const teamOf = (name: string) =>
  Effect.gen(function* () {
    const first = yield* signIn(`owner-a-${name}@example.com`)
    const second = yield* signIn(`owner-b-${name}@example.com`)
    const third = yield* signIn(`owner-c-${name}@example.com`)
    const { id: org } = yield* (yield* Organizations).create(first, "team")
    const asOwner = (caller: SessionCaller): SessionCaller => ({
      ...caller,
      org_id: org,
      organization: { ...caller.organization, id: org, personal: false, role: "owner" }
    })
    const team: Team = { org, owners: [asOwner(first), asOwner(second), asOwner(third)] }
    return team
  })

/** Makes these people owners, whatever their roles were. */
export const makeOwners = (org: OrgId, owners: ReadonlyArray<SessionCaller>) =>
  Effect.gen(function* () {
    const accounts = yield* AccountStore
    const joined_at = yield* DateTime.now
    yield* Effect.forEach(owners, ({ user }) =>
      accounts.putMembership(new Membership({ org_id: org, user_id: user.id, role: "owner", joined_at }))
    )
  })
