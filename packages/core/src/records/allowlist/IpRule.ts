/**
 * A rule of the per-project network allowlist, and what a set of rules means.
 *
 * Expiry is a comparison, not a timer: a rule whose `expires_at` has passed is no longer in force, on every instance at
 * once, and nothing has to run for it. A consequence: when the last rule lapses, the project is open again. `opensAt`
 * says when, so that callers can warn.
 */
import { DateTime, Duration, Option, Result, Schema } from "effect"
import { UserRef } from "../accounts/UserRef.ts"
import { Cidr, contains, type MalformedCidr, parseCidr } from "./Cidr.ts"

/** One network that may connect, and why it was listed. */
export class IpRule extends Schema.Class<IpRule>("IpRule")({
  cidr: Cidr,
  label: Schema.String,
  created_at: Schema.DateTimeUtcFromString,
  created_by: UserRef,
  expires_at: Schema.OptionFromNullOr(Schema.DateTimeUtcFromString)
}) {
  /** At the instant of expiry the rule is no longer in force. */
  inForce(now: DateTime.Utc): boolean {
    return Option.match(this.expires_at, {
      onNone: () => true,
      onSome: (end) => DateTime.isLessThan(now, end)
    })
  }
}

export const AddressFamily = Schema.Literals(["ipv4", "ipv6"])
export type AddressFamily = typeof AddressFamily.Type

/**
 * The list as the API shows it. `opens_at` is when the last rule lapses and nothing is restricted any more.
 * `refused_family` has no rule, while a rule lists every address of the other family. Such a list is probably meant to
 * admit every address, and does not.
 */
export class RulesInForce extends Schema.Class<RulesInForce>("RulesInForce")({
  rules: Schema.Array(IpRule),
  restricted: Schema.Boolean,
  opens_at: Schema.OptionFromNullOr(Schema.DateTimeUtcFromString),
  refused_family: Schema.NullOr(AddressFamily)
}) {}

/**
 * A rule that a caller asks for. `label` has at most 256 characters; `ttl_seconds` left out or `null`: the rule does
 * not expire.
 */
export interface NewIpRule {
  readonly cidr: string
  readonly label?: string | null
  readonly ttl_seconds?: number | null
}

/** No rule lists this network. */
export class IpRuleNotFound extends Schema.TaggedError<IpRuleNotFound>()("IpRuleNotFound", {
  cidr: Schema.String
}) {
  override get message() {
    return `No rule lists ${this.cidr}.`
  }
}

/** Turns a request into a rule that starts at `now`. */
export const makeRule = (input: NewIpRule, by: UserRef, now: DateTime.Utc): Result.Result<IpRule, MalformedCidr> =>
  Result.map(
    parseCidr(input.cidr),
    (cidr) =>
      new IpRule({
        cidr,
        label: (input.label ?? "").trim(),
        created_at: now,
        created_by: by,
        expires_at: Option.map(Option.fromNullishOr(input.ttl_seconds), (seconds) =>
          DateTime.addDuration(now, Duration.seconds(seconds))
        )
      })
  )

/** Whether `address` may connect. A list with no rule in force restricts nothing. */
export const permits = (rules: ReadonlyArray<IpRule>, address: string, now: DateTime.Utc): boolean => {
  const inForce = rules.filter((rule) => rule.inForce(now))
  return inForce.length === 0 || inForce.some((rule) => contains(rule.cidr, address))
}

/** The rules in force at `now`, and what they restrict. */
export const rulesInForce = (stored: ReadonlyArray<IpRule>, now: DateTime.Utc): RulesInForce => {
  const rules = stored.filter((rule) => rule.inForce(now))
  return new RulesInForce({
    rules,
    restricted: rules.length > 0,
    opens_at: opensAt(rules, now),
    refused_family: refusedFamily(rules)
  })
}

const familyOf = ({ cidr }: IpRule): AddressFamily => (cidr.includes(":") ? "ipv6" : "ipv4")

/** The family that is refused as a whole by rules in force of which one admits all of the other family. */
const refusedFamily = (rules: ReadonlyArray<IpRule>): AddressFamily | null => {
  const whole = rules.find(({ cidr }) => cidr.endsWith("/0"))
  if (whole === undefined || rules.some((rule) => familyOf(rule) !== familyOf(whole))) return null
  return familyOf(whole) === "ipv4" ? "ipv6" : "ipv4"
}

/** When the last rule in force lapses and the project opens; `None` if it never will. */
export const opensAt = (rules: ReadonlyArray<IpRule>, now: DateTime.Utc): Option.Option<DateTime.Utc> => {
  const ends = rules.filter((rule) => rule.inForce(now)).map((rule) => rule.expires_at)
  return ends.length === 0
    ? Option.none()
    : Option.map(Option.all(ends), (instants) => instants.reduce((a, b) => DateTime.max(a, b)))
}
