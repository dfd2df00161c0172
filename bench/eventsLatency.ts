/** Latency from the return of a commit to the arrival at a client, for each of two API processes on one Postgres. */
import { once } from "node:events"
import { get, type IncomingMessage } from "node:http"
import { Effect, Layer } from "effect"
import { PostgresServer } from "../packages/postgres/test/support/PostgresServer.ts"
import { signIn } from "../test/events/support/ApiProcesses.ts"
import { apis, commit, freshDatabase, stores } from "../test/events/support/platform.ts"
import { postgres, programs } from "../test/harness/makers.ts"
import { ResourceServer } from "../test/harness/ResourceServer.ts"
import { resourcesVariable } from "../test/harness/resource.ts"

export interface Latency {
  readonly events: number
  readonly p50: number
  readonly p99: number
}

/** The arrival time of each numbered event. */
const follow = async (port: number, token: string) => {
  const outgoing = get({
    host: "127.0.0.1",
    port,
    path: "/v1/events",
    agent: false,
    headers: { authorization: `Bearer ${token}` }
  })
  const [incoming]: Array<IncomingMessage> = await once(outgoing, "response")
  const arrived = new Map<number, number>()
  let rest = ""
  incoming?.setEncoding("utf8").on("data", (text: string) => {
    const lines = `${rest}${text}`.split("\n")
    rest = lines.pop() ?? ""
    for (const line of lines) {
      const number = /^data: .*"n":(\d+)/.exec(line)?.[1]
      if (number !== undefined) arrived.set(Number(number), performance.now())
    }
  })
  return { arrived, drop: () => outgoing.destroy() }
}

const quantile = (sorted: ReadonlyArray<number>, q: number) => sorted[Math.floor((sorted.length - 1) * q)] ?? Number.NaN

/** The resources that runs share: a Postgres server, and the API process. */
const resources = Effect.acquireRelease(
  Effect.promise(async () => {
    const server = await ResourceServer.start({ postgres, programs })
    process.env[resourcesVariable] = server.socket
    return server
  }),
  (server) => Effect.promise(() => server.stop())
)

export const latency = (rate: number, seconds: number): Promise<ReadonlyArray<Latency>> =>
  Effect.gen(function* () {
    const url = yield* freshDatabase
    return yield* Effect.gen(function* () {
      const servers = yield* apis(url, 2)
      const { org, token } = yield* Effect.promise(() => signIn(servers[0]?.port ?? 0, "ada@example.com"))
      const clients = yield* Effect.promise(() => Promise.all(servers.map(({ port }) => follow(port, token))))
      const committed: Array<number> = []
      const total = rate * seconds
      const begun = performance.now()
      yield* Effect.forEach(
        Array.from({ length: total }, (_, n) => n),
        (n) =>
          Effect.andThen(
            Effect.sleep(Math.max(0, begun + (n * 1_000) / rate - performance.now())),
            Effect.tap(commit(org, null, [n]), () =>
              Effect.sync(() => {
                committed[n] = performance.now()
              })
            )
          ),
        { concurrency: 4, discard: true }
      )
      while (clients.some(({ arrived }) => arrived.size < total)) yield* Effect.sleep(10)
      for (const { drop } of clients) drop()
      return clients.map(({ arrived }): Latency => {
        // Negative if the event arrives before the commit returns.
        const waits = [...arrived].map(([n, at]) => at - (committed[n] ?? Number.NaN)).sort((x, y) => x - y)
        return { events: waits.length, p50: quantile(waits, 0.5), p99: quantile(waits, 0.99) }
      })
    }).pipe(Effect.provide(stores(url)), Effect.scoped)
  }).pipe(
    Effect.scoped,
    Effect.provide(Layer.provide(Layer.fresh(PostgresServer.layer), Layer.effectDiscard(resources))),
    Effect.runPromise
  )
