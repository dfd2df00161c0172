/**
 * Limits the open waits for operations per caller, organization and instance (docs/design/api.md, Operations). The
 * counts are of this instance. Waits of the platform itself, of wakes and of minted credentials, are not counted.
 */
import { Context, Option, Schema } from "effect"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"

/** How many waits may be open at once; `null`: no limit. */
export interface WaitLimit {
  /** Waits of one API key, or of one user through sessions. */
  readonly waits: number
  /** Waits of one organization. */
  readonly org_waits: number
  /** Waits of the instance. */
  readonly instance_waits: number
}

export const defaultWaitLimit: WaitLimit = { waits: 100, org_waits: 500, instance_waits: 5_000 }

export const WaitLimit = Context.Reference<WaitLimit | null>("@narthex/core/services/operations/WaitLimit", {
  defaultValue: () => defaultWaitLimit
})

/** The limit of open waits is reached. */
export class TooManyWaits extends Schema.TaggedError<TooManyWaits>()("TooManyWaits", {
  limit: Schema.Literals(["caller", "organization", "instance"]),
  held: Schema.Int,
  allowed: Schema.Int,
  retry_after_seconds: Schema.Int
}) {
  override get message() {
    return `${this.held} calls of this ${this.limit} wait for operations, and ${this.allowed} may. Read the operation without \`wait\`, or try again later.`
  }
}

/** An API key is counted on its own; the sessions of a user are counted together. */
const callerKey = (caller: AnyCaller): string => (caller.kind === "api_key" ? caller.api_key_id : caller.user.id)

const bump = (counts: Map<string, number>, key: string, by: number) => {
  const count = (counts.get(key) ?? 0) + by
  if (count === 0) counts.delete(key)
  else counts.set(key, count)
}

export class WaitLimits {
  readonly #callers = new Map<string, number>()
  readonly #orgs = new Map<string, number>()
  #all = 0

  /** Takes a place, or returns the limit that is reached. */
  take(caller: AnyCaller, limit: WaitLimit | null): Option.Option<TooManyWaits> {
    const reached = limit === null ? undefined : this.#reached(caller, limit)
    if (reached !== undefined) return Option.some(new TooManyWaits({ ...reached, retry_after_seconds: 5 }))
    bump(this.#callers, callerKey(caller), 1)
    bump(this.#orgs, caller.org_id, 1)
    this.#all += 1
    return Option.none()
  }

  /** Gives a place back. */
  give(caller: AnyCaller): void {
    bump(this.#callers, callerKey(caller), -1)
    bump(this.#orgs, caller.org_id, -1)
    this.#all -= 1
  }

  #reached(caller: AnyCaller, limit: WaitLimit) {
    const counts = [
      { limit: "caller", held: this.#callers.get(callerKey(caller)) ?? 0, allowed: limit.waits },
      { limit: "organization", held: this.#orgs.get(caller.org_id) ?? 0, allowed: limit.org_waits },
      { limit: "instance", held: this.#all, allowed: limit.instance_waits }
    ] as const
    return counts.find(({ allowed, held }) => held >= allowed)
  }
}
