/**
 * A snapshot made ready for matching, and the rules of which snapshot counts.
 *
 * Pure.
 *
 * Pitfall: taking a rule that expired here for one that is gone. A rule that lapses after the snapshot was taken still
 * restricts the project and admits no client: a local expiry may only deny, only a fresh snapshot may open. Rules that
 * had lapsed by the snapshot's own clock do not count; that is the server's decision.
 */
import { DateTime, Option } from "effect"
import type { AllowlistSnapshot } from "@narthex/api"
import type { ProjectId } from "@narthex/core"
import { type Address, parseNetwork } from "../networks/Address.ts"
import { NetworkTrie } from "../networks/NetworkTrie.ts"

export interface Allowlist {
  readonly project_id: ProjectId
  readonly version: number
  /** Is there a rule, readable or not? */
  readonly restricted: boolean
  readonly v4: NetworkTrie
  readonly v6: NetworkTrie
  /** When rules lapse, by the server's clock, ascending. */
  readonly ends: ReadonlyArray<number>
  /** The server's clock when it answered. */
  readonly server_now: number
  /** Our monotonic clock, in milliseconds, when we asked: never later than the answer, so an age is never too small. */
  readonly asked_at: number
}

const instant = (text: string): number | undefined =>
  Option.getOrUndefined(Option.map(DateTime.make(text), DateTime.toEpochMillis))

/** Makes a snapshot ready; `undefined` if its own clock cannot be read, for then nothing in it can be judged. */
export const compile = (snapshot: AllowlistSnapshot, asked_at: number): Allowlist | undefined => {
  const server_now = instant(snapshot.server_now)
  if (server_now === undefined) return undefined
  const tries = { 4: new NetworkTrie(), 6: new NetworkTrie() }
  const ends: Array<number> = []
  let restricted = false
  for (const rule of snapshot.rules) {
    const until = rule.expires_at === null ? Number.POSITIVE_INFINITY : instant(rule.expires_at)
    if (until !== undefined && until <= server_now) continue
    restricted = true
    // An address without a prefix is no network on a list: it matches nothing, as every rule that cannot be read.
    const network = rule.cidr.includes("/") ? parseNetwork(rule.cidr) : undefined
    if (until === undefined || network === undefined) continue
    tries[network.family].add(network.bytes, network.prefix, until)
    if (until !== Number.POSITIVE_INFINITY) ends.push(until)
  }
  ends.sort((a, b) => a - b)
  const { project_id, version } = snapshot
  return { project_id, version, restricted, v4: tries[4], v6: tries[6], ends, server_now, asked_at }
}

/** Which of two lists counts. An older version never replaces a newer; of one version the later answer counts. */
export const newer = (known: Allowlist | undefined, candidate: Allowlist): Allowlist => {
  if (known === undefined || candidate.version > known.version) return candidate
  return candidate.version === known.version && candidate.server_now >= known.server_now ? candidate : known
}

/** The server's clock at a moment of ours. It may run ahead by one round trip, never behind: rules end early, not late. */
export const serverTime = (list: Allowlist, now: number): number => list.server_now + (now - list.asked_at)

/** Do the rules let the address in at this moment? How old the list is, is another question. */
export const covers = (list: Allowlist, peer: Address, now: number): boolean =>
  !list.restricted || (peer.family === 4 ? list.v4 : list.v6).coveredUntil(peer.bytes) > serverTime(list, now)

/** Has a rule lapsed since the snapshot was taken? Then a fresh one may say something else. */
export const lapsedSince = (list: Allowlist, now: number): boolean => {
  const first = list.ends[0]
  return first !== undefined && first <= serverTime(list, now)
}
