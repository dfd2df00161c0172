/**
 * The account that a development provider signs in: any address, as typed. There is no directory of accounts.
 *
 * `sub`, which is the account id too, is a digest of the address and therefore stable. Both issuers give the same `sub`
 * on purpose: a person is `(iss, sub)` (OpenID Connect Core §5.7), and an application that compares `sub` alone fails
 * here.
 */
import { createHash } from "node:crypto"
import { type Option, Schema } from "effect"
import { BoundedMap } from "./BoundedMap.ts"

// One address, not RFC 5322: something, the last @, something, and nothing invisible.
const address = /^[^\s\p{Cc}]+@[^\s@\p{Cc}]+$/u

export const Address = Schema.String.check(
  Schema.makeFilter(
    (text) =>
      (address.test(text) && text.length <= 254) || "must be an address like ada@example.com, at most 254 characters"
  )
)

export const PersonName = Schema.String.check(
  Schema.makeFilter(
    (text) => (text.trim() !== "" && text.length <= 200) || "must be a name of 1 to 200 characters, or left out"
  )
)

export class DevAccount extends Schema.Class<DevAccount>("DevAccount")({
  email: Address,
  email_verified: Schema.Boolean,
  name: PersonName
}) {
  get sub() {
    return subjectOf(this.email)
  }

  /** The claims of this account in its id tokens. */
  get claims() {
    return { sub: this.sub, email: this.email, email_verified: this.email_verified, name: this.name }
  }

  /** The account as base64url, for a cookie. */
  get encoded() {
    return Buffer.from(encode(this)).toString("base64url")
  }
}

const Text = Schema.fromJsonString(DevAccount)
const encode = Schema.encodeSync(Text)
const decode = Schema.decodeUnknownOption(Text)

/** The account of a cookie value, or none if `encoded` did not write the value. */
export const decodeAccount = (word: string): Option.Option<DevAccount> =>
  decode(Buffer.from(word, "base64url").toString("utf8"))

/**
 * Accounts by `sub`, from the form until the code is redeemed. A later form replaces an earlier one of the same
 * address.
 */
export type RecentAccounts = BoundedMap<DevAccount>

export const recentAccounts = (): RecentAccounts => new BoundedMap(1_000)

/** The subject of an address. ASCII letters are compared without case. */
const subjectOf = (email: string) =>
  createHash("sha256")
    .update(email.replace(/[A-Z]/g, (letter) => letter.toLowerCase()))
    .digest("base64url")
    .slice(0, 22)

/** The name of an account that gave none: the local part of its address. */
export const nameFor = (email: string) => email.slice(0, email.lastIndexOf("@")).slice(0, 200)
