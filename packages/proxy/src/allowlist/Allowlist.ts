/**
 * A snapshot compiled for matching, and the order of snapshots (docs/design/proxy.md P15 to P18).
 *
 * Pure. It uses two clocks: the server's, in which rules expire, and the proxy's monotonic clock, which measures the
 * time since the snapshot was requested.
 *
 * Pitfall: treating a rule that expired after the snapshot as a removed rule. It still restricts the project and admits
 * no client: an expiry that the proxy observes may only deny, and only a fresh snapshot may open a project. Rules that
 * had expired by the snapshot's own clock do not count, because that is the server's decision.
 */
import type { AllowlistSnapshot } from "@narthex/api"
import type { ProjectId } from "@narthex/core"
import { DateTime, Option } from "effect"
import { type Address, parseNetwork } from "../networks/Address.ts"
import { NetworkTrie } from "../networks/NetworkTrie.ts"

export interface Allowlist {
  readonly project_id: ProjectId
  readonly version: number
  /** Whether there is a rule, valid or not. */
  readonly restricted: boolean
  readonly v4: NetworkTrie
  readonly v6: NetworkTrie
  /** When rules expire, in milliseconds of the server's clock, ascending. */
  readonly expiries: ReadonlyArray<number>
  /** The server's clock when it answered, in milliseconds. */
  readonly server_now: number
  /** The monotonic clock at the request, in milliseconds. It precedes the answer, so an age is never too small. */
  readonly requested_at: number
}

const instant = (text: string): number | undefined =>
  Option.getOrUndefined(Option.map(DateTime.make(text), DateTime.toEpochMillis))

/** Compiles a snapshot; `undefined` if `server_now` is invalid, because then no expiry can be evaluated. */
export const compile = (snapshot: AllowlistSnapshot, requested_at: number): Allowlist | undefined => {
  const server_now = instant(snapshot.server_now)
  if (server_now === undefined) return undefined
  const tries = { 4: new NetworkTrie(), 6: new NetworkTrie() }
  const expiries: Array<number> = []
  let restricted = false
  for (const rule of snapshot.rules) {
    const until = rule.expires_at === null ? Number.POSITIVE_INFINITY : instant(rule.expires_at)
    if (until !== undefined && until <= server_now) continue
    restricted = true
    // A rule without a prefix length is invalid. Like every invalid rule it matches nothing and restricts the project.
    const network = rule.cidr.includes("/") ? parseNetwork(rule.cidr) : undefined
    if (until === undefined || network === undefined) continue
    tries[network.family].add(network.bytes, network.prefix, until)
    if (until !== Number.POSITIVE_INFINITY) expiries.push(until)
  }
  expiries.sort((a, b) => a - b)
  const { project_id, version } = snapshot
  return { project_id, version, restricted, v4: tries[4], v6: tries[6], expiries, server_now, requested_at }
}

/** The newer of two lists: the higher version, and of equal versions the later answer. */
export const newer = (known: Allowlist | undefined, candidate: Allowlist): Allowlist => {
  if (known === undefined || candidate.version > known.version) return candidate
  return candidate.version === known.version && candidate.server_now >= known.server_now ? candidate : known
}

/**
 * The server's clock at `now` of the monotonic clock, in milliseconds. It may be ahead by one round trip and is never
 * behind, so rules expire early rather than late.
 */
export const serverTime = (list: Allowlist, now: number): number => list.server_now + (now - list.requested_at)

/** Whether the rules admit the address at `now`. Does not consider the age of the list. */
export const covers = (list: Allowlist, peer: Address, now: number): boolean =>
  !list.restricted || (peer.family === 4 ? list.v4 : list.v6).coveredUntil(peer.bytes) > serverTime(list, now)

/** Whether a rule has expired since the snapshot, so that a fresh one may differ. */
export const expiredSince = (list: Allowlist, now: number): boolean => {
  const first = list.expiries[0]
  return first !== undefined && first <= serverTime(list, now)
}
