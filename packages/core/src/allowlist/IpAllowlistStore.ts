/**
 * Port: where allowlist rules are kept, and the version by which proxies recognize the newer of two lists.
 *
 * Every change of a project's rules raises its version in the same transaction. `layerMemory` is the reference
 * implementation; the contract that every adapter must meet is executable: `testing/allowlist/IpAllowlistStore.ts`.
 */
import { Context, type DateTime, Effect, Layer, Option } from "effect"
import type { ProjectId } from "../Ids.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { StorageError } from "../StorageError.ts"
import type { Cidr } from "./Cidr.ts"
import type { IpRule } from "./IpRule.ts"

interface List {
  readonly version: number
  readonly rules: ReadonlyArray<IpRule>
}

export interface StoredAllowlist extends List {
  readonly project_id: ProjectId
}

export class IpAllowlistStore extends Context.Service<
  IpAllowlistStore,
  {
    /** Every stored rule, oldest first, lapsed ones included. */
    readonly all: (project: ProjectId) => Effect.Effect<ReadonlyArray<IpRule>, StorageError>

    /**
     * Rules and versions of several projects in one snapshot. A project without rules has version 0 until it had one.
     */
    readonly lists: (projects: ReadonlyArray<ProjectId>) => Effect.Effect<ReadonlyArray<StoredAllowlist>, StorageError>

    /** Makes other transactions that change or lock the list wait, and answers every stored rule. */
    readonly lock: (project: ProjectId) => Effect.Effect<ReadonlyArray<IpRule>, StorageError>

    /** Adds a rule, atomically replacing a rule with an equal network, and answers the replaced rule, lapsed or not. */
    readonly put: (project: ProjectId, rule: IpRule) => Effect.Effect<Option.Option<IpRule>, StorageError>

    /** Removes the rule with this network; `false` if there was none. */
    readonly remove: (project: ProjectId, cidr: Cidr) => Effect.Effect<boolean, StorageError>

    /** Removes the rules that have lapsed at `now`. It leaves the version, because the rules in force are the same. */
    readonly purgeLapsed: (project: ProjectId, now: DateTime.Utc) => Effect.Effect<void, StorageError>

    /** Removes every rule of the project. */
    readonly clear: (project: ProjectId) => Effect.Effect<void, StorageError>

    /** The current version of the list. */
    readonly version: (project: ProjectId) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/allowlist/IpAllowlistStore") {
  static readonly layerMemory: Layer.Layer<IpAllowlistStore, never, MemoryStorage> = Layer.effect(
    IpAllowlistStore,
    Effect.gen(function* () {
      const { table, transaction } = yield* MemoryStorage
      const lists = table<List>("ip_allowlist")
      const empty: List = { version: 0, rules: [] }

      const listOf = (project: ProjectId) =>
        Effect.map(
          lists.get(project),
          Option.getOrElse(() => empty)
        )
      const all = (project: ProjectId) => Effect.map(listOf(project), (list) => list.rules)

      /** One change: what the step makes of the rules is the new list, one version on. */
      const change = <A>(
        project: ProjectId,
        step: (rules: ReadonlyArray<IpRule>) => readonly [A, ReadonlyArray<IpRule>]
      ) =>
        transaction(
          Effect.gen(function* () {
            const { rules, version } = yield* listOf(project)
            const [answer, after] = step(rules)
            yield* lists.put(project, { version: version + 1, rules: after })
            return answer
          })
        )

      return IpAllowlistStore.of({
        all,
        lists: (projects) =>
          Effect.forEach(projects, (project_id) => Effect.map(listOf(project_id), (list) => ({ project_id, ...list }))),
        lock: all,
        put: (project, rule) =>
          change(project, (rules) => {
            const former = Option.fromUndefinedOr(rules.find((it) => it.cidr === rule.cidr))
            return [former, [...rules.filter((it) => it.cidr !== rule.cidr), rule]]
          }),
        remove: (project, cidr) =>
          change(project, (rules) => {
            const after = rules.filter((it) => it.cidr !== cidr)
            return [after.length < rules.length, after]
          }),
        purgeLapsed: (project, now) =>
          transaction(
            Effect.flatMap(listOf(project), (list) =>
              lists.put(project, { ...list, rules: list.rules.filter((it) => it.inForce(now)) })
            )
          ),
        clear: (project) => change(project, () => [undefined, []]),
        version: (project) => Effect.map(listOf(project), (list) => list.version)
      })
    })
  )
}
