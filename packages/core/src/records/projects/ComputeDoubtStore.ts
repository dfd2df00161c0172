/**
 * Port: doubts whether a compute still runs. A proxy that cannot connect to a compute records one; an instance with the
 * role `runner`, where the compute driver is, verifies and removes it.
 *
 * A doubt is no fact: the connection may have failed for another reason. Only the driver decides.
 */
import { Context, DateTime, Effect, Layer, Option } from "effect"
import type { EndpointId, RegionId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { StoredEndpoint } from "./memoryActivity.ts"

/** The compute of this endpoint and generation may be gone. */
export interface ComputeDoubt {
  readonly endpoint_id: EndpointId
  readonly generation: number
}

interface Stored extends ComputeDoubt {
  readonly at: DateTime.Utc
}

export class ComputeDoubtStore extends Context.Service<
  ComputeDoubtStore,
  {
    /** An endpoint has at most one doubt, of its highest generation. A doubt that is recorded again keeps its place. */
    readonly record: (doubt: ComputeDoubt, now: DateTime.Utc) => Effect.Effect<void, StorageError>
    /** Whether the doubt has not been removed yet. */
    readonly stands: (doubt: ComputeDoubt) => Effect.Effect<boolean, StorageError>
    /** The oldest, at most `limit`, without those about endpoints of other regions; `null`: of every region. */
    readonly oldest: (
      region: RegionId | null,
      limit: number
    ) => Effect.Effect<ReadonlyArray<ComputeDoubt>, StorageError>
    /** Removes the doubt. A doubt about another generation stays. */
    readonly remove: (doubt: ComputeDoubt) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/records/projects/ComputeDoubtStore") {
  static readonly layerMemory: Layer.Layer<ComputeDoubtStore, never, MemoryStorage> = Layer.effect(
    ComputeDoubtStore,
    Effect.gen(function* () {
      const { table } = yield* MemoryStorage
      const doubts = table<Stored>("compute_doubt")
      const endpoints = table<StoredEndpoint>("endpoint")
      const same = (doubt: ComputeDoubt) =>
        Effect.map(
          doubts.get(doubt.endpoint_id),
          Option.exists(({ generation }) => generation === doubt.generation)
        )
      return ComputeDoubtStore.of({
        record: ({ endpoint_id, generation }, at) =>
          doubts.modify((rows) => {
            const known = rows.find((row) => row.endpoint_id === endpoint_id)
            return [
              undefined,
              known !== undefined && known.generation >= generation
                ? []
                : [[endpoint_id, { endpoint_id, generation, at }]]
            ]
          }),
        stands: same,
        oldest: Effect.fnUntraced(function* (region, limit) {
          const others = (yield* endpoints.all).filter(({ endpoint }) => endpoint.region_id !== region)
          const elsewhere = new Set(region === null ? [] : others.map(({ endpoint }) => endpoint.id))
          return (yield* doubts.all)
            .filter((row) => !elsewhere.has(row.endpoint_id))
            .toSorted((a, b) => DateTime.Order(a.at, b.at))
            .slice(0, limit)
            .map(({ endpoint_id, generation }) => ({ endpoint_id, generation }))
        }),
        remove: (doubt) =>
          Effect.flatMap(same(doubt), (stands) => (stands ? doubts.remove(doubt.endpoint_id) : Effect.void))
      })
    })
  )
}
