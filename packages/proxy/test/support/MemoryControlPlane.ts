/**
 * The port `ControlPlane` over memory: one project with one endpoint, whose real compute is started by a wake. It keeps
 * the contract (rules are checked again in the wake, versions rise, changes are streamed from the subscription on) and
 * records the calls.
 */
import type { ActivityPayload, RefusalsPayload } from "@narthex/api"
import {
  BranchId,
  type CancelNotice,
  type ComputeReach,
  EndpointId,
  IpRule,
  ProjectId,
  parseCidr,
  permits,
  RegionId,
  UserId,
  UserRef
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, PubSub, Result, Stream } from "effect"
import {
  AddressNotListed,
  type Change,
  ControlPlane,
  ControlPlaneUnreachable,
  EndpointDisabled,
  EndpointUnknown,
  TooManyComputes,
  WakeTimedOut
} from "../../src/control-plane/ControlPlane.ts"
import { role, verifierOf } from "./credentials.ts"

export const endpoint_id = EndpointId.make("ep-01k3z6v9e8q0x5m4c2b7n1r0sd")
export const project_id = ProjectId.make("prj-01k3z6v9e8q0x5m4c2b7n1r0sd")

/** The compute that a wake starts. */
export interface Startable {
  readonly generation: number
  readonly running: boolean
  readonly address: string
  readonly start: () => Promise<string>
}

const ada = new UserRef({ id: UserId.make("0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10"), email: "ada@example.com" })

export class MemoryControlPlane {
  rules: ReadonlyArray<{ readonly cidr: string; readonly expires_at: string | null }> = []
  version = 1
  type: "read_write" | "read_only" = "read_write"
  /** Whether the endpoint is suspended although its compute runs, for other endpoints of the branch. */
  suspended = false
  /** How often the endpoint was started again although its compute runs. */
  restarts = 0
  disabled = false
  gone = false
  /** Fails every call, like a process that is down. */
  down = false
  /** Fails every wake with a time-out. */
  stuck = false
  /** Fails every request for allowlists. */
  listless = false
  /** Leaves reports of refused clients without an answer. */
  answersReports = true
  /** A wait before an answer about the endpoint is sent, after its state was read. */
  answering: Effect.Effect<void> = Effect.void
  /** Whether the organization runs as many computes as it may. */
  full = false
  /** The clock of the control plane; `undefined`: the clock of the test. */
  clock: DateTime.Utc | undefined
  subscriptions = 0
  readonly wakes: Array<string> = []
  readonly resolves: Array<EndpointId> = []
  readonly reports: Array<ActivityPayload> = []
  readonly refusals: Array<RefusalsPayload> = []
  readonly cancels: Array<CancelNotice> = []
  /** The verifiers of the roles that are valid. */
  readonly verifiers = new Map([[role, verifierOf(role)]])
  /** Why all roles only read. */
  readOnlyReason: string | null = null
  /** Whether the server has roles of its operator's own. */
  ownRoles = false
  /** Over what the compute is reached. */
  tls: ComputeReach["tls"] = null
  loads = 0
  readonly #compute: Startable
  readonly #changes: PubSub.PubSub<Change>

  constructor(compute: Startable, changes: PubSub.PubSub<Change>) {
    this.#compute = compute
    this.#changes = changes
  }

  static make = (compute: Startable) =>
    Effect.map(PubSub.unbounded<Change>(), (changes) => new MemoryControlPlane(compute, changes))

  /** Replaces the rules in one commit and notifies the subscribers. */
  list(...cidrs: ReadonlyArray<string>): Effect.Effect<void> {
    return this.replace(cidrs.map((cidr) => ({ cidr, expires_at: null })))
  }

  replace(rules: MemoryControlPlane["rules"]): Effect.Effect<void> {
    return Effect.suspend(() => {
      this.rules = rules
      this.version++
      return PubSub.publish(this.#changes, { of: "allowlist", change: { project_id, version: this.version } })
    })
  }

  /** Notifies the subscribers that the endpoint was disabled, suspended or deleted. */
  readonly hint = Effect.suspend(() => PubSub.publish(this.#changes, { of: "endpoint", change: { endpoint_id } }))

  readonly #now = Effect.suspend(() => (this.clock === undefined ? DateTime.now : Effect.succeed(this.clock)))

  readonly layer = Layer.sync(ControlPlane, () => this.#service())

  #service(): ControlPlane["Service"] {
    const up = (operation: string) =>
      Effect.suspend(() =>
        this.down ? Effect.fail(new ControlPlaneUnreachable({ operation, reason: "it is down" })) : Effect.void
      )
    return {
      resolve: (id, name) =>
        Effect.gen({ self: this }, function* () {
          this.resolves.push(id)
          yield* up("resolve")
          if (id !== endpoint_id || this.gone) return yield* new EndpointUnknown({ endpoint_id: id })
          const { address, generation, running } = this.#compute
          const located = {
            endpoint_id,
            project_id,
            branch_id: BranchId.make("br-01k3z6v9e8q0x5m4c2b7n1r0sd"),
            region_id: RegionId.make("local"),
            type: this.type,
            disabled: this.disabled,
            current_state: running && !this.suspended ? "active" : "idle",
            address: running && !this.suspended ? address : null,
            generation: running && !this.suspended ? generation + this.restarts : null,
            own_roles: this.ownRoles,
            tls: this.tls,
            ...(name === undefined ? {} : { verifier: this.verifiers.get(name) ?? null }),
            ...(name === undefined ? {} : { read_only_reason: this.readOnlyReason })
          } as const
          yield* this.answering
          return located
        }),
      allowlists: (ids) =>
        Effect.gen({ self: this }, function* () {
          const server_now = DateTime.formatIso(yield* this.#now)
          this.loads++
          yield* up("allowlists")
          if (this.listless)
            return yield* new ControlPlaneUnreachable({ operation: "allowlists", reason: "it has no lists" })
          const { rules, version } = this
          return ids.includes(project_id) && !this.gone ? [{ project_id, version, rules, server_now }] : []
        }),
      changes: Effect.gen({ self: this }, function* () {
        yield* up("changes")
        const subscription = yield* PubSub.subscribe(this.#changes)
        this.subscriptions++
        return Stream.fromSubscription(subscription)
      }),
      wake: ({ client_address, endpoint_id: id }) =>
        Effect.gen({ self: this }, function* () {
          this.wakes.push(client_address)
          yield* up("wake")
          if (id !== endpoint_id) return yield* new EndpointUnknown({ endpoint_id: id })
          if (this.disabled) return yield* new EndpointDisabled({ endpoint_id })
          if (!(yield* this.#permits(client_address)))
            return yield* new AddressNotListed({ endpoint_id, client_address })
          if (this.full) return yield* new TooManyComputes({ endpoint_id })
          if (this.stuck) return yield* new WakeTimedOut({ endpoint_id })
          const address = yield* Effect.promise(() => this.#compute.start())
          return { address, generation: this.#compute.generation, tls: this.tls }
        }),
      cancel: (notice) =>
        Effect.gen({ self: this }, function* () {
          yield* up("cancel")
          this.cancels.push(notice)
          yield* PubSub.publish(this.#changes, { of: "cancel", change: notice })
        }),
      activity: (report) =>
        Effect.andThen(
          up("activity"),
          Effect.sync(() => {
            this.reports.push(report)
          })
        ),
      refusals: (report) =>
        Effect.andThen(
          up("refusals"),
          Effect.suspend(() => {
            this.refusals.push(report)
            return Effect.repeat(Effect.sleep("5 millis"), { until: () => this.answersReports })
          })
        )
    }
  }

  /** Uses the core's implementation, not the proxy's. */
  #permits(address: string) {
    return Effect.map(this.#now, (now) =>
      permits(
        this.rules.map(
          ({ cidr, expires_at }) =>
            new IpRule({
              cidr: Result.getOrThrow(parseCidr(cidr)),
              label: "",
              created_at: now,
              created_by: ada,
              expires_at: Option.map(Option.fromNullishOr(expires_at), (text) => DateTime.makeUnsafe(text))
            })
        ),
        address,
        now
      )
    )
  }
}
