/**
 * Where allowlist rules are kept.
 *
 * `layerMemory` is the reference implementation. The contract every adapter
 * must meet is executable: `test/suites/IpAllowlistStore.ts`.
 */
import { Context, Effect, HashMap, Layer, Option, Ref } from "effect"
import type { ProjectId } from "../Ids.ts"
import type { StorageError } from "../StorageError.ts"
import type { Cidr } from "./Cidr.ts"
import type { IpRule } from "./IpRule.ts"

type Lists = HashMap.HashMap<ProjectId, ReadonlyArray<IpRule>>

export class IpAllowlistStore extends Context.Service<
  IpAllowlistStore,
  {
    /** Every stored rule, oldest first, lapsed ones included. */
    readonly all: (project: ProjectId) => Effect.Effect<ReadonlyArray<IpRule>, StorageError>

    /** Adds a rule in place of the one with an equal network, atomically, and answers that one, lapsed or not. */
    readonly put: (project: ProjectId, rule: IpRule) => Effect.Effect<Option.Option<IpRule>, StorageError>

    /** Removes the rule with this network; `false` if there was none. */
    readonly remove: (project: ProjectId, cidr: Cidr) => Effect.Effect<boolean, StorageError>

    /** Removes every rule of the project. */
    readonly clear: (project: ProjectId) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/allowlist/IpAllowlistStore") {
  static readonly layerMemory: Layer.Layer<IpAllowlistStore> = Layer.effect(
    IpAllowlistStore,
    Effect.gen(function* () {
      const lists = yield* Ref.make<Lists>(HashMap.empty())

      const rulesOf = (map: Lists, project: ProjectId) =>
        Option.getOrElse(HashMap.get(map, project), (): ReadonlyArray<IpRule> => [])

      const without = (rules: ReadonlyArray<IpRule>, cidr: Cidr) => rules.filter((rule) => rule.cidr !== cidr)

      return IpAllowlistStore.of({
        all: (project) => Effect.map(Ref.get(lists), (map) => rulesOf(map, project)),
        put: (project, rule) =>
          Ref.modify(lists, (map) => {
            const before = rulesOf(map, project)
            const former = Option.fromUndefinedOr(before.find((it) => it.cidr === rule.cidr))
            return [former, HashMap.set(map, project, [...without(before, rule.cidr), rule])]
          }),
        remove: (project, cidr) =>
          Ref.modify(lists, (map) => {
            const before = rulesOf(map, project)
            const after = without(before, cidr)
            return [after.length < before.length, HashMap.set(map, project, after)]
          }),
        clear: (project) => Ref.update(lists, (map) => HashMap.remove(map, project))
      })
    })
  )
}
