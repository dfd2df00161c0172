/**
 * Limits the open streams per principal, organization and instance, and the rate of opening them (docs/design/events.md
 * E24, step 1). The counts are of this instance. A refusal counts as an opening too.
 */
import { Option, Schema } from "effect"
import type { EventLimits } from "../../../records/events/EventSettings.ts"
import type { StreamAccess } from "./StreamAccess.ts"

export class TooManyStreams extends Schema.TaggedError<TooManyStreams>()("TooManyStreams", {
  limit: Schema.Literals(["principal", "organization", "instance", "opens"]),
  held: Schema.Int,
  allowed: Schema.Int,
  retry_after_seconds: Schema.Int
}) {
  override get message() {
    return this.limit === "opens"
      ? `${this.held} event streams were opened within a second, and ${this.allowed} may be. Come back later.`
      : `${this.held} event streams of this ${this.limit} are open, and ${this.allowed} may be. Close some, or come back later.`
  }
}

/** An API key is counted on its own; the sessions of a user are counted together. */
const principalKey = ({ principal }: StreamAccess) => principal.api_key_id ?? principal.user_id

const bump = (counts: Map<string, number>, key: string, by: number) => {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

export class StreamLimits {
  readonly #limits: EventLimits | null
  readonly #principals = new Map<string, number>()
  readonly #orgs = new Map<string, number>()
  #all = 0
  #second = 0
  readonly #opens = new Map<string, number>()

  constructor(limits: EventLimits | null) {
    this.#limits = limits
  }

  /** Takes a place, or returns the limit that is reached. `now` in milliseconds. */
  take(access: StreamAccess, now: number): Option.Option<TooManyStreams> {
    const principal = principalKey(access)
    if (Math.floor(now / 1_000) !== this.#second) {
      this.#second = Math.floor(now / 1_000)
      this.#opens.clear()
    }
    bump(this.#opens, principal, 1)
    const refused = this.#limits === null ? undefined : this.#exceeded(this.#limits, principal, access.org_id)
    if (refused !== undefined) return Option.some(refused)
    bump(this.#principals, principal, 1)
    bump(this.#orgs, access.org_id, 1)
    this.#all += 1
    return Option.none()
  }

  /** Gives a place back. */
  give(access: StreamAccess) {
    bump(this.#principals, principalKey(access), -1)
    bump(this.#orgs, access.org_id, -1)
    this.#all -= 1
  }

  #exceeded(limits: EventLimits, principal: string, org: string): TooManyStreams | undefined {
    // The opening that is being decided is counted already.
    const opened = (this.#opens.get(principal) ?? 0) - 1
    if (opened >= limits.opens)
      return new TooManyStreams({ limit: "opens", held: opened, allowed: limits.opens, retry_after_seconds: 1 })
    const counts = [
      { limit: "principal", held: this.#principals.get(principal) ?? 0, allowed: limits.streams },
      { limit: "organization", held: this.#orgs.get(org) ?? 0, allowed: limits.org_streams },
      { limit: "instance", held: this.#all, allowed: limits.instance_streams }
    ] as const
    const reached = counts.find(({ allowed, held }) => held >= allowed)
    return reached && new TooManyStreams({ ...reached, retry_after_seconds: 15 })
  }
}
