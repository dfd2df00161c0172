/**
 * Reads and edits the allowlist of a project. Proxies read it through `ProxyRequests`.
 *
 * Callers authorize first: this module knows projects, not people. Every change emits an internal event in its own
 * transaction, on which proxies fetch the list again.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import type { UserRef } from "../accounts/UserRef.ts"
import type { ProjectId } from "../Ids.ts"
import type { Project } from "../projects/Project.ts"
import { Conflict } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { allowlistChanged } from "./AllowlistChange.ts"
import { contains, type MalformedCidr, parseCidrOrAddress } from "./Cidr.ts"
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
  /** Whether it replaced a rule in force. */
  readonly replaced: boolean
}

/** How many networks a project may list. */
export const maxRules = 1000

/** Whether an address may connect, and the first rule that admits it. `matched` is null where nothing is restricted. */
export class AllowlistCheck extends Schema.Class<AllowlistCheck>("AllowlistCheck")({
  allowed: Schema.Boolean,
  matched: Schema.NullOr(Schema.String)
}) {}

type Owner = Pick<Project, "id" | "org_id">

export class IpAllowlist extends Context.Service<
  IpAllowlist,
  {
    /** The rules in force, oldest first. */
    readonly list: (project: ProjectId) => Effect.Effect<RulesInForce, StorageError>

    /** Lists a network. Listing it again replaces the rule. A lapsed rule does not count as replaced. */
    readonly add: (
      project: Owner,
      rule: NewIpRule,
      by: UserRef
    ) => Effect.Effect<Added, MalformedCidr | Conflict | StorageError>

    /** Unlists a network, however it is spelled; an address stands for itself alone. */
    readonly remove: (
      project: Owner,
      cidr: string
    ) => Effect.Effect<void, MalformedCidr | IpRuleNotFound | StorageError>

    /** Unlists every network, which opens the project to all. */
    readonly reset: (project: Owner) => Effect.Effect<void, StorageError>

    readonly check: (project: ProjectId, address: string) => Effect.Effect<AllowlistCheck, StorageError>
  }
>()("@narthex/core/allowlist/IpAllowlist") {
  static readonly layer: Layer.Layer<IpAllowlist, never, IpAllowlistStore | Transaction> = Layer.effect(
    IpAllowlist,
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const { emit, run } = yield* Transaction

      const announce = Effect.fnUntraced(function* (project: Owner) {
        yield* emit(
          allowlistChanged(project.org_id, { project_id: project.id, version: yield* store.version(project.id) })
        )
      })

      const list = Effect.fn("IpAllowlist.list")(function* (project: ProjectId) {
        return rulesInForce(yield* store.all(project), yield* DateTime.now)
      })

      const add = Effect.fn("IpAllowlist.add")(function* (project: Owner, input: NewIpRule, by: UserRef) {
        const now = yield* DateTime.now
        const rule = yield* Effect.fromResult(makeRule(input, by, now))
        const step = Effect.gen(function* () {
          const others = (yield* store.lock(project.id)).filter((it) => it.inForce(now) && it.cidr !== rule.cidr)
          // A list is read whole, so it holds no more than its rules in force, and `former` is one of those.
          yield* store.purgeLapsed(project.id, now)
          if (others.length >= maxRules)
            return yield* new Conflict({ reason: `A project lists at most ${maxRules} networks. Remove one first.` })
          const former = yield* store.put(project.id, rule)
          yield* announce(project)
          return { rule, replaced: Option.isSome(former) }
        })
        return yield* run(step)
      })

      const remove = Effect.fn("IpAllowlist.remove")(function* (project: Owner, cidr: string) {
        if (cidr === "") return yield* new IpRuleNotFound({ cidr }) // an empty segment in the path names no rule
        const network = yield* Effect.fromResult(parseCidrOrAddress(cidr))
        const step = Effect.gen(function* () {
          const now = yield* DateTime.now
          const rule = (yield* store.lock(project.id)).find((it) => it.cidr === network)
          if (rule === undefined || !rule.inForce(now)) return yield* new IpRuleNotFound({ cidr })
          yield* store.remove(project.id, network)
          yield* announce(project)
        })
        yield* run(step)
      })

      const reset = Effect.fn("IpAllowlist.reset")(function* (project: Owner) {
        yield* run(Effect.andThen(store.clear(project.id), announce(project)))
      })

      const check = Effect.fn("IpAllowlist.check")(function* (project: ProjectId, address: string) {
        const now = yield* DateTime.now
        const stored = yield* store.all(project)
        const matched = stored.find((rule) => rule.inForce(now) && contains(rule.cidr, address))
        return new AllowlistCheck({ allowed: permits(stored, address, now), matched: matched?.cidr ?? null })
      })

      return IpAllowlist.of({ list, add, remove, reset, check })
    })
  )
}
