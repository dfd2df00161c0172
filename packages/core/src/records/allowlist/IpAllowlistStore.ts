/**
 * Port: where allowlist rules are kept, and the version by which proxies recognize the newer of two lists.
 *
 * Every change of a project's rules raises its version in the same transaction. `layerMemory` is the reference
 * implementation; the contract that every adapter must meet is executable: `testing/allowlist/IpAllowlistStore.ts`.
 */
import { Context, Effect, Layer, Option, type Result } from "effect"
import type { ProjectId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { Cidr } from "./Cidr.ts"
import type { IpRule } from "./IpRule.ts"

interface List {
  readonly version: number
  readonly rules: ReadonlyArray<IpRule>
}

export interface StoredAllowlist extends List {
  readonly project_id: ProjectId
}

/** One change of a list. */
export interface AllowlistEdit {
  /** The networks whose rules are removed. */
  readonly removed: ReadonlyArray<Cidr>
  /** A rule that becomes the newest of the list, in place of one with an equal network. */
  readonly put: Option.Option<IpRule>
}

/** The rules of a list after a change, in order, for adapters that store a list as a whole. */
export const rulesAfter = (rules: ReadonlyArray<IpRule>, { put, removed }: AllowlistEdit): ReadonlyArray<IpRule> => {
  const gone = new Set([...removed, ...Option.toArray(Option.map(put, (rule) => rule.cidr))])
  return [...rules.filter((rule) => !gone.has(rule.cidr)), ...Option.toArray(put)]
}

export interface Changed<Edit> {
  readonly edit: Edit
  /** The version of the list after the change. */
  readonly version: number
}

export class IpAllowlistStore extends Context.Service<
  IpAllowlistStore,
  {
    /** Every stored rule, oldest first, lapsed ones included. */
    readonly all: (project: ProjectId) => Effect.Effect<ReadonlyArray<IpRule>, StorageError>

    /**
     * Rules and versions of several projects in one snapshot. A project has version 0 until its first rule.
     */
    readonly lists: (projects: ReadonlyArray<ProjectId>) => Effect.Effect<ReadonlyArray<StoredAllowlist>, StorageError>

    /** Makes other transactions that change or lock the list wait, and answers every stored rule. */
    readonly lock: (project: ProjectId) => Effect.Effect<ReadonlyArray<IpRule>, StorageError>

    /**
     * Makes other transactions that change or lock the list wait, and changes it by a decision over every stored
     * rule. A refusal changes nothing.
     */
    readonly change: <Edit extends AllowlistEdit, E>(
      project: ProjectId,
      decide: (rules: ReadonlyArray<IpRule>) => Result.Result<Edit, E>
    ) => Effect.Effect<Changed<Edit>, E | StorageError>
  }
>()("@narthex/core/records/allowlist/IpAllowlistStore") {
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

      return IpAllowlistStore.of({
        all,
        lists: (projects) =>
          Effect.forEach(projects, (project_id) => Effect.map(listOf(project_id), (list) => ({ project_id, ...list }))),
        lock: all,
        change: (project, decide) =>
          transaction(
            Effect.gen(function* () {
              const list = yield* listOf(project)
              const edit = yield* Effect.fromResult(decide(list.rules))
              const version = list.version + 1
              yield* lists.put(project, { version, rules: rulesAfter(list.rules, edit) })
              return { edit, version }
            })
          )
      })
    })
  )
}
