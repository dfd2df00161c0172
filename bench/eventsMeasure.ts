/**
 * One server with its clients, each in its own process, and its measurements.
 *
 * All servers of a comparison run at the same time and take turns of a few seconds, so that other load on the machine
 * affects all of them.
 *
 * Pitfall: forcing a garbage collection within a turn. Its cost grows with the heap, so a server with more stored data
 * would look slower.
 */
import { type Collection, type ServerKind, startClients, startServer } from "./eventsProtocol.ts"

export interface Shape {
  readonly connections: number
  readonly organizations: number
  /** Events for each organization in one step. */
  readonly events: number
  readonly deliveriesPerSecond: number
  /** The folder of the socket of a Postgres, for servers that need one. */
  readonly socket?: string | undefined
}

const eventsToWarmUp = 2_000

export const startPair = async (kind: ServerKind, shape: Shape) => {
  const { connections, deliveriesPerSecond, events, organizations } = shape
  const server = await startServer(kind, organizations, shape.socket)
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

    /** The cost of making the events, without connections: microseconds of CPU per future delivery. */
    making: async (seconds: number) => {
      await server.publish({ events, millis: 1, steps: Math.ceil(eventsToWarmUp / events / organizations) })
      const publish = publishing(seconds)
      return (await cpuOf(() => server.publish(publish))) / (publish.steps * events * connections)
    },

    /** Microseconds of the server's CPU per delivery, including the making of the event. */
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

/** `rounds` turns each, after one for warm-up. Every second round runs in reverse order. */
export const takeTurns = async (pairs: ReadonlyArray<Pair>, seconds: number, rounds: number) => {
  const results = new Map<Pair, Array<number>>(pairs.map((pair) => [pair, []]))
  for (const pair of pairs) await pair.delivery(seconds)
  for (let round = 0; round < rounds; round++)
    for (const pair of round % 2 === 0 ? pairs : pairs.toReversed())
      results.get(pair)?.push(await pair.delivery(seconds))
  return results
}

/** Connections before the first measurement: the first requests allocate memory that later ones share. */
const first = 500

/** RSS in bytes that each further connection adds. */
export const memoryOf = async (kind: ServerKind, shape: Shape, after: Collection): Promise<number> => {
  const pair = await startPair(kind, shape)
  try {
    await pair.connect(first)
    const before = await pair.memory(after)
    await pair.connect()
    return ((await pair.memory(after)) - before) / shape.connections
  } finally {
    pair.stop()
  }
}
