/**
 * Where endpoints are. Every connection asks the control plane; while it is unreachable the last known answer counts.
 *
 * A stale address is harmless: it contains the compute's generation, so it leads to that compute or nowhere. So is a stale
 * verifier: a client that has proved itself by it is asked for again, and its compute checks the proof again.
 *
 * An unknown endpoint or role makes the cache ask on behalf of a stranger. Few such questions run at a time, networks
 * take turns, and a network has few questions that find nothing (docs/design/proxy.md P12).
 *
 * Pitfall: resolving only when a client connects. Disabling, suspending or deleting an endpoint also ends its
 * established connections, and its compute may go on for other endpoints of the branch. So endpoints with connections
 * are resolved again when the control plane hints that they have changed, and at every refresh, because hints are lost.
 */
import type { EndpointChange, ResolvedEndpoint } from "@narthex/api"
import type { EndpointId } from "@narthex/core"
import { Data, type Duration, Effect, Exit, PartitionedSemaphore, Queue, Schedule, type Scope } from "effect"
import { Buckets } from "../networks/Buckets.ts"
import { ControlPlane, type ControlPlaneUnreachable, type EndpointUnknown } from "./ControlPlane.ts"
import { type Cancel, failureOf, type OnExit } from "./Run.ts"
import { jittered, makeSingleFlight } from "./SingleFlight.ts"

/** An answer of the control plane, and when it was asked, by the clock of `makeEndpointCache`. */
export interface Located {
  readonly endpoint: ResolvedEndpoint
  /** The verifier of the requested role; `undefined` without a valid role. */
  readonly verifier: string | undefined
  readonly asked_at: number
}

/** The names that a client sends: an endpoint, and a role in the form of a minted one. */
export interface Named {
  readonly endpoint_id: EndpointId
  readonly role: string | undefined
}

/** A connection to a compute. `asked_at` is that of the answer that it rests on. */
export interface Connected {
  readonly endpoint_id: EndpointId
  readonly generation: number
  readonly asked_at: number
}

export interface EndpointCache {
  /** The last answer, if the role is known to have a verifier or no role is named. */
  readonly known: (named: Named) => Located | undefined
  /** Asks on behalf of a client of this network, which has proved nothing. */
  readonly lookUp: (named: Named, network: string, onExit: OnExit<Located, ResolveError | TooManyMisses>) => Cancel
  /** Asks. Concurrent requests for one endpoint and role share a call. */
  readonly resolve: (named: Named, onExit: OnExit<Located, ResolveError>) => Cancel
  /** Calls `cut` when the endpoint is disabled, deleted or suspended. Returns how to stop. */
  readonly watch: (connected: Connected, cut: Cut) => () => void
  /** A hint that the endpoint has changed. */
  readonly changed: (change: EndpointChange) => void
  /** Resolves every endpoint with connections again: hints may have been missed. */
  readonly reload: () => void
}

export type ResolveError = EndpointUnknown | ControlPlaneUnreachable

/** Clients of the network have named too many endpoints and roles that do not exist. */
export class TooManyMisses extends Data.TaggedError("TooManyMisses")<{ readonly network: string }> {}

export type Cut = (why: "disabled" | "suspended") => void

interface Watched {
  readonly generation: number
  /** How many questions had begun before it. */
  readonly since: number
  readonly cut: Cut
}

/** The connections to one endpoint. */
interface Group {
  readonly those: Set<Watched>
  /** The lowest generation of them. */
  least: number
}

/** The least recently resolved endpoint is evicted beyond this number. */
const capacity = 10_000
/** Questions of strangers at a time; questions per second of a network that find nothing, and the size of a burst. */
const [lookUps, misses, missesBurst] = [16, 20, 100]
/** How many endpoints are resolved at once, because of hints and because of a refresh. */
const concurrency = 8

const keyOf = ({ endpoint_id, role }: Named): string => (role === undefined ? endpoint_id : `${endpoint_id} ${role}`)

/** `now` is a monotonic clock in milliseconds. */
export const makeEndpointCache = (
  refresh: Duration.Duration,
  now: () => number
): Effect.Effect<EndpointCache, never, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const control = yield* ControlPlane
    const flights = yield* makeSingleFlight<Located, ResolveError>()
    const known = new Map<EndpointId, Located>()
    /** Verifiers by endpoint and role. */
    const verifiers = new Map<string, string>()
    const missed = new Buckets(misses, missesBurst)
    const turns = PartitionedSemaphore.makeUnsafe<string>({ permits: lookUps })
    const strangers = yield* makeSingleFlight<Located, ResolveError | TooManyMisses>()
    const asking = new Set<EndpointId>()
    /** When the last hint came, for endpoints that are known or being asked for. */
    const hinted = new Map<EndpointId, number>()
    const watched = new Map<EndpointId, Group>()
    let questions = 0
    /** Endpoints that are to be resolved again, each once until its question begins. */
    const due = yield* Queue.unbounded<EndpointId>()
    const waiting = new Set<EndpointId>()
    /** When hints may have been missed last. */
    let missed_at = Number.NEGATIVE_INFINITY

    const forget = (endpoint_id: EndpointId) => {
      known.delete(endpoint_id)
      hinted.delete(endpoint_id)
    }
    const remember = (located: Located) => {
      const { endpoint_id } = located.endpoint
      known.delete(endpoint_id)
      known.set(endpoint_id, { ...located, verifier: undefined })
      const [oldest] = known.keys()
      if (known.size > capacity && oldest !== undefined) forget(oldest)
    }
    const rememberVerifier = (key: string, verifier: string | undefined) => {
      verifiers.delete(key)
      if (verifier === undefined) return
      verifiers.set(key, verifier)
      const [oldest] = verifiers.keys()
      if (verifiers.size > capacity && oldest !== undefined) verifiers.delete(oldest)
    }
    const watching = (endpoint_id: EndpointId) => [...(watched.get(endpoint_id)?.those ?? [])]
    const cutAll = (endpoint_id: EndpointId) => {
      for (const { cut } of watching(endpoint_id)) cut("disabled")
    }

    /** Learns from the answer to a question. */
    const answered = (located: Located, question: number) => {
      const { current_state, disabled, endpoint_id, generation: latest } = located.endpoint
      remember(located)
      if (disabled) return cutAll(endpoint_id)
      const group = watched.get(endpoint_id)
      // The usual case, in which a new connection does not look at all others.
      if (group === undefined || (current_state !== "idle" && (latest === null || latest <= group.least))) return
      group.least = Number.POSITIVE_INFINITY
      for (const { cut, generation, since } of [...group.those]) {
        group.least = Math.min(group.least, generation)
        // A connection that began after the question may be one to the next start of the compute.
        if (since >= question) continue
        // Suspended, or suspended and started again since.
        if (current_state === "idle" || (latest !== null && latest > generation)) cut("suspended")
      }
    }

    const over = (endpoint_id: EndpointId, exit: Exit.Exit<unknown, ResolveError>) => {
      if (failureOf(exit)?._tag === "EndpointUnknown") {
        forget(endpoint_id)
        cutAll(endpoint_id)
      }
      asking.delete(endpoint_id)
      if (!known.has(endpoint_id)) hinted.delete(endpoint_id)
    }

    /** Few steps, because each connection asks. */
    const question = ({ endpoint_id, role }: Named): Effect.Effect<Located, ResolveError> =>
      Effect.suspend(() => {
        const asked_at = now()
        const number = ++questions
        asking.add(endpoint_id)
        return Effect.onExitPrimitive(
          Effect.map(control.resolve(endpoint_id, role), ({ verifier, ...endpoint }): Located => {
            const located = { endpoint, verifier: verifier ?? undefined, asked_at }
            answered(located, number)
            if (role !== undefined) rememberVerifier(keyOf({ endpoint_id, role }), located.verifier)
            return located
          }),
          (exit) => {
            over(endpoint_id, exit)
            return undefined
          }
        )
      })

    /** Pitfall: sharing an answer to a question from before the hint. It may be that of before the change. */
    const askAgain = (endpoint_id: EndpointId) =>
      flights.again(endpoint_id, question({ endpoint_id, role: undefined })).pipe(
        Effect.retry({
          while: ({ _tag }) => _tag === "ControlPlaneUnreachable",
          schedule: Schedule.spaced("1 second"),
          times: 5
        }),
        Effect.ignore
      )

    const soon = (endpoint_id: EndpointId) => {
      if (waiting.has(endpoint_id)) return
      waiting.add(endpoint_id)
      Queue.offerUnsafe(due, endpoint_id)
    }
    const next = Effect.flatMap(Queue.take(due), (endpoint_id) => {
      waiting.delete(endpoint_id)
      return askAgain(endpoint_id)
    })
    yield* Effect.forEach(Array.from({ length: concurrency }), () => Effect.forkScoped(Effect.forever(next)), {
      discard: true
    })
    yield* Effect.suspend(() =>
      Effect.forEach(
        [...watched.keys()],
        (id) => Effect.ignore(flights.join(id, question({ endpoint_id: id, role: undefined }))),
        { concurrency }
      )
    ).pipe(Effect.schedule(jittered(refresh)), Effect.forkScoped)

    /** Whether the endpoint may have changed since a connection to it asked for it. It was not watched then. */
    const mayHaveChanged = ({ asked_at, endpoint_id }: Connected) =>
      !known.has(endpoint_id) || Math.max(missed_at, hinted.get(endpoint_id) ?? missed_at) >= asked_at

    const lastKnown = (named: Named): Located | undefined => {
      const located = known.get(named.endpoint_id)
      if (located === undefined || named.role === undefined) return located
      const verifier = verifiers.get(keyOf(named))
      return verifier === undefined ? undefined : { ...located, verifier }
    }

    const asStranger = (named: Named, network: string) =>
      Effect.suspend((): Effect.Effect<Located, ResolveError | TooManyMisses> => {
        if (!missed.has(network, now())) return new TooManyMisses({ network })
        const miss = Effect.sync(() => void missed.take(network, now()))
        return flights.join(keyOf(named), question(named)).pipe(
          Effect.tapError((error) => (error._tag === "EndpointUnknown" ? miss : Effect.void)),
          Effect.tap(({ verifier }) => (named.role !== undefined && verifier === undefined ? miss : Effect.void))
        )
      }).pipe(turns.withPermit(network))

    return {
      known: lastKnown,
      lookUp: (named, network, onExit) =>
        strangers.wait(`${network} ${keyOf(named)}`, asStranger(named, network), onExit),
      resolve: (named, onExit) =>
        flights.wait(keyOf(named), question(named), (exit) => {
          const last = failureOf(exit)?._tag === "ControlPlaneUnreachable" ? lastKnown(named) : undefined
          onExit(last === undefined ? exit : Exit.succeed(last))
        }),
      watch: (connected, cut) => {
        const { endpoint_id, generation } = connected
        const group = watched.get(endpoint_id) ?? { those: new Set(), least: generation }
        const it = { generation, since: questions, cut }
        group.those.add(it)
        group.least = Math.min(group.least, generation)
        watched.set(endpoint_id, group)
        if (mayHaveChanged(connected)) soon(endpoint_id)
        return () => {
          group.those.delete(it)
          if (group.those.size === 0 && watched.get(endpoint_id) === group) watched.delete(endpoint_id)
        }
      },
      changed: ({ endpoint_id }) => {
        if (known.has(endpoint_id) || asking.has(endpoint_id)) hinted.set(endpoint_id, now())
        if (watched.has(endpoint_id)) soon(endpoint_id)
      },
      reload: () => {
        missed_at = now()
        for (const endpoint_id of watched.keys()) soon(endpoint_id)
      }
    }
  })
