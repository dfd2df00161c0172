/**
 * Event streams against two limits in the same run: bare `node:http` that writes one shared buffer, and better-sse.
 *
 * `node --conditions=source bench/events.ts [connections] [seconds] [rounds]`, connections as `1000,5000,10000`. The server
 * is a process of its own; kinds alternate, and the ratios are what to read. A delivery is one event on one connection, one
 * event a flush, at a steady 40,000 deliveries a second. Ours authenticates, keeps the ring and commits to the log in memory;
 * the others do nothing but write.
 */
import { latency } from "./eventsLatency.ts"
import { type ServerKind, startClients, startServer } from "./eventsProtocol.ts"

const [sizes = "1000,5000,10000", seconds = "4", rounds = "1"] = process.argv.slice(2)
const kinds: ReadonlyArray<ServerKind> = ["node:http", "narthex", "better-sse"]
const deliveriesPerSecond = 40_000

interface Measured {
  /** Deliveries per second of the server's CPU. */
  readonly throughput: number
  /** Memory of one idle connection in KiB. */
  readonly memory: number
}

const measure = async (kind: ServerKind, connections: number, organizations: number): Promise<Measured> => {
  const server = await startServer(kind, organizations)
  const clients = startClients()
  try {
    const empty = await server.look()
    await clients.connect({ ...server.up, connections })
    const idle = await server.look()
    const millis = Math.max(1, (connections * 1_000) / deliveriesPerSecond)
    const warm = clients.expect(5 * connections)
    await server.publish(5, millis)
    await warm
    const steps = Math.ceil((Number(seconds) * 1_000) / millis)
    const before = await server.look()
    const all = clients.expect(steps * connections)
    await server.publish(steps, millis)
    await all
    const after = await server.look()
    return {
      throughput: (steps * connections * 1e6) / (after.cpu - before.cpu),
      memory: (idle.rss - empty.rss) / connections / 1_024
    }
  } finally {
    clients.stop()
    server.stop()
  }
}

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

const of = (all: ReadonlyArray<Measured>): Measured => ({
  throughput: median(all.map((it) => it.throughput)),
  memory: median(all.map((it) => it.memory))
})

const row = (...cells: ReadonlyArray<string>) =>
  process.stdout.write(`| ${cells.map((cell, at) => (at < 2 ? cell.padEnd(18) : cell.padStart(22))).join(" | ")} |\n`)

row("connections", "server", "deliveries/CPU-s", "of node:http", "RSS/connection (KiB)")
for (const connections of sizes.split(",").map(Number)) {
  const results = new Map<ServerKind, Array<Measured>>()
  for (let round = 0; round < Number(rounds); round++)
    for (const kind of kinds) results.set(kind, [...(results.get(kind) ?? []), await measure(kind, connections, 1)])
  const limit = of(results.get("node:http") ?? [])
  for (const kind of kinds) {
    const { memory, throughput } = of(results.get(kind) ?? [])
    const ratio = (throughput / limit.throughput).toFixed(2)
    row(String(connections), kind, String(Math.round(throughput)), `${ratio}x`, memory.toFixed(1))
  }
}

const many = 5_000
const [one, fiveHundred] = [await measure("narthex", many, 1), await measure("narthex", many, 500)]
row(String(many), "1 organization", String(Math.round(one.throughput)), "", one.memory.toFixed(1))
row(String(many), "500 organizations", String(Math.round(fiveHundred.throughput)), "", fiveHundred.memory.toFixed(1))

for (const [at, { events, p50, p99 }] of (await latency(400, Number(seconds))).entries())
  process.stdout.write(
    `commit to client, instance ${at + 1}, 400 events/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${events} events)\n`
  )
process.exit(0)
