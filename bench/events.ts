/**
 * Event streams against other servers in the same run: bare `node:http` that writes one shared buffer, the same
 * directly to the socket, better-sse, and nchan where it is installed.
 *
 * `node --conditions=source bench/events.ts [connections] [seconds] [rounds] [many] [parts] [servers]`, with
 * connections as `1000,5000,10000`; `many` of the other tables is 5000 by default. Parts are `all`, `first` for the first two
 * tables, and `single` or `memory` for one of them. Servers of single events are separated by `+`; by default all. Each
 * server is a process, and they take turns of `seconds`; compare the ratios, each within one round. A delivery is one event
 * on one connection. Narthex authenticates, maintains the ring and commits to the log, in memory or on Postgres; the others
 * only write.
 */
import { latency } from "./eventsLatency.ts"
import { memoryOf, type Pair, type Shape, startPair, takeTurns } from "./eventsMeasure.ts"
import { hasNchan } from "./eventsNchan.ts"
import type { ServerKind } from "./eventsProtocol.ts"
import { perSecond, row, spread, table, times } from "./eventsTable.ts"
import { binaries, startCluster } from "./proxyCluster.ts"
import { ratio } from "./ratios.ts"

const [sizes = "1000,5000,10000", secondsGiven = "2", roundsGiven = "5", manyGiven = "5000", parts = "all", only = ""] =
  process.argv.slice(2)
const seconds = Number(secondsGiven)
const rounds = Number(roundsGiven)
const many = Number(manyGiven)
const kinds: ReadonlyArray<ServerKind> = ["node:http", "narthex", "better-sse"]
const compared: ReadonlyArray<ServerKind> = [
  ...(["node:http", "socket.write", "narthex", "narthex, Postgres", "better-sse"] as const),
  ...(hasNchan ? (["nchan"] as const) : [])
].filter((kind) => only === "" || only.split("+").includes(kind))

/** The ratio of two servers in each round. */
const ratios = (one: ReadonlyArray<number>, other: ReadonlyArray<number>) =>
  one.map((micros, round) => (other[round] ?? Number.NaN) / micros)

const whileUp = async (pairs: ReadonlyArray<Pair>, use: () => Promise<void>) => {
  try {
    await use()
  } finally {
    for (const pair of pairs) pair.stop()
  }
}

const rates = (micros: ReadonlyArray<number>) =>
  spread(
    micros.map((it) => 1e6 / it),
    perSecond
  )

/** Prints one row for each server. All of them run at the same time. */
const compare = async (name: number, servers: ReadonlyArray<ServerKind>, shape: Shape) => {
  const pairs = await Promise.all(servers.map((kind) => startPair(kind, shape)))
  await whileUp(pairs, async () => {
    for (const pair of pairs) await pair.connect()
    const results = await takeTurns(pairs, seconds, rounds)
    const of = (kind: ServerKind) => pairs.flatMap((pair) => (pair.kind === kind ? (results.get(pair) ?? []) : []))
    const limits: ReadonlyArray<ServerKind> = ["node:http", "better-sse", "nchan"]
    for (const kind of servers)
      row(
        String(name),
        kind,
        rates(of(kind)),
        ...limits.map((limit) => (servers.includes(limit) ? spread(ratios(of(kind), of(limit)), times) : ""))
      )
    ratio(`events/${name}-of-node-http`, ...ratios(of("node:http"), of("narthex")))
  })
}

/** Compares one organization with many for each server, in turns, with and without the making of the events. */
const grow = async (organizations: number) => {
  const shape = { connections: many, events: 1, deliveriesPerSecond: 40_000 }
  for (const kind of kinds) {
    const [one, more] = await Promise.all([
      startPair(kind, { ...shape, organizations: 1 }),
      startPair(kind, { ...shape, organizations })
    ])
    await whileUp([one, more], async () => {
      const [made, madeMore] = [await one.making(seconds), await more.making(seconds)]
      await one.connect()
      await more.connect()
      const results = await takeTurns([one, more], seconds, rounds)
      const [first = [], then = []] = [one, more].map((pair) => results.get(pair) ?? [])
      const without = (micros: ReadonlyArray<number>, made: number) => micros.map((it) => it - made)
      row(
        kind,
        rates(first),
        rates(then),
        spread(ratios(then, first), times),
        `${made.toFixed(2)} and ${madeMore.toFixed(2)}`,
        spread(ratios(without(then, madeMore), without(first, made)), times)
      )
    })
  }
}

const columns = ["Server", "Deliveries/CPU-s", "Of `node:http`", "Of better-sse", "Of nchan"]

const single = async (socket: string) => {
  table("One event a step, 40,000 deliveries a second", "Connections", ...columns)
  for (const connections of sizes.split(",").map(Number))
    await compare(connections, compared, {
      connections,
      organizations: 1,
      events: 1,
      deliveriesPerSecond: 40_000,
      socket
    })
}

const several = async (socket: string) => {
  table(`${many} connections, ten events a step, 200,000 deliveries a second`, "Events a step", ...columns)
  const servers = compared.filter((kind) => kind !== "socket.write")
  const shape = { connections: many, organizations: 1, events: 10, deliveriesPerSecond: 200_000, socket }
  await compare(10, servers, shape)
}

const growth = async () => {
  table(
    `From 1 to 500 organizations: ${many} connections, one event for each organization a step, 40,000 deliveries a second`,
    "Server",
    "1: deliveries/CPU-s",
    "500",
    "500 of 1",
    "Making the events, µs a delivery",
    "500 of 1 without that"
  )
  await grow(500)
}

const memory = async (socket: string) => {
  table("RSS that each further connection adds", "Connections", "Server", "Held", "With the room that V8 keeps")
  const servers = compared.filter((kind) => kind !== "socket.write")
  for (const connections of sizes.split(",").map(Number)) {
    const shape = { connections, organizations: 1, events: 1, deliveriesPerSecond: 1, socket }
    const found = new Map(servers.map((kind) => [kind, { held: [] as number[], kept: [] as number[] }]))
    for (let round = 0; round < Math.min(3, rounds); round++)
      for (const [kind, { held, kept }] of found) {
        held.push(await memoryOf(kind, shape, "last-resort"))
        kept.push(await memoryOf(kind, shape, "full"))
      }
    const kibibytes = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`
    for (const [kind, { held, kept }] of found)
      row(String(connections), kind, spread(held, kibibytes), spread(kept, kibibytes))
  }
}

const fromCommit = async () => {
  process.stdout.write("\n")
  for (const [at, { events, p50, p99 }] of (await latency(400, Math.max(4, seconds))).entries())
    process.stdout.write(
      `commit to client, instance ${at + 1}, 400 events/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${events} events)\n`
    )
}

const cluster = await startCluster(binaries())
try {
  if (["all", "first", "single"].includes(parts)) await single(cluster.socket)
  if (["all", "first"].includes(parts)) await several(cluster.socket)
  if (parts === "all") await growth()
  if (["all", "memory"].includes(parts)) await memory(cluster.socket)
  if (parts === "all") await fromCommit()
} finally {
  await cluster.stop()
}
process.exit(0)
