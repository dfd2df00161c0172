/**
 * The person for whose organization the running fiber asks a `ComputeDriver` for a change (`personOf`): a driver whose
 * computes share a machine divides it among people. It is asked for by such a driver only, and the answer may be another
 * one later.
 *
 * `null`: the call belongs to no operation, or the store does not answer.
 */
import { Context, Effect } from "effect"
import type { StorageError } from "../StorageError.ts"

export const ComputeTenant = Context.Reference<Effect.Effect<string | null>>("@narthex/core/computes/ComputeTenant", {
  defaultValue: () => Effect.succeed(null)
})

/**
 * The bytes that all branches of that person take, as recorded last, without those that are being made. `null`: the call
 * belongs to no operation.
 */
export const TenantDisk = Context.Reference<Effect.Effect<number, StorageError> | null>(
  "@narthex/core/computes/TenantDisk",
  { defaultValue: () => null }
)
