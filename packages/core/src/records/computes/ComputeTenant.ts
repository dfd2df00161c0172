/**
 * For whom the running fiber asks a `ComputeDriver` for a change: a driver whose computes share a machine divides it among
 * organizations.
 *
 * `null`: the call belongs to no operation.
 */
import { Context, type Effect } from "effect"
import type { OrgId } from "../../Ids.ts"
import type { StorageError } from "../../StorageError.ts"

/** The organization. */
export const ComputeTenant = Context.Reference<OrgId | null>("@narthex/core/records/computes/ComputeTenant", {
  defaultValue: () => null
})

/** The bytes that the branches of that organization take, as its quota `disk_bytes` counts them (docs/design/api.md). */
export const TenantDisk = Context.Reference<Effect.Effect<number, StorageError> | null>(
  "@narthex/core/records/computes/TenantDisk",
  { defaultValue: () => null }
)
