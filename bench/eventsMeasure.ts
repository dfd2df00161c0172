/**
 * One server with its clients, each a process of its own, and what is measured on it.
 *
 * All servers of a comparison are up at once and take turns of a few seconds, so that whatever else the machine does
 * meets all of them.
 *
 * Pitfall: forcing a garbage collection within a turn. Its cost grows with the heap, so it would charge a server for
 * what it remembers.
 */
import { type Collection, type ServerKind, startClients, startServer } from "./eventsProtocol.ts"

export interface Shape {
  readonly connections: number
  readonly organizations: number
  /** For each organization in one step. */
  readonly events: number
  readonly deliveriesPerSecond: number
}

const eventsToWarmUp = 2_000

export const startPair = async (kind: ServerKind, shape: Shape) => {
  const { connections, deliveriesPerSecond, events, organizations } = shape
  const server = await startServer(kind, organizations)
  const clients = startClients()
  const millis = Math.max(1, (events * connections * 1_000) / deliveriesPerSecond)
  const publishing = (seconds: number) => ({ millis, events, steps: Math.ceil((seconds * 1_000) / millis) })

  const cpuOf = async (work: () => Promise<unknown>) => {
    const before = await server.cpu()
    await work()
    return (await server.cpu()) - before
  }

  return {
    kind,
    memory: server.memory,
    connect: async (howMany = connections) => clients.connect({ ...server.up, connections: howMany }),

    /** Before anybody is connected: what making the events costs, in microseconds of CPU for each delivery to come. */
    making: async (seconds: number) => {
      await server.publish({ events, millis: 1, steps: Math.ceil(eventsToWarmUp / events / organizations) })
      const publish = publishing(seconds)
      return (await cpuOf(() => server.publish(publish))) / (publish.steps * events * connections)
    },

    /** Microseconds of the server's CPU for one delivery, the making of its event included. */
    delivery: async (seconds: number) => {
      const publish = publishing(seconds)
      const deliveries = publish.steps * events * connections
      const all = clients.expect(deliveries)
      const cpu = await cpuOf(async () => {
        await server.publish(publish)
        await all
      })
      return cpu / deliveries
    },

    stop: () => {
      clients.stop()
      server.stop()
    }
  }
}

export type Pair = Awaited<ReturnType<typeof startPair>>

/** So many turns each, every other round the other way about, after one that warms up. */
export const takeTurns = async (pairs: ReadonlyArray<Pair>, seconds: number, rounds: number) => {
  const results = new Map<Pair, Array<number>>(pairs.map((pair) => [pair, []]))
  for (const pair of pairs) await pair.delivery(seconds)
  for (let round = 0; round < rounds; round++)
    for (const pair of round % 2 === 0 ? pairs : pairs.toReversed())
      results.get(pair)?.push(await pair.delivery(seconds))
  return results
}

/** Opened before memory is looked at: what the first requests leave behind is not what a connection adds. */
const first = 500

/** Resident bytes that each further connection adds. */
export const memoryOf = async (kind: ServerKind, connections: number, after: Collection): Promise<number> => {
  const pair = await startPair(kind, { connections, organizations: 1, events: 1, deliveriesPerSecond: 1 })
  try {
    await pair.connect(first)
    const before = await pair.memory(after)
    await pair.connect()
    return ((await pair.memory(after)) - before) / connections
  } finally {
    pair.stop()
  }
}
