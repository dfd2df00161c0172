/**
 * A person whom the host has authenticated in its own way, instead of an id token (docs/design/identity.md I50–I52).
 *
 * The host is the authority for it: the subject is the host's own id of the person, and whether the address is verified
 * is the host's word.
 */
import { Option, Schema } from "effect"
import { isStorable } from "../../Ids.ts"
import { InvalidMember } from "../../Refusals.ts"
import { normalizeEmail } from "../../records/accounts/EmailAddress.ts"

export interface HostIdentity {
  /** The host's id of the person: 1 to 255 characters that never change. */
  readonly subject: string
  readonly email: string | null
  /** Whether the host knows that the address is the person's. Only such an address matches invitations and lists. */
  readonly email_verified: boolean
  readonly name: string | null
}

/** The account is disabled. Only a host learns it: the API answers its credentials like invalid ones. */
export class AccountDisabled extends Schema.TaggedError<AccountDisabled>()("AccountDisabled", {}) {
  override get message() {
    return "The account is disabled. Enable it before the person signs in."
  }
}

/**
 * The id of the provider in sessions that a host began, and the issuer of its subjects. No provider has this issuer.
 */
export const hostProvider = "host"
export const hostIssuer = "urn:narthex:host"

const invalid = (member: keyof HostIdentity, reason: string) =>
  Option.some(new InvalidMember({ path: [member], reason }))

/** The first mistake in an identity, if there is one. */
export const invalidIdentity = ({ email, name, subject }: HostIdentity): Option.Option<InvalidMember> => {
  if (subject.trim() === "" || subject.length > 255 || !isStorable(subject))
    return invalid("subject", "Expected 1 to 255 characters, without NUL and without half of a surrogate pair.")
  if (email !== null && normalizeEmail(email) === undefined) return invalid("email", "Expected an email address.")
  if (name !== null && (name.length > 200 || !isStorable(name)))
    return invalid("name", "Expected at most 200 characters, without NUL and without half of a surrogate pair.")
  return Option.none()
}
