/**
 * The people who may sign in (docs/design/identity.md I15, I18): open signup, the sign-in allowlist, pending accounts.
 *
 * Nothing here is stored: turning open signup on admits every pending account, and enabling an account acts on the
 * session that it already holds.
 */
import { Context } from "effect"
import { isListed } from "./EmailAddress.ts"
import type { AccountState, User } from "./User.ts"

export interface AccessSettings {
  readonly open_signup: boolean
  /** `user@dom` or `@dom`; empty: every address. */
  readonly sign_in_allowlist: ReadonlyArray<string>
  readonly invitations_bypass_gate: boolean
}

export const AccessPolicy = Context.Reference<AccessSettings>("@narthex/core/records/accounts/AccessPolicy", {
  defaultValue: () => ({ open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false })
})

export const accountState = (settings: AccessSettings, user: Pick<User, "enabled_at">): AccountState =>
  settings.open_signup || user.enabled_at !== null ? "active" : "pending"

/** Whether this address may sign in. With a list configured, an unverified address matches nothing. */
export const maySignIn = (settings: AccessSettings, who: Pick<User, "email" | "email_verified">): boolean =>
  settings.sign_in_allowlist.length === 0 ||
  (who.email !== null && who.email_verified && isListed(settings.sign_in_allowlist, who.email))
