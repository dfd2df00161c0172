/**
 * What proxies ask: where an endpoint is, which addresses may reach it, and that it wakes (docs/design/proxy.md).
 *
 * An address is checked against the stored list again in the transaction that wakes, because a proxy's own list may be
 * half a minute old: an address removed meanwhile wakes nothing.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, Schema } from "effect"
import { permits } from "../allowlist/IpRule.ts"
import { IpAllowlistStore } from "../allowlist/IpAllowlistStore.ts"
import type { EndpointId, ProjectId } from "../Ids.ts"
import { ComputeDriver } from "../computes/ComputeDriver.ts"
import { byProxy } from "../operations/Operations.ts"
import { OperationWaits } from "../operations/OperationWaits.ts"
import { type Conflict, NotFound } from "../Refusals.ts"
import type { StorageError } from "../StorageError.ts"
import { Transaction } from "../Transaction.ts"
import { Endpoint } from "../projects/Endpoint.ts"
import { type ActivityReport, EndpointStore } from "../projects/EndpointStore.ts"
import { Endpoints } from "../provisioning/Endpoints.ts"
import { ProjectStore } from "../projects/ProjectStore.ts"

/** The allowlist does not hold the address that wants to wake the endpoint. */
export class AddressNotListed extends Schema.TaggedError<AddressNotListed>()("AddressNotListed", {
  address: Schema.String
}) {
  override get message() {
    return `${this.address} is not on the project's allowlist.`
  }
}

/** The compute did not start in time, or could not. */
export class NotStarted extends Schema.TaggedError<NotStarted>()("NotStarted", { reason: Schema.String }) {
  override get message() {
    return `The endpoint did not start: ${this.reason}`
  }
}

/** Where a running compute listens. */
export interface Awake {
  readonly address: string
  readonly generation: number
}

/** Where an endpoint is; `address` and `generation` are `null` unless its compute runs and is to go on running. */
export interface EndpointLocation {
  readonly endpoint_id: EndpointId
  readonly project_id: Endpoint["project_id"]
  readonly branch_id: Endpoint["branch_id"]
  readonly region_id: Endpoint["region_id"]
  readonly disabled: boolean
  readonly current_state: Endpoint["current_state"]
  readonly address: string | null
  readonly generation: number | null
}

/** A project's rules in force at `server_now`. */
export interface AllowlistInForce {
  readonly project_id: ProjectId
  readonly version: number
  readonly rules: ReadonlyArray<{ readonly cidr: string; readonly expires_at: DateTime.Utc | null }>
  readonly server_now: DateTime.Utc
}

/** How long a connection waits for its endpoint. */
const patience = Duration.seconds(30)

export class Wakes extends Context.Service<
  Wakes,
  {
    readonly resolve: (endpoint: EndpointId) => Effect.Effect<EndpointLocation, NotFound | StorageError>
    /** The rules in force of the projects that exist; others are left out. */
    readonly allowlists: (
      projects: ReadonlyArray<ProjectId>
    ) => Effect.Effect<ReadonlyArray<AllowlistInForce>, StorageError>
    /** Answers once the endpoint runs. */
    readonly wake: (
      endpoint: EndpointId,
      address: string
    ) => Effect.Effect<Awake, AddressNotListed | Conflict | NotFound | NotStarted | StorageError>
    readonly noteActivity: (reports: ReadonlyArray<ActivityReport>) => Effect.Effect<void, StorageError>
  }
>()("@narthex/core/proxying/Wakes") {
  static readonly layer: Layer.Layer<
    Wakes,
    never,
    ComputeDriver | Endpoints | EndpointStore | IpAllowlistStore | OperationWaits | ProjectStore | Transaction
  > = Layer.effect(
    Wakes,
    Effect.gen(function* () {
      const allowlist = yield* IpAllowlistStore
      const driver = yield* ComputeDriver
      const endpoints = yield* Endpoints
      const projects = yield* ProjectStore
      const store = yield* EndpointStore
      const waits = yield* OperationWaits
      const { run } = yield* Transaction

      const find = Effect.fnUntraced(function* (id: EndpointId) {
        const endpoint = Option.getOrUndefined(yield* store.findAnywhere(id))
        return endpoint === undefined ? yield* new NotFound({}) : endpoint
      })

      const resolve = Effect.fn("Wakes.resolve")((id: EndpointId) => Effect.map(find(id), locationOf))

      /** Does the compute that the record names really run? A machine that restarted lost them all. */
      const runs = (endpoint: Endpoint) =>
        Effect.match(driver.running, {
          onFailure: () => true,
          onSuccess: (computes) =>
            computes.some((it) => it.endpoint_id === endpoint.id && it.generation === endpoint.generation)
        })

      /** A compute that died leaves its endpoint asleep, so that it can be started again. */
      const markLost = Effect.fnUntraced(function* (endpoint: Endpoint) {
        if (endpoint.current_state !== "active" || (yield* runs(endpoint))) return
        yield* Effect.logWarning("A compute is gone; its endpoint is taken as suspended.", { endpoint_id: endpoint.id })
        yield* store.put(
          new Endpoint({
            ...endpoint,
            current_state: "idle",
            address: null,
            connections: 0,
            suspended_at: yield* DateTime.now
          })
        )
      })

      const admit = Effect.fnUntraced(function* (id: EndpointId, address: string) {
        const endpoint = Option.getOrUndefined(yield* store.lock(id))
        const project = endpoint === undefined ? Option.none() : yield* projects.findAnywhere(endpoint.project_id)
        if (endpoint === undefined || Option.isNone(project)) return yield* new NotFound({})
        const rules = yield* allowlist.lock(endpoint.project_id)
        if (!permits(rules, address, yield* DateTime.now)) return yield* new AddressNotListed({ address })
        yield* markLost(endpoint)
        return yield* endpoints.head(project.value, id, "active", byProxy)
      })

      const wake = Effect.fn("Wakes.wake")(function* (id: EndpointId, address: string) {
        const { endpoint, operations } = yield* run(admit(id, address))
        const [operation] = operations
        if (operation === undefined && endpoint.address !== null)
          return { address: endpoint.address, generation: endpoint.generation }
        if (operation !== undefined) {
          const settled = Option.getOrUndefined(yield* waits.settled(operation.id, patience))
          // A start is skipped where the compute turned out to run: somebody used it, so it was not suspended.
          if (settled?.status !== "finished" && settled?.status !== "skipped")
            return yield* new NotStarted({ reason: settled?.error ?? `it is still ${settled?.status ?? "unknown"}.` })
        }
        const awake = yield* find(id)
        return awake.address === null
          ? yield* new NotStarted({ reason: "it was suspended again." })
          : { address: awake.address, generation: awake.generation }
      })

      const allowlists = Effect.fn("Wakes.allowlists")(function* (ids: ReadonlyArray<ProjectId>) {
        const there = yield* Effect.filter(ids, (id) => Effect.map(projects.findAnywhere(id), Option.isSome))
        const lists = yield* allowlist.lists(there)
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

      return Wakes.of({ resolve, allowlists, wake, noteActivity: store.noteActivity })
    })
  )
}

const locationOf = (endpoint: Endpoint): EndpointLocation => {
  const runs = endpoint.current_state === "active" && endpoint.pending_state !== "idle"
  return {
    endpoint_id: endpoint.id,
    project_id: endpoint.project_id,
    branch_id: endpoint.branch_id,
    region_id: endpoint.region_id,
    disabled: endpoint.disabled,
    current_state: endpoint.current_state,
    address: runs ? endpoint.address : null,
    generation: runs ? endpoint.generation : null
  }
}
