/**
 * Event streams against two limits in the same run: bare `node:http` that writes one shared buffer, and better-sse.
 *
 * `node --conditions=source bench/events.ts [connections] [seconds] [rounds]`, connections as `1000,5000,10000`. The servers
 * are processes of their own that take turns of so many seconds; the ratios are what to read, each within one round. A
 * delivery is one event on one connection. Ours authenticates, keeps the ring and commits to the log in memory; the
 * others do nothing but write.
 */
import { latency } from "./eventsLatency.ts"
import { kinds, memoryOf, type Pair, type Shape, startPair, takeTurns } from "./eventsMeasure.ts"
import { median, perSecond, row, spread, table, times } from "./eventsTable.ts"

const [sizes = "1000,5000,10000", secondsGiven = "2", roundsGiven = "5"] = process.argv.slice(2)
const seconds = Number(secondsGiven)
const rounds = Number(roundsGiven)
const many = 5_000

/** How much faster one is than another, round by round. */
const ratios = (one: ReadonlyArray<number>, other: ReadonlyArray<number>) =>
  one.map((micros, round) => (other[round] ?? Number.NaN) / micros)

/** One row for each server; with what making the events costs it, if that is to be seen apart. */
const compare = async (name: number, shape: Shape, apart: boolean) => {
  const pairs = await Promise.all(kinds.map((kind) => startPair(kind, shape)))
  try {
    const making = new Map<Pair, number>()
    if (apart) for (const pair of pairs) making.set(pair, await pair.making(seconds))
    for (const pair of pairs) await pair.connect()
    const results = await takeTurns(pairs, seconds, rounds)
    const [bare = [], , better = []] = pairs.map((pair) => results.get(pair) ?? [])
    for (const pair of pairs) {
      const micros = results.get(pair) ?? []
      const made = making.get(pair)
      row(
        String(name),
        pair.kind,
        spread(
          micros.map((it) => 1e6 / it),
          perSecond
        ),
        spread(ratios(micros, bare), times),
        spread(ratios(micros, better), times),
        ...(made === undefined ? [] : [`${made.toFixed(2)} µs`, perSecond(1e6 / (median(micros) - made))])
      )
    }
  } finally {
    for (const pair of pairs) pair.stop()
  }
}

const columns = ["Server", "Deliveries/CPU-s", "Of `node:http`", "Of better-sse"]

table("One event a step, 40,000 deliveries a second", "Connections", ...columns)
for (const connections of sizes.split(",").map(Number))
  await compare(connections, { connections, organizations: 1, events: 1, deliveriesPerSecond: 40_000 }, false)

table(`${many} connections, ten events a step, 200,000 deliveries a second`, "Events a step", ...columns)
await compare(10, { connections: many, organizations: 1, events: 10, deliveriesPerSecond: 200_000 }, false)

table(
  `${many} connections, one event for each organization a step, 40,000 deliveries a second`,
  "Organizations",
  ...columns,
  "Making the events",
  "Without that"
)
for (const organizations of [1, 500])
  await compare(organizations, { connections: many, organizations, events: 1, deliveriesPerSecond: 40_000 }, true)

table("RSS that each further connection adds", "Connections", "Server", "Held", "With the room that V8 keeps")
for (const connections of sizes.split(",").map(Number)) {
  const found = new Map(kinds.map((kind) => [kind, { held: [] as number[], kept: [] as number[] }]))
  for (let round = 0; round < Math.min(3, rounds); round++)
    for (const [kind, { held, kept }] of found) {
      held.push(await memoryOf(kind, connections, "last-resort"))
      kept.push(await memoryOf(kind, connections, "full"))
    }
  const kibibytes = (bytes: number) => `${(bytes / 1_024).toFixed(1)} KiB`
  for (const [kind, { held, kept }] of found)
    row(String(connections), kind, spread(held, kibibytes), spread(kept, kibibytes))
}

process.stdout.write("\n")
for (const [at, { events, p50, p99 }] of (await latency(400, Math.max(4, seconds))).entries())
  process.stdout.write(
    `commit to client, instance ${at + 1}, 400 events/s: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms (${events} events)\n`
  )
process.exit(0)
