/**
 * Reads and edits the allowlist of a project, and answers the proxy.
 *
 * Callers authorize first: this module knows projects, not people.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { ProjectId } from "../Ids.ts"
import type { StorageError } from "../StorageError.ts"
import type { UserRef } from "../accounts/UserRef.ts"
import { type MalformedCidr, parseCidrOrAddress } from "./Cidr.ts"
import { IpAllowlistStore } from "./IpAllowlistStore.ts"
import {
  type IpRule,
  IpRuleNotFound,
  makeRule,
  type NewIpRule,
  permits,
  type RulesInForce,
  rulesInForce
} from "./IpRule.ts"

export interface Added {
  readonly rule: IpRule
  /** Did it take the place of a rule in force? */
  readonly replaced: boolean
}

export class IpAllowlist extends Context.Service<
  IpAllowlist,
  {
    /** The rules in force, oldest first. */
    readonly list: (project: ProjectId) => Effect.Effect<RulesInForce, StorageError>

    /** Lists a network. Listing it again replaces the rule; a lapsed one is not replaced but gone. */
    readonly add: (
      project: ProjectId,
      rule: NewIpRule,
      by: UserRef
    ) => Effect.Effect<Added, MalformedCidr | StorageError>

    /** Unlists a network, however it is spelled; an address stands for itself alone. */
    readonly remove: (
      project: ProjectId,
      cidr: string
    ) => Effect.Effect<void, MalformedCidr | IpRuleNotFound | StorageError>

    /** Unlists every network, which opens the project to all. */
    readonly reset: (project: ProjectId) => Effect.Effect<void, StorageError>

    /** May this address connect to, or wake, the project's endpoints? On failure: no. */
    readonly permits: (project: ProjectId, address: string) => Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/allowlist/IpAllowlist") {
  static readonly layer: Layer.Layer<IpAllowlist, never, IpAllowlistStore> = Layer.effect(
    IpAllowlist,
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore

      const list = Effect.fn("IpAllowlist.list")(function* (project: ProjectId) {
        return rulesInForce(yield* store.all(project), yield* DateTime.now)
      })

      const add = Effect.fn("IpAllowlist.add")(function* (project: ProjectId, input: NewIpRule, by: UserRef) {
        const now = yield* DateTime.now
        const rule = yield* Effect.fromResult(makeRule(input, by, now))
        const former = yield* store.put(project, rule)
        return { rule, replaced: Option.exists(former, (it) => it.inForce(now)) }
      })

      const remove = Effect.fn("IpAllowlist.remove")(function* (project: ProjectId, cidr: string) {
        if (cidr === "") return yield* new IpRuleNotFound({ cidr }) // a slash too many in a path: nothing was meant
        const removed = yield* store.remove(project, yield* Effect.fromResult(parseCidrOrAddress(cidr)))
        if (!removed) return yield* new IpRuleNotFound({ cidr })
      })

      const may = Effect.fn("IpAllowlist.permits")(function* (project: ProjectId, address: string) {
        return permits(yield* store.all(project), address, yield* DateTime.now)
      })

      return IpAllowlist.of({ list, add, remove, reset: store.clear, permits: may })
    })
  )
}
