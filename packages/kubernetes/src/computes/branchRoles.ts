/**
 * Applies roles, whatever the sessions of users do. When a revocation is not done in time, the server is stopped, and its
 * endpoints lose their addresses: no session is better than one that was revoked. The next start applies its list before
 * it gives an address, so a server that was stopped has the roles that were asked for.
 */
import { type AsSuperuser, applyRoles, needsRoles } from "@narthex/compute-roles"
import { ComputeFence, type ComputeRole } from "@narthex/core"
import { Duration, Effect, Schedule } from "effect"
import type { ApiClient } from "../api/ApiClient.ts"
import { entriesOf, isHibernating, type LivePod } from "../objects/clusterState.ts"
import { annotation, endpointLabel, label } from "../objects/names.ts"
import type { ClusterObject } from "../objects/resources.ts"
import type { BranchObjects } from "./BranchObjects.ts"
import type { ClusterChanges } from "./ClusterChanges.ts"
import type { ComputeLimits } from "./ComputeLimits.ts"
import { busy, refused, type SessionFailed, serverFailed, within } from "./failures.ts"
import { endEarlier, serverOn, superuserOn } from "./superuserOn.ts"

type Roles = ReadonlyArray<ComputeRole>

/** Sessions on the server of a cluster's pod. */
interface Sessions {
  readonly asSuperuser: AsSuperuser<SessionFailed>
  readonly cluster: ClusterObject
  readonly pod: LivePod
}

export const branchRoles = (
  client: ApiClient,
  objects: BranchObjects,
  { change, confirm }: ClusterChanges,
  limits: ComputeLimits
) => {
  /** The list that this process applied last on a pod. */
  const applied = new Map<string, Roles>()

  /** Sessions on the server of a cluster. */
  const sessionsOn = (cluster: ClusterObject, pod: LivePod) =>
    Effect.map(serverOn(client, pod), (server) => superuserOn(server, confirm(cluster)))

  /** Waits until the server of a pod that has just started lets the superuser in. */
  const answers = (cluster: ClusterObject, pod: LivePod) => {
    const once = Effect.gen(function* () {
      const asSuperuser = yield* sessionsOn(cluster, pod)
      yield* asSuperuser<unknown, never>((sql) => sql`SELECT 1`)
      return asSuperuser
    })
    let last = ""
    const until = once.pipe(
      Effect.tapError(({ message }) =>
        Effect.sync(() => {
          last = message
        })
      ),
      Effect.retry({ schedule: Schedule.spaced("100 millis"), while: ({ _tag }) => _tag !== "ApiFailure" })
    )
    return within(until, limits.started_within, "The database server does not answer yet.", () => last)
  }

  /** Stops the server of a cluster, and takes the addresses of all endpoints from it. */
  const stopAll = Effect.fnUntraced(function* (cluster: ClusterObject) {
    const stopping = yield* change(cluster, (now) => ({
      labels: {
        [label.running]: null,
        ...Object.fromEntries(entriesOf(now).map(([endpoint]) => [endpointLabel(endpoint), null]))
      },
      annotations: { [annotation.hibernation]: "on" }
    }))
    yield* objects.podsGone(stopping)
  })

  /** `prepares` is as in `applyRoles`. */
  const enforce = Effect.fnUntraced(function* (
    { asSuperuser, cluster, pod }: Sessions,
    roles: Roles,
    prepares: boolean
  ) {
    if ((yield* ComputeFence) !== null) yield* asSuperuser<void, never>(endEarlier)
    const former = applied.get(pod.uid)
    const isKept = (one: ComputeRole) => roles.some(({ access, role }) => role === one.role && access === one.access)
    applied.delete(pod.uid)
    const done = yield* Effect.result(
      applyRoles(asSuperuser, {
        roles,
        prepares,
        mayRevoke: !(former?.every(isKept) ?? false),
        within: Duration.seconds(limits.revoked_within),
        patience: Duration.seconds(limits.roles_patience)
      })
    )
    if (done._tag === "Success") {
      applied.set(pod.uid, roles)
      return "applied" as const
    }
    const failure = done.failure
    if (failure._tag === "RoleRefused") return yield* refused(failure.reason)
    const hasEnded = (yield* objects.podNow(cluster))?.uid !== pod.uid
    if (!failure.revokes || hasEnded) return yield* serverFailed({ ...failure, message: failure.reason })
    yield* Effect.logWarning(`${cluster.metadata.name} is stopped to end revoked roles: ${failure.reason}`)
    yield* stopAll(cluster)
    return "stopped" as const
  })

  /** Applies the roles of a branch before an endpoint gets its address. */
  const atStart = Effect.fnUntraced(function* (cluster: ClusterObject, pod: LivePod, roles: Roles) {
    const asSuperuser = yield* answers(cluster, pod)
    if ((yield* enforce({ asSuperuser, cluster, pod }, roles, true)) === "stopped") {
      return yield* busy("The database server was stopped to end revoked roles.")
    }
  })

  /** Applies the roles where the server of the branch runs. */
  const onRunning = Effect.fnUntraced(function* (cluster: ClusterObject, roles: Roles) {
    const pod = isHibernating(cluster) ? undefined : yield* objects.podNow(cluster)
    if (pod === undefined) return
    yield* enforce({ asSuperuser: yield* sessionsOn(cluster, pod), cluster, pod }, roles, false)
  })

  const needs = Effect.fnUntraced(function* (cluster: ClusterObject, roles: Roles) {
    const pod = isHibernating(cluster) ? undefined : yield* objects.podNow(cluster)
    if (pod === undefined) return false
    const asSuperuser = yield* sessionsOn(cluster, pod)
    return yield* Effect.mapError(needsRoles(asSuperuser, roles, Duration.seconds(limits.compared_within)), (failure) =>
      serverFailed(failure)
    )
  })

  /** The bytes of the databases and the WAL on a server. */
  const bytesOn = Effect.fnUntraced(function* (cluster: ClusterObject, pod: LivePod) {
    const asSuperuser = yield* sessionsOn(cluster, pod)
    const rows = yield* asSuperuser(
      (sql) =>
        sql<{ readonly bytes: string }>`
        SELECT ((SELECT sum(pg_database_size(oid)) FROM pg_database)
          + (SELECT coalesce(sum(size), 0) FROM pg_ls_waldir()))::text AS bytes`
    )
    return Number(rows[0]?.bytes ?? 0)
  })

  return { atStart, bytesOn, needs, onRunning, stopAll }
}

export type BranchRoles = ReturnType<typeof branchRoles>
