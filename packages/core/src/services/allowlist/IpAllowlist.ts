/**
 * Reads and edits the allowlist of a project. Proxies read it through `ProxyRequests`.
 *
 * Callers authorize first: this module knows projects, not people. Every change emits an internal event in its own
 * transaction, on which proxies fetch the list again.
 */
import { Context, DateTime, Effect, Layer, Option, Result, Schema } from "effect"
import type { ProjectId } from "../../Ids.ts"
import { Conflict, type NotFound, orNotFound } from "../../Refusals.ts"
import type { UserRef } from "../../records/accounts/UserRef.ts"
import { allowlistChanged } from "../../records/allowlist/AllowlistChange.ts"
import { contains, type MalformedCidr, parseCidrOrAddress } from "../../records/allowlist/Cidr.ts"
import { type AllowlistEdit, IpAllowlistStore } from "../../records/allowlist/IpAllowlistStore.ts"
import {
  type IpRule,
  IpRuleNotFound,
  makeRule,
  type NewIpRule,
  permits,
  type RulesInForce,
  rulesInForce
} from "../../records/allowlist/IpRule.ts"
import type { Project } from "../../records/projects/Project.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"

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

/** How many rules are in force, and how many of them expire. */
export interface AllowlistSummary {
  readonly rules: number
  readonly expiring: number
}

const networksOf = (rules: ReadonlyArray<IpRule>) => rules.map(({ cidr }) => cidr)

/** Decides about a new rule. The whole list is read, because adding a rule removes the lapsed ones. */
const addition = (rule: IpRule, now: DateTime.Utc) => (rules: ReadonlyArray<IpRule>) => {
  const inForce = rules.filter((it) => it.inForce(now))
  const others = inForce.filter(({ cidr }) => cidr !== rule.cidr)
  return others.length < maxRules
    ? Result.succeed({
        removed: networksOf(rules.filter((it) => !it.inForce(now))),
        put: Option.some(rule),
        replaced: others.length < inForce.length
      })
    : Result.fail(new Conflict({ reason: `A project lists at most ${maxRules} networks. Remove one first.` }))
}

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
    ) => Effect.Effect<Added, MalformedCidr | Conflict | NotFound | StorageError>

    /** Unlists a network, however it is spelled; an address stands for itself alone. */
    readonly remove: (
      project: Owner,
      cidr: string
    ) => Effect.Effect<void, MalformedCidr | IpRuleNotFound | NotFound | StorageError>

    /** Unlists every network, which opens the project to all. */
    readonly reset: (project: Owner) => Effect.Effect<void, NotFound | StorageError>

    readonly summary: (project: ProjectId) => Effect.Effect<AllowlistSummary, StorageError>

    readonly check: (project: ProjectId, address: string) => Effect.Effect<AllowlistCheck, StorageError>
  }
>()("@narthex/core/services/allowlist/IpAllowlist") {
  static readonly layer: Layer.Layer<IpAllowlist, never, IpAllowlistStore | ProjectStore | Transaction> = Layer.effect(
    IpAllowlist,
    Effect.gen(function* () {
      const projects = yield* ProjectStore
      const store = yield* IpAllowlistStore
      const { emit, run } = yield* Transaction

      /** Changes the list of a project and announces it, in one transaction that holds the project. */
      const change = <Edit extends AllowlistEdit, E>(
        project: Owner,
        decide: (rules: ReadonlyArray<IpRule>) => Result.Result<Edit, E>
      ) =>
        run(
          Effect.gen(function* () {
            yield* orNotFound(projects.hold(project.org_id, project.id))
            const { edit, version } = yield* store.change(project.id, decide)
            yield* emit(allowlistChanged(project.org_id, { project_id: project.id, version }))
            return edit
          })
        )

      const list = Effect.fn("IpAllowlist.list")(function* (project: ProjectId) {
        return rulesInForce(yield* store.all(project), yield* DateTime.now)
      })

      const add = Effect.fn("IpAllowlist.add")(function* (project: Owner, input: NewIpRule, by: UserRef) {
        const now = yield* DateTime.now
        const rule = yield* Effect.fromResult(makeRule(input, by, now))
        const { replaced } = yield* change(project, addition(rule, now))
        return { rule, replaced }
      })

      const remove = Effect.fn("IpAllowlist.remove")(function* (project: Owner, cidr: string) {
        if (cidr === "") return yield* new IpRuleNotFound({ cidr }) // an empty segment in the path names no rule
        const network = yield* Effect.fromResult(parseCidrOrAddress(cidr))
        const now = yield* DateTime.now
        yield* change(project, (rules) => {
          const listed = rules.some((it) => it.cidr === network && it.inForce(now))
          return listed
            ? Result.succeed({ removed: [network], put: Option.none() })
            : Result.fail(new IpRuleNotFound({ cidr }))
        })
      })

      const reset = Effect.fn("IpAllowlist.reset")(function* (project: Owner) {
        yield* change(project, (rules) => Result.succeed({ removed: networksOf(rules), put: Option.none() }))
      })

      const summary = Effect.fn("IpAllowlist.summary")(function* (project: ProjectId) {
        const { rules } = yield* list(project)
        return { rules: rules.length, expiring: rules.filter((rule) => Option.isSome(rule.expires_at)).length }
      })

      const check = Effect.fn("IpAllowlist.check")(function* (project: ProjectId, address: string) {
        const now = yield* DateTime.now
        const stored = yield* store.all(project)
        const matched = stored.find((rule) => rule.inForce(now) && contains(rule.cidr, address))
        return new AllowlistCheck({ allowed: permits(stored, address, now), matched: matched?.cidr ?? null })
      })

      return IpAllowlist.of({ list, add, remove, reset, summary, check })
    })
  )
}
