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
import { Database, migrate } from "@narthex/postgres"
import { Effect, Layer, Redacted, References } from "effect"
import { type Asked, load, type Server, type ServerOptions, type Store, startServer } from "./authenticationLoad.ts"
import {
  adding,
  fill,
  headStatement,
  keyStatement,
  projectsStatement,
  sessionStatement,
  withProjects
} from "./authenticationStore.ts"
import { binaries, startCluster } from "./proxyCluster.ts"
import { ratio } from "./ratios.ts"

const arg = (at: number, usual: number) => Number(process.argv[at] ?? usual)
const [seconds, rounds, few, many] = [arg(2, 1), arg(3, 7), arg(4, 1_000), arg(5, 20_000)]
const [checkout = "", folder = ""] = process.argv.slice(6)
const connections = 16
/** The number of keys in use, in turn, and of sessions. The digests of keys are spread over the index. */
const used = 256

interface Measured {
  readonly rate: number
  /** Microseconds of CPU per request: of the server, and of Postgres. */
  readonly cpu: number
  readonly backends: number
}

/** One measured case: a server, what it is asked, and its store. */
interface Way {
  readonly name: string
  readonly keys: number
  readonly server: Server
  /** Requests that are sent in turn. */
  readonly asked: ReadonlyArray<Asked>
}

/** The value below which this share of the values lies. */
const quantile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.min(values.length - 1, Math.floor(values.length * share))] ?? 0

const median = (values: ReadonlyArray<number>) => quantile(values, 0.5)

/** CPU time of the running backends, in milliseconds. */
const backendsOf = (postmaster: number) =>
  readFileSync(`/proc/${postmaster}/task/${postmaster}/children`, "utf8")
    .trim()
    .split(" ")
    .map((pid) => readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? [])
    .reduce((sum, fields) => sum + (Number(fields[11]) + Number(fields[12])) * 10, 0)

const measure = async (postmaster: number, { asked, server }: Way): Promise<Measured> => {
  await load(server.port, asked, connections, seconds / 4) // warm-up
  const before = [await server.cpu(), backendsOf(postmaster)] as const
  const { requests, seconds: took } = await load(server.port, asked, connections, seconds)
  const after = [await server.cpu(), backendsOf(postmaster)] as const
  return {
    rate: requests / took,
    cpu: (after[0] - before[0]) / requests,
    backends: ((after[1] - before[1]) * 1_000) / requests
  }
}

const call = async (port: number, path: string, body: object, token?: string) => {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(token === undefined ? {} : { authorization: `Bearer ${token}` })
    },
    body: JSON.stringify(body)
  })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return response.json()
}

/** A store with this number of keys, with the real server and the bare ones. */
const prepare = (store: Store, keys: number, peerStore: Store) =>
  Effect.gen(function* () {
    const url = `postgresql:///${store.database}?host=${encodeURIComponent(store.host)}&user=${store.user}`
    const database = Database.layer({ url: Redacted.make(url), maxConnections: 2, applicationName: "bench" })
    return yield* Effect.gen(function* () {
      yield* migrate
      yield* fill(keys)
      const { query } = yield* Database
      const own = (options: ServerOptions, of?: string) =>
        Effect.acquireRelease(
          Effect.promise(() => startServer(options, of)),
          ({ stop }) => Effect.promise(stop)
        )
      const api = yield* own({ store, kind: "api" })
      const before = checkout === "" ? undefined : yield* own({ store, kind: "api" }, checkout)
      const { jwt, jwts, secrets } = yield* Effect.promise(async () => {
        const session = async (person: string) => {
          const { access_token } = await call(api.port, "/v1/auth/exchange", { id_token: `${person}@example.com` })
          return String(access_token)
        }
        const jwt = await session("bench")
        const secrets: Array<string> = []
        for (let n = 0; n < used; n++)
          secrets.push(String((await call(api.port, "/v1/api-keys/", { name: "bench" }, jwt)).secret))
        const jwts: Array<string> = []
        for (let n = 0; n < used; n++) jwts.push(await session(`bench-${n}`))
        return { jwt, jwts, secrets }
      })
      yield* query("bench", withProjects)
      yield* query("bench", "vacuum analyze")
      const sessions = jwts.map((it) => JSON.parse(Buffer.from(it.split(".")[1] ?? "", "base64url").toString()))
      const ofSessions = sessions.map(({ org_id, sid }) => [[String(sid)], [String(org_id)], [String(org_id)]])
      const digests = yield* query<{ readonly digest: string; readonly org_id: string }>(
        "bench",
        "select s.digest, k.org_id from api_key_secret s join api_key k on k.id = s.key_id where k.name = 'bench'"
      )
      const ofKeys = digests.map(({ digest, org_id }) => [[digest], [org_id], [org_id]])
      // Each of eight networks of a project in turn, so that lists stay short and most rules replace one.
      const additions = Array.from({ length: 8 }, (_, n) => `10.0.0.${n}/32`).flatMap((cidr) =>
        sessions.map(({ org_id, sid }, at) => {
          const project = `${org_id}-1`
          const path = `/v1/projects/${project}/ip-allow`
          return {
            asked: { path, token: jwts[at] ?? "", body: JSON.stringify({ cidr }) },
            parameters: adding.parameters(sid, org_id, project, cidr)
          }
        })
      )
      const [whoami, projects] = ["/v1/auth/whoami", "/v1/projects"]
      const list = [headStatement, projectsStatement]
      const way = (name: string, path: string, server: Server, tokens: ReadonlyArray<string> = [""]): Way => ({
        name,
        keys,
        server,
        asked: tokens.map((token) => ({ path, token }))
      })
      const bareKey = yield* own({ store, kind: "bare", statements: [keyStatement], parameters: ofKeys })
      const bareSession = yield* own({ store, kind: "bare", statements: [sessionStatement], parameters: ofSessions })
      const smallest = yield* own({ store, kind: "smallest", statements: [sessionStatement], parameters: ofSessions })
      const bareList = yield* own({
        store,
        kind: "bare",
        statements: [sessionStatement, ...list],
        parameters: ofSessions
      })
      const bareAdd = yield* own({
        ...adding,
        store,
        kind: "bare",
        parameters: additions.map(({ parameters }) => parameters)
      })
      const asked = additions.map((addition) => addition.asked)
      const better = folder === "" ? undefined : yield* own({ store: peerStore, kind: "peer", folder })
      return [
        way("bare, key", whoami, bareKey),
        way("API key", whoami, api, secrets),
        way("bare, session", whoami, bareSession),
        way("smallest API", whoami, smallest, ["token"]),
        way("JWT", whoami, api, jwts),
        // Requests of one session that arrive together share its look-up (docs/design/authorization.md Z49).
        way("one JWT", whoami, api, [jwt]),
        way("bare, list", projects, bareList),
        way("JWT, list", projects, api, jwts),
        { ...way("bare, add", "", bareAdd), asked },
        { ...way("JWT, add", "", api), asked },
        ...(better === undefined
          ? []
          : [
              way("better-auth, session", "/", better, better.tokens.slice(0, used)),
              way("better-auth, key", "/", better, better.tokens.slice(used))
            ]),
        ...(before === undefined
          ? []
          : [
              way("API key, before", whoami, before, secrets),
              way("JWT, before", whoami, before, jwts),
              way("JWT, list, before", projects, before, jwts),
              { ...way("JWT, add, before", "", before), asked }
            ])
      ]
    }).pipe(Effect.provide(Layer.merge(database, Layer.succeed(References.MinimumLogLevel, "None"))))
  })

const limits: Readonly<Record<string, string>> = {
  "API key": "bare, key",
  "smallest API": "bare, session",
  JWT: "bare, session",
  "one JWT": "bare, session",
  "JWT, list": "bare, list",
  "JWT, add": "bare, add",
  "better-auth, key": "bare, key",
  "better-auth, session": "bare, session",
  "API key, before": "bare, key",
  "JWT, before": "bare, session",
  "JWT, list, before": "bare, list",
  "JWT, add, before": "bare, add"
}

const report = (results: ReadonlyMap<Way, ReadonlyArray<Measured>>) => {
  const of = (name: string, keys: number): Measured => {
    const all = [...results].flatMap(([way, rounds]) => (way.name === name && way.keys === keys ? rounds : []))
    const middle = (member: keyof Measured) => median(all.map((it) => it[member]))
    return { rate: middle("rate"), cpu: middle("cpu"), backends: middle("backends") }
  }
  const line = (text: string) => process.stdout.write(`${text}\n`)
  for (const { keys, name } of results.keys()) {
    const { backends, cpu, rate } = of(name, keys)
    const limit = limits[name]
    const ratios = limit === undefined ? "" : `CPU ${(cpu / of(limit, keys).cpu).toFixed(2)}x, `
    const slower = limit === undefined ? "" : `req/s ${(rate / of(limit, keys).rate).toFixed(2)}x of bare  `
    const absolutes = `${cpu.toFixed(0)} us CPU, Postgres ${backends.toFixed(0)} us, ${Math.round(rate)} req/s`
    line(`${name.padEnd(20)} ${String(keys).padStart(8)} keys  ${ratios}${slower}(${absolutes})`)
  }
  // How much one session saves depends on how many of its requests arrive together, so it is not compared over time.
  for (const name of ["API key", "JWT", "JWT, list", "JWT, add"]) {
    const limit = limits[name] ?? ""
    const kind = name.toLowerCase().replace(/,? /, "-")
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
  const maintenance = `postgresql:///postgres?host=${encodeURIComponent(cluster.socket)}&user=app`
  const ways = yield* Effect.gen(function* () {
    const { query } = yield* Database
    yield* query("bench", "create database few")
    yield* query("bench", "create database many")
    yield* query("bench", "create database peer")
    // Equal numbers are one store: then nothing is said about growth.
    const peer = at("peer")
    return [...(yield* prepare(at("few"), few, peer)), ...(few === many ? [] : yield* prepare(at("many"), many, peer))]
  }).pipe(
    Effect.provide(Database.layer({ url: Redacted.make(maintenance), maxConnections: 1, applicationName: "bench" }))
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
