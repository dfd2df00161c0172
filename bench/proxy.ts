/**
 * The proxy beside other relays in the same run: a bare pipe of Node, HAProxy and PgBouncer where they are installed,
 * and Postgres without a relay.
 *
 * `node --conditions=source bench/proxy.ts [seconds] [rounds] [sessions] [parts]`. Each relay is a process, and its CPU
 * is that of the process. Relays take turns, every second round in reverse order; a ratio compares two turns of one
 * round, and results are medians of the rounds with minimum and maximum.
 *
 * Parts: relay, processes, connect, copy, memory, refuse, match. Default: all. `processes` compares a process for each core
 * with a bare pipe for each, and with HAProxy with as many threads.
 */
import { execFileSync } from "node:child_process"
import { chmodSync, mkdtempSync, rmSync } from "node:fs"
import { availableParallelism, tmpdir } from "node:os"
import { join } from "node:path"
import { password, role } from "../packages/proxy/test/support/credentials.ts"
import { matchCost } from "./proxyAllowlist.ts"
import { connections, copyOut, openSessions, pgbench, refusals, type Work, wrongPasswords } from "./proxyClients.ts"
import { binaries, endpoint_id, startCluster } from "./proxyCluster.ts"
import { type Relay, startHaproxy, startNode, startPgbouncer } from "./proxyPeers.ts"
import { ratio } from "./ratios.ts"

const [seconds, rounds, sessions] = [2, 3, 4].map((at, n) => Number(process.argv[at] ?? [2, 5, 5_000][n])) as [
  number,
  number,
  number
]
const parts = (process.argv[5] ?? "relay,processes,connect,copy,memory,refuse,match").split(",")
const bin = binaries()
const folder = mkdtempSync(join(tmpdir(), "narthex-bench-proxy-"))
// PgBouncer reads its settings as another user.
chmodSync(folder, 0o711)
const say = (text: string) => process.stdout.write(`${text}\n`)

/** One turn of a relay: CPU of its process in microseconds for each unit, and units per second. */
interface Turn {
  readonly cpu: number
  readonly rate: number
}

const spreadOf = (values: ReadonlyArray<number>) => {
  const sorted = values.toSorted((a, b) => a - b)
  const at = (n: number) => sorted[n] ?? Number.NaN
  return { median: at(sorted.length >> 1), least: at(0), most: at(sorted.length - 1) }
}

const shown = (values: ReadonlyArray<number>, digits = 2) => {
  const { least, median, most } = spreadOf(values)
  return `${median.toFixed(digits)} (${least.toFixed(digits)} to ${most.toFixed(digits)})`
}

/** Turns of each relay, round by round. */
const takeTurns = async (relays: ReadonlyArray<Relay>, work: (relay: Relay) => Promise<Work>) => {
  const turns = new Map<string, Array<Turn>>(relays.map(({ name }) => [name, []]))
  for (let round = 0; round < rounds; round++)
    for (const relay of round % 2 === 0 ? relays : relays.toReversed()) {
      const before = relay.cpu()
      const { seconds: took, units } = await work(relay)
      turns.get(relay.name)?.push({ cpu: (relay.cpu() - before) / units, rate: units / took })
    }
  return turns
}

type Turns = Awaited<ReturnType<typeof takeTurns>>

const quotients = (turns: Turns, what: keyof Turn, of: string, by: string) => {
  const peers = turns.get(by) ?? []
  return (turns.get(of) ?? []).map((turn, round) => turn[what] / (peers[round]?.[what] ?? Number.NaN))
}

/** A line for each relay, and the ratios of Narthex to its peers, of which less is better. */
const report = (title: string, turns: Turns, peers: ReadonlyArray<readonly [peer: string, what: keyof Turn]>) => {
  say(`\n${title}`)
  for (const [name, all] of turns) {
    const line = [
      `rate ${shown(
        all.map(({ rate }) => rate),
        rate(all)
      )}`
    ]
    if (name !== direct.name)
      line.push(
        `CPU ${shown(
          all.map(({ cpu }) => cpu),
          1
        )} us`
      )
    if (turns.has(direct.name) && name !== direct.name)
      line.push(`rate of direct ${shown(quotients(turns, "rate", name, direct.name))}`)
    if (name !== "Narthex" && name !== direct.name)
      line.push(`Narthex/it: CPU ${shown(quotients(turns, "cpu", "Narthex", name))}`)
    say(`  ${name.padEnd(12)} ${line.join(", ")}`)
  }
  for (const [peer, what] of peers) {
    if ((turns.get(peer) ?? []).length === 0) continue
    const all = what === "cpu" ? quotients(turns, "cpu", "Narthex", peer) : quotients(turns, "rate", peer, "Narthex")
    ratio(`proxy/${title.split(":")[0]?.replaceAll(" ", "-")}-${what}-of-${peer.replaceAll(" ", "-")}`, ...all)
  }
}

const rate = (all: ReadonlyArray<Turn>) => ((all[0]?.rate ?? 0) < 100 ? 2 : 0)

const direct = { name: "direct", port: 0, cpu: () => 0, memory: async () => 0, stop: async () => {} }

const measureMemory = async (relays: ReadonlyArray<Relay>) => {
  const grown = new Map<string, number>()
  for (const relay of relays) {
    const first = await openSessions(relay.port, sessions / 10)
    const before = await relay.memory()
    const others = await openSessions(relay.port, sessions)
    grown.set(relay.name, ((await relay.memory()) - before) / others.length / 1_024)
    for (const socket of [...first, ...others]) socket.destroy()
  }
  return grown
}

// For pgbench and psql.
process.env["PGPASSWORD"] = password
const cluster = await startCluster(bin)
const running: Array<Relay> = []
const started = async (relay: Promise<Relay | undefined>) => {
  const up = await relay
  if (up !== undefined) running.push(up)
  return up === undefined ? [] : [up]
}

try {
  const key = [
    "-newkey",
    "ec",
    "-pkeyopt",
    "ec_paramgen_curve:prime256v1",
    "-nodes",
    "-keyout",
    join(folder, "key.pem")
  ]
  const about = ["-out", join(folder, "cert.pem"), "-days", "2", "-subj", "/CN=localhost"]
  execFileSync("openssl", ["req", "-x509", ...key, ...about], { stdio: "pipe" })
  execFileSync(join(bin, "pgbench"), ["-i", "-q", "-s", "1", `host=${cluster.socket} user=${role} dbname=postgres`], {
    stdio: "pipe"
  })
  const narthex = await started(startNode("Narthex", "proxy", cluster.address, folder))
  const pipe = await started(startNode("bare pipe", "pipe", cluster.address, folder))
  const haproxy = await started(startHaproxy(cluster.address, folder, 1))
  const pgbouncer = await started(startPgbouncer(cluster.address, folder))
  const relays = [direct, ...narthex, ...pipe, ...haproxy, ...pgbouncer]
  const connection = ({ name, port }: Relay) => {
    if (name === direct.name) return `host=${cluster.socket} user=${role} dbname=postgres`
    const options = name === "Narthex" ? ` options='endpoint=${endpoint_id}'` : ""
    return `host=127.0.0.1 port=${port} user=${role} dbname=postgres sslmode=disable${options}`
  }
  const bench = (flags: ReadonlyArray<string>) => (relay: Relay) => pgbench(bin, connection(relay), seconds, flags)

  if (parts.includes("relay"))
    for (const clients of ["1", "16"]) {
      const turns = await takeTurns(relays, bench(["-c", clients]))
      report(`${clients} sessions: a transaction`, turns, [
        ["bare pipe", "cpu"],
        ["HAProxy", "cpu"],
        ["HAProxy", "rate"]
      ])
    }
  if (parts.includes("processes")) {
    const cores = availableParallelism()
    const all = [
      direct,
      ...(await started(startNode("Narthex", "processes", cluster.address, folder))),
      ...(await started(startNode("bare pipe", "pipes", cluster.address, folder))),
      ...(await started(startHaproxy(cluster.address, folder, cores)))
    ]
    const turns = await takeTurns(all, bench(["-c", "16", "-j", String(cores)]))
    report(`processes of 16 sessions: a transaction, ${cores} processes or threads`, turns, [
      ["bare pipe", "cpu"],
      ["bare pipe", "rate"],
      ["HAProxy", "cpu"],
      ["HAProxy", "rate"]
    ])
  }
  if (parts.includes("copy"))
    report("copy: a gigabyte to the client", await takeTurns(relays, (relay) => copyOut(bin, connection(relay), 250)), [
      ["bare pipe", "cpu"],
      ["HAProxy", "cpu"]
    ])
  if (parts.includes("refuse")) {
    const limit = await started(startNode("bare refuser", "refuser", "", folder))
    for (const [title, tls] of [
      ["refused: plain", false],
      ["refused TLS: after the handshake of TLS", true]
    ] as const)
      report(title, await takeTurns([...narthex, ...limit], ({ port }) => refusals(port, tls, seconds)), [
        ["bare refuser", "cpu"]
      ])
    report("a wrong password", await takeTurns(narthex, ({ port }) => wrongPasswords(port, seconds)), [])
  }
  const address = join(folder, "compute")
  await started(startNode("compute", "compute", address, folder))
  const before = [
    ...(await started(startNode("Narthex", "proxy", address, folder))),
    ...(await started(startNode("bare pipe", "pipe", address, folder))),
    ...(await started(startHaproxy(address, folder, 1)))
  ]
  if (parts.includes("memory")) {
    const grown = await measureMemory(before)
    say(`\nmemory of an idle session, KiB, at ${sessions}`)
    for (const [name, kib] of grown) say(`  ${name.padEnd(12)} ${kib.toFixed(1)}`)
    ratio("proxy/memory-of-bare-pipe", (grown.get("Narthex") ?? Number.NaN) / (grown.get("bare pipe") ?? Number.NaN))
  }
  if (parts.includes("connect")) {
    // Compiles the code: a connection to real Postgres takes 5 ms of Postgres, so few of them would measure the
    // compiler.
    const all = [
      ...before,
      ...(parts.includes("processes") ? await started(startNode("processes", "processes", address, folder)) : [])
    ]
    for (const { port } of all) await connections(port, seconds)
    report("a connection: 16 at a time", await takeTurns(all, ({ port }) => connections(port, seconds)), [
      ["bare pipe", "cpu"],
      ["HAProxy", "cpu"]
    ])
  }
  if (parts.includes("match")) {
    say("\na match against an allowlist, ns")
    for (const [rules, limit] of [
      [10, 50],
      [1_000, 100],
      [100_000, 500]
    ] as const) {
      const costs = Array.from({ length: rounds }, () => matchCost(rules))
      say(`  ${String(rules).padEnd(12)} ${shown(costs, 0)}, limit ${limit}`)
      ratio(`proxy/match-${rules}-of-limit`, ...costs.map((cost) => cost / limit))
    }
  }
} finally {
  await Promise.all(running.map(({ stop }) => stop()))
  await cluster.stop()
  rmSync(folder, { recursive: true, force: true })
}
process.exit(0)
