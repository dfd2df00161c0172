/**
 * The number under which the running fiber asks a `ComputeDriver` for a change. It grows with every claim of an
 * operation, on all instances, and at most one operation of a branch is claimed at a time. A driver that has carried
 * out a call for a branch refuses later calls for that branch with a lower number: they come from a runner that lost
 * its claim, for example because it was stopped and continued.
 *
 * `null`: the call belongs to no operation and is not fenced.
 */
import { Context } from "effect"

export const ComputeFence = Context.Reference<number | null>("@narthex/core/records/computes/ComputeFence", {
  defaultValue: () => null
})
