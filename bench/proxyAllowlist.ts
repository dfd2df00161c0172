/** The cost of one match against an allowlist, by its number of rules: nanoseconds on this thread. */
import { ProjectId } from "@narthex/core"
import { compile, covers } from "../packages/proxy/src/allowlist/Allowlist.ts"
import { parsePeer } from "../packages/proxy/src/networks/Address.ts"

const project_id = ProjectId.make("prj-01k3z6v9e8q0x5m4c2b7n1r0sd")

const dotted = (n: number) => [24, 16, 8, 0].map((shift) => (n >>> shift) & 255).join(".")

/** Spreads numbers over all addresses, the same in every run. */
const spread = (n: number) => Math.imul(n + 1, 0x9e37_79b1) >>> 0

/** Half of the peers are listed. Returns nanoseconds for each match. */
export const matchCost = (rules: number): number => {
  const networks = Array.from({ length: rules }, (_, n) => dotted(spread(n)))
  const server_now = "2026-01-01T00:00:00.000Z"
  const snapshot = networks.map((address) => ({ cidr: `${address}/32`, expires_at: null }))
  const list = compile({ project_id, version: 1, rules: snapshot, server_now }, 0)
  if (list === undefined) throw new Error("the list does not compile")
  const peers = Array.from({ length: 1_024 }, (_, n) =>
    parsePeer(n % 2 === 0 ? (networks[spread(n) % rules] ?? "") : dotted(spread(n + 0x1000_0000)))
  ).filter((peer) => peer !== undefined)
  let listed = 0
  const pass = () => {
    for (const peer of peers) if (covers(list, peer, 1)) listed++
  }
  for (let warm = 0; warm < 200; warm++) pass()
  const passes = 500
  const before = process.cpuUsage()
  for (let at = 0; at < passes; at++) pass()
  const { system, user } = process.cpuUsage(before)
  if (listed === 0) throw new Error("no peer was listed")
  return ((system + user) * 1_000) / (passes * peers.length)
}
