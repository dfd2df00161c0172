/**
 * The cost of authentication: an authenticated request against a limit in the same run, which is bare node:http with
 * the statements of the request, and beside the smallest API of Effect with them; with few and with many keys in the store.
 *
 * `node --conditions=source bench/authentication.ts [seconds] [rounds] [few] [many] [checkout] [folder of better-auth]`.
 * Results are medians of the rounds; compare the ratios. CPU is the time of the server process per request. The load
 * generator is another process; the backends of Postgres are counted separately. With another checkout its server takes
 * turns, too: that is how a change is measured. So does better-auth, if a folder with it is named.
 *
 * Pitfall: measuring two sizes minutes apart. The difference includes other load on the machine, so few and many keys
 * take turns, and each pair gives one ratio.
 */
import { readFileSync } from "node:fs"
import { Database } from "@narthex/postgres"
import { Effect } from "effect"
import { load, type Store } from "./authenticationLoad.ts"
import { databaseOf } from "./authenticationStore.ts"
import { type Way, waysIn } from "./authenticationWays.ts"
import { binaries, startCluster } from "./proxyCluster.ts"
import { ratio } from "./ratios.ts"

const arg = (at: number, usual: number) => Number(process.argv[at] ?? usual)
const [seconds, rounds, few, many] = [arg(2, 1), arg(3, 7), arg(4, 1_000), arg(5, 20_000)]
const [checkout = "", folder = ""] = process.argv.slice(6)
const connections = 16

interface Measured {
  readonly rate: number
  /** Microseconds of CPU per request: of the server, and of Postgres. */
  readonly cpu: number
  readonly backends: number
}

/** The value below which this share of the values lies. */
const quantile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

const median = (values: ReadonlyArray<number>) => quantile(values, 0.5)

/** CPU time of the running backends by their pids, in microseconds by the scheduler's clock. */
const backendsOf = (postmaster: number): ReadonlyMap<string, number> =>
  new Map(
    readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")
      .trim()
      .split(" ")
      .map((pid) => [pid, Number(readFileSync(`/proc/${pid}/schedstat`, "utf8").split(" ")[0]) / 1_000])
  )

const measure = async (postmaster: number, { asked, server }: Way): Promise<Measured> => {
  await load(server.port, asked, connections, seconds / 4) // warm-up
  const before = [await server.cpu(), backendsOf(postmaster)] as const
  const { requests, seconds: took } = await load(server.port, asked, connections, seconds)
  const after = [await server.cpu(), backendsOf(postmaster)] as const
  // A backend that ended during the load, or began in it, is not counted.
  const backends = [...after[1]].reduce((sum, [pid, time]) => sum + time - (before[1].get(pid) ?? time), 0)
  return { rate: requests / took, cpu: (after[0] - before[0]) / requests, backends: backends / requests }
}

const report = (results: ReadonlyMap<Way, ReadonlyArray<Measured>>) => {
  const of = (name: string, keys: number): Measured => {
    const all = [...results].flatMap(([way, rounds]) => (way.name === name && way.keys === keys ? rounds : []))
    const middle = (member: keyof Measured) => median(all.map((it) => it[member]))
    return { rate: middle("rate"), cpu: middle("cpu"), backends: middle("backends") }
  }
  const line = (text: string) => process.stdout.write(`${text}\n`)
  for (const { keys, limit, name } of results.keys()) {
    const { backends, cpu, rate } = of(name, keys)
    const ratios = limit === undefined ? "" : `CPU ${(cpu / of(limit, keys).cpu).toFixed(2)}x, `
    const slower = limit === undefined ? "" : `req/s ${(rate / of(limit, keys).rate).toFixed(2)}x of bare  `
    const absolutes = `${cpu.toFixed(0)} us CPU, Postgres ${backends.toFixed(0)} us, ${Math.round(rate)} req/s`
    line(`${name.padEnd(20)} ${String(keys).padStart(8)} keys  ${ratios}${slower}(${absolutes})`)
  }
  // How much one session saves depends on how many of its requests arrive together, so it is not compared over time.
  for (const { keys, limit, name } of results.keys()) {
    if (limit === undefined || keys !== few || !/^(API key|JWT)(, list|, add)?$/.test(name)) continue
    const kind = name.toLowerCase().replaceAll(/,? /g, "-")
    ratio(`authentication/${kind}-cpu`, of(name, few).cpu / of(limit, few).cpu)
    ratio(`authentication/${kind}-postgres`, of(name, few).backends / of(limit, few).backends)
  }
  if (few === many) return
  const roundsOf = (name: string, keys: number) =>
    [...results].flatMap(([way, all]) => (way.name === name && way.keys === keys ? all : []))
  for (const name of new Set([...results.keys()].map((way) => way.name))) {
    const much = roundsOf(name, many)
    const growth = (cost: (of: Measured) => number) => {
      const all = roundsOf(name, few).flatMap((it, at) => {
        const other = much[at]
        return other === undefined ? [] : [cost(other) / cost(it)]
      })
      const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(all, share).toFixed(2))
      return `${middle}x (${low} to ${high})`
    }
    const whole = growth(({ backends, cpu }) => cpu + backends)
    line(`${name}: ${many} keys to ${few}: all CPU ${whole}, the server's ${growth(({ cpu }) => cpu)}`)
  }
}

const program = Effect.gen(function* () {
  const cluster = yield* Effect.acquireRelease(
    Effect.promise(() => startCluster(binaries())),
    ({ stop }) => Effect.promise(stop)
  )
  const at = (database: string): Store => ({ host: cluster.socket, user: "app", database })
  const ways = yield* Effect.gen(function* () {
    const { query } = yield* Database
    for (const name of ["few", "few_peer", "many", "many_peer"]) yield* query("bench", `create database ${name}`)
    // Equal numbers are one store: then nothing is said about growth.
    const others = (name: string) => ({ checkout, folder, peer: `${name}_peer` })
    return [
      ...(yield* waysIn(at("few"), few, others("few"))),
      ...(few === many ? [] : yield* waysIn(at("many"), many, others("many")))
    ]
  }).pipe(Effect.provide(databaseOf(at("postgres"))))
  // A connection keeps the plans of an empty log until statistics are taken, which the server does by itself some time after
  // a table has grown. So all is used once before that.
  for (const way of ways) yield* Effect.promise(() => measure(cluster.pid, way))
  for (const size of ["few", ...(few === many ? [] : ["many"])])
    for (const database of [size, `${size}_bare`, ...(checkout === "" ? [] : [`${size}_before`])])
      yield* Database.use(({ query }) => query("bench", "vacuum analyze")).pipe(
        Effect.provide(databaseOf(at(database)))
      )
  const results = new Map<Way, Array<Measured>>(ways.map((way) => [way, []]))
  const pairs = [...Map.groupBy(ways, ({ name }) => name).values()]
  for (let round = 0; round < rounds; round++)
    for (const pair of pairs)
      for (const way of round % 2 === 0 ? pair : pair.toReversed())
        results.get(way)?.push(yield* Effect.promise(() => measure(cluster.pid, way)))
  report(results)
})

await Effect.runPromise(Effect.scoped(program))
