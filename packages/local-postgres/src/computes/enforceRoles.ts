/**
 * Applies roles, whatever the sessions of users do. When a revocation is not done in time, the server is restarted: its
 * addresses are removed, it is stopped without waiting for sessions, started, given the roles while no user can reach
 * it, and then gets the same addresses. Clients connect again as after a short failure.
 *
 * When the roles cannot be applied even then, the server stays stopped: no session is better than one that was revoked.
 * A crash in between leaves a server without addresses, which the next start of the driver stops.
 */
import { applyRoles, type RoleRefused, type RolesNotApplied, type RolesToApply } from "@narthex/compute-roles"
import { Effect } from "effect"
import { superuserOn } from "../cluster/asSupervisor.ts"
import type { Cluster } from "../cluster/Cluster.ts"
import { killPostgres, startPostgres } from "../cluster/PostgresProcess.ts"
import { inSlice } from "../machine/computeSlices.ts"
import { ImpossibleRequest, LocalPostgresError, type NoRoomNow } from "../machine/LocalPostgresError.ts"
import type { Machine } from "../machine/Machine.ts"
import type { ComputeLimits } from "./ComputeLimits.ts"
import type { ComputeLinks } from "./ComputeLinks.ts"
import { branchOf } from "./runningComputes.ts"

interface Given {
  readonly machine: Machine
  readonly links: ComputeLinks
  readonly limits: ComputeLimits
  /** Fails when a later call has taken the branch over. */
  readonly confirm: Effect.Effect<void, NoRoomNow>
}

const failureOf = (error: RoleRefused | RolesNotApplied) =>
  error._tag === "RoleRefused"
    ? new ImpossibleRequest({ reason: error.reason })
    : new LocalPostgresError({
        operation: "Applying roles",
        reason: error.reason,
        sqlstate: error.sqlstate,
        ...(error.busy === undefined ? {} : { busy: error.busy })
      })

export const enforceRoles = Effect.fn("enforceRoles")(function* (
  { confirm, limits, links, machine }: Given,
  cluster: Cluster,
  wanted: Omit<RolesToApply, "within" | "patience">
) {
  const patience = limits.roles_patience
  const roles = superuserOn(cluster)
  const first = yield* Effect.result(applyRoles(roles, { ...wanted, within: limits.revocation_within, patience }))
  if (first._tag === "Success") return
  if (first.failure._tag === "RoleRefused" || !first.failure.revokes) return yield* failureOf(first.failure)
  yield* Effect.logWarning(`${cluster.directory} is restarted to end revoked roles: ${first.failure.message}`)
  const former = yield* links.to(cluster)
  const again = Effect.gen(function* () {
    yield* links.remove(former)
    yield* killPostgres(cluster)
    yield* confirm
    yield* startPostgres(cluster, machine)
    yield* Effect.mapError(applyRoles(roles, { ...wanted, within: patience, patience }), failureOf)
  })
  // The group keeps its limits, because it is not removed while nothing runs in it.
  const confirmed = inSlice(() => Effect.andThen(again, confirm), branchOf(cluster))
  yield* Effect.onError(confirmed, () => Effect.ignore(killPostgres(cluster)))
  yield* Effect.forEach(former, ({ name }) => links.put(name, cluster), { discard: true })
})
