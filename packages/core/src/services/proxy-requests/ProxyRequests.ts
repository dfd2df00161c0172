/**
 * The requests of proxies to the control plane (docs/design/proxy.md P9): to locate an endpoint, to read its allowlist,
 * to wake it, and to note its activity. Relaying connections is the proxy's own work; the API's start and suspend are
 * in `Endpoints`.
 *
 * A wake checks the client's address against the stored rules in the transaction that schedules the start (P10).
 *
 * An instance with the role `runner` decides whether a compute still runs. A wake for a compute that could not be
 * connected to records a doubt, and waits until such an instance has verified it (P27).
 *
 * Pitfall: relying on the proxy's own check. Its copy of the rules may be half a minute old.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schedule, Schema } from "effect"
import { becauseOf } from "../../becauseOf.ts"
import type { BranchId, EndpointId, OrgId, ProjectId } from "../../Ids.ts"
import { type Conflict, type NotFound, orNotFound } from "../../Refusals.ts"
import { IpAllowlistStore } from "../../records/allowlist/IpAllowlistStore.ts"
import { permits } from "../../records/allowlist/IpRule.ts"
import type { CancelNotice } from "../../records/events/CancelNotice.ts"
import type { RateLimiter } from "../../records/limits/RateLimiter.ts"
import type { OperationStatus } from "../../records/operations/Operation.ts"
import type { ReadOnlyReason } from "../../records/projects/Branch.ts"
import { isRoleName } from "../../records/projects/BranchRole.ts"
import { BranchRoleStore } from "../../records/projects/BranchRoleStore.ts"
import { type ComputeDoubt, ComputeDoubtStore } from "../../records/projects/ComputeDoubtStore.ts"
import type { ComputeReach, Endpoint } from "../../records/projects/Endpoint.ts"
import { EndpointStore, type OwnedEndpoint } from "../../records/projects/EndpointStore.ts"
import { activityTiming, type ProxyReport } from "../../records/projects/EndpointUse.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { byProxy, Operations } from "../operations/Operations.ts"
import { OperationWaits } from "../operations/OperationWaits.ts"
import { Endpoints } from "../projects/Endpoints.ts"
import { BranchSizes } from "../quotas/BranchSizes.ts"
import { makeHandOverCancel } from "./handOverCancel.ts"

/** The project's allowlist has no rule in force for the client's address. */
export class AddressNotListed extends Schema.TaggedError<AddressNotListed>()("AddressNotListed", {
  address: Schema.String
}) {
  override get message() {
    return `${this.address} is not on the project's allowlist.`
  }
}

/** The compute did not start, or not in time. `reason` is one or more sentences. */
export class NotStarted extends Schema.TaggedError<NotStarted>()("NotStarted", { reason: Schema.String }) {
  override get message() {
    return `The endpoint did not start. ${this.reason}`
  }
}

/** Where a running compute listens, and how it is reached. */
export interface Awake {
  readonly address: string
  readonly generation: number
  readonly tls: ComputeReach["tls"]
  readonly own_roles: boolean
}

/** Where an endpoint is; `address` and `generation` are `null` unless its compute runs and is to go on running. */
export interface EndpointLocation {
  readonly endpoint_id: EndpointId
  readonly org_id: OrgId
  readonly project_id: Endpoint["project_id"]
  readonly branch_id: Endpoint["branch_id"]
  readonly region_id: Endpoint["region_id"]
  readonly type: Endpoint["type"]
  readonly disabled: boolean
  readonly current_state: Endpoint["current_state"]
  readonly address: string | null
  readonly generation: number | null
  readonly tls: ComputeReach["tls"]
  readonly own_roles: boolean
}

/** The location, and the facts of the asked role, which are left out if no role was asked for. */
export interface ResolvedLocation extends EndpointLocation {
  /** The role's verifier; `null`: the branch has no such role now. */
  readonly verifier?: string | null
  /** Why every role of the branch only reads now; `null`: only the read-only roles do. */
  readonly read_only_reason?: ReadOnlyReason | null
}

/** A project's rules in force at `server_now`. */
export interface AllowlistInForce {
  readonly project_id: ProjectId
  readonly version: number
  readonly rules: ReadonlyArray<{ readonly cidr: string; readonly expires_at: DateTime.Utc | null }>
  readonly server_now: DateTime.Utc
}

/** How long a wake waits for the compute. */
const wakeTimeout = Duration.seconds(30)

/** How long a wake waits until a doubt is verified, and how often it looks. Without a runner the records hold. */
const doubtTimeout = Duration.seconds(3)
const doubtInterval = Duration.millis(100)

export class ProxyRequests extends Context.Service<
  ProxyRequests,
  {
    /** Finds an endpoint by its id alone, in any organization, and a role of its branch that is valid now. */
    readonly resolve: (endpoint: EndpointId, role?: string) => Effect.Effect<ResolvedLocation, NotFound | StorageError>
    /** The rules in force of these projects. A project that does not exist is left out. */
    readonly allowlists: (
      projects: ReadonlyArray<ProjectId>
    ) => Effect.Effect<ReadonlyArray<AllowlistInForce>, StorageError>
    /**
     * Starts the endpoint's compute for a client at `address` and returns once it runs, after at most 30 seconds. Calls
     * at the same time share one start. `Conflict`: the endpoint is disabled. `QuotaExceeded`: the organization runs as many
     * computes as it may.
     *
     * `unreachable`: the generation of a compute that the proxy could not connect to. If it is the recorded one, a
     * runner verifies first whether it still runs, for at most three more seconds.
     */
    readonly wake: (
      endpoint: EndpointId,
      address: string,
      unreachable?: number
    ) => Effect.Effect<Awake, AddressNotListed | Conflict | NotFound | NotStarted | QuotaExceeded | StorageError>
    /** Records what a proxy observes, as `EndpointStore.noteActivity`. Idle computes are suspended by it. */
    readonly noteActivity: (report: ProxyReport) => Effect.Effect<void, StorageError>
    /**
     * Tells all proxies of a cancel request whose session is at another one. Best effort: requests beyond 300 a minute
     * from the client's network, or 1,000 from all, are dropped.
     */
    readonly cancel: (notice: CancelNotice) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/services/proxy-requests/ProxyRequests") {
  static readonly layer: Layer.Layer<
    ProxyRequests,
    never,
    | BranchRoleStore
    | BranchSizes
    | ComputeDoubtStore
    | Endpoints
    | EndpointStore
    | IpAllowlistStore
    | Operations
    | OperationWaits
    | ProjectStore
    | RateLimiter
    | Transaction
  > = Layer.effect(
    ProxyRequests,
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlistStore
      const doubts = yield* ComputeDoubtStore
      const endpoints = yield* Endpoints
      const disks = yield* BranchSizes
      const cancel = yield* makeHandOverCancel
      const { scheduleAndClaim } = yield* Operations
      const projects = yield* ProjectStore
      const store = yield* EndpointStore
      const waits = yield* OperationWaits
      const { run } = yield* Transaction
      const roles = yield* BranchRoleStore

      const find = (id: EndpointId) => orNotFound(store.findAnywhere(id))

      const verifierOf = Effect.fnUntraced(function* (branch: BranchId, role: string) {
        // Other text names no minted role, and is a stranger's.
        if (!isRoleName(role)) return null
        const now = yield* DateTime.now
        const found = Option.filter(yield* roles.find(branch, role), (it) => it.validAt(now))
        return Option.match(found, { onNone: () => null, onSome: ({ verifier }) => verifier })
      })

      const resolve: ProxyRequests["Service"]["resolve"] = Effect.fnUntraced(function* (id, role) {
        const location = locationOf(yield* orNotFound(store.findOwned(id)))
        if (role === undefined) return location
        const verifier = yield* verifierOf(location.branch_id, role)
        if (verifier === null) return { ...location, verifier }
        const sizes = yield* disks.of([{ id: location.branch_id }])
        return { ...location, verifier, read_only_reason: sizes.get(location.branch_id)?.read_only_reason ?? null }
      })

      /** The endpoint under its lock, after the check of the client's address. */
      const admitted = Effect.fnUntraced(function* (id: EndpointId, address: string) {
        const owned = yield* orNotFound(store.lockOwned(id))
        const rules = yield* allowlist.lock(owned.endpoint.project_id)
        if (!permits(rules, address, yield* DateTime.now)) return yield* new AddressNotListed({ address })
        return owned
      })

      /** Records the doubt, unless the endpoint's records changed since the proxy read them. */
      const doubt = Effect.fnUntraced(function* (id: EndpointId, address: string, generation: number) {
        const { endpoint } = yield* admitted(id, address)
        if (!endpoint.running || endpoint.generation !== generation) return false
        yield* doubts.record({ endpoint_id: id, generation }, yield* DateTime.now)
        return true
      })

      const verified = (doubted: ComputeDoubt) =>
        Effect.repeat(doubts.stands(doubted), {
          while: (stands) => stands,
          schedule: Schedule.spaced(doubtInterval)
        }).pipe(Effect.timeoutOption(doubtTimeout))

      /** Checks the address, and schedules the start unless the endpoint runs or will. */
      const scheduleStart = Effect.fnUntraced(function* (id: EndpointId, address: string) {
        const { endpoint, org_id } = yield* admitted(id, address)
        return yield* endpoints
          .bringLocked({ id: endpoint.project_id, org_id, region_id: endpoint.region_id }, endpoint, "active", byProxy)
          .pipe(Effect.catchTag("ResourceBusy", ({ message }) => new NotStarted({ reason: message })))
      })

      const wake: ProxyRequests["Service"]["wake"] = Effect.fn("ProxyRequests.wake")(
        function* (id, address, unreachable) {
          if (unreachable !== undefined && (yield* run(doubt(id, address, unreachable))))
            yield* verified({ endpoint_id: id, generation: unreachable })
          const { endpoint, operations } = yield* scheduleAndClaim("computes", scheduleStart(id, address))
          const [operation] = operations
          if (operation === undefined && endpoint.address !== null) return awakeAt(endpoint.address, endpoint)
          if (operation !== undefined) {
            const settled = Option.getOrUndefined(yield* waits.settled(operation.id, wakeTimeout))
            // A start is skipped where the suspend before it was skipped because the compute was used: the compute
            // runs.
            if (settled?.status !== "finished" && settled?.status !== "skipped")
              return yield* new NotStarted({
                reason:
                  settled?.status === "cancelled" ? suspendedAgain : (settled?.error ?? notInTime(settled?.status))
              })
          }
          const awake = yield* find(id)
          return awake.address === null
            ? yield* new NotStarted({ reason: suspendedAgain })
            : awakeAt(awake.address, awake)
        }
      )

      const allowlists = Effect.fn("ProxyRequests.allowlists")(function* (ids: ReadonlyArray<ProjectId>) {
        const existing = yield* Effect.filter(ids, (id) => Effect.map(projects.findAnywhere(id), Option.isSome))
        const lists = yield* allowlist.lists(existing)
        const server_now = yield* DateTime.now
        return lists.map(({ project_id, rules, version }) => ({
          project_id,
          version,
          rules: rules
            .filter((rule) => rule.inForce(server_now))
            .map(({ cidr, expires_at }) => ({ cidr, expires_at: Option.getOrNull(expires_at) })),
          server_now
        }))
      })

      return ProxyRequests.of({ resolve, allowlists, wake, noteActivity: store.noteActivity, cancel })
    })
  )

  /**
   * For instances that serve the calls of proxies: records, as long as its scope lives, that reports can be received.
   * Without such an instance no compute is suspended for being idle, because nothing is known about its use.
   */
  static readonly layerReceiving: Layer.Layer<never, never, EndpointStore> = Layer.effectDiscard(
    Effect.gen(function* () {
      const { noteReceiving } = yield* EndpointStore
      const beat = Effect.catchCause(noteReceiving, (cause) =>
        Effect.logDebug("That reports can be received is not recorded.").pipe(becauseOf(cause))
      )
      yield* Effect.forkScoped(Effect.repeat(beat, Schedule.spaced(activityTiming.beat)))
    })
  )
}

const suspendedAgain = "It was suspended again. Try again."

const notInTime = (status: OperationStatus | undefined) =>
  `Its operation is still ${status ?? "unknown"} after ${Duration.toSeconds(wakeTimeout)} seconds. Try again.`

const locationOf = ({ endpoint, org_id }: OwnedEndpoint): EndpointLocation => {
  const runs = endpoint.current_state === "active" && endpoint.pending_state !== "idle"
  return {
    endpoint_id: endpoint.id,
    org_id,
    project_id: endpoint.project_id,
    branch_id: endpoint.branch_id,
    region_id: endpoint.region_id,
    type: endpoint.type,
    disabled: endpoint.disabled,
    current_state: endpoint.current_state,
    address: runs ? endpoint.address : null,
    generation: runs ? endpoint.generation : null,
    ...reachOf(endpoint)
  }
}

const reachOf = ({ reach }: Endpoint) => ({ tls: reach?.tls ?? null, own_roles: reach?.own_roles ?? false })

const awakeAt = (address: string, endpoint: Endpoint): Awake => ({
  address,
  generation: endpoint.generation,
  ...reachOf(endpoint)
})
