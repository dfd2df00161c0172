/**
 * Programs and drivers behind two proxies that share one port: each logs in with every binding and transport that it has, at a
 * read-write and at a read-only endpoint, and its cancel request is honoured by the proxy that does not hold the session.
 */
import { type AddressInfo, connect, createServer } from "node:net"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { twinSuffix } from "@narthex/core"
import { Effect } from "effect"
import pg from "pg"
import postgres from "postgres"
import { within } from "../../../../test/harness/eventually.ts"
import { Cluster } from "../support/Cluster.ts"
import { sqlClient, untilRuns } from "../support/clients.ts"
import { password, role, verifierOf } from "../support/credentials.ts"
import { anotherProxy, certificate, harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"
import { begin, conninfo, type Running } from "../support/programs.ts"

const programs = join(import.meta.dirname, "../support/programs")
const asleep = "select pg_sleep(600)"
const user = `${role}.${endpoint_id}`

/** Gives each connection to the next of these ports, as a balancer does. */
const balanced = (ports: ReadonlyArray<number>) =>
  Effect.acquireRelease(
    Effect.callback<{ readonly port: number; readonly close: () => void }>((resume) => {
      let turn = 0
      const server = createServer((client) => {
        const upstream = connect(ports[turn++ % ports.length] ?? 0, "127.0.0.1")
        client.on("error", () => upstream.destroy()).pipe(upstream)
        upstream.on("error", () => client.destroy()).pipe(client)
      })
      server.listen(0, "127.0.0.1", () => {
        // An `AddressInfo` for a TCP server.
        const { port } = server.address() as AddressInfo
        resume(Effect.succeed({ port, close: () => void server.close() }))
      })
    }),
    ({ close }) => Effect.sync(close)
  ).pipe(Effect.map(({ port }) => port))

interface Way {
  readonly tls: boolean
  readonly binding: "require" | "disable"
}

const [plain, tls, bound] = [
  { tls: false, binding: "disable" },
  { tls: true, binding: "disable" },
  { tls: true, binding: "require" }
] as const satisfies ReadonlyArray<Way>

interface Client {
  readonly name: string
  readonly tags: ReadonlyArray<string>
  /** The ways that the client supports. */
  readonly ways: ReadonlyArray<Way>
  /** Logs in, and returns the role of the session. */
  readonly logIn: (port: number, way: Way) => Promise<string>
  /** Begins to sleep in a session. Returns how to cancel, which resolves to the SQLSTATE of the query. */
  readonly sleep: (port: number, way: Way) => Promise<() => Promise<string | undefined>>
}

const lastLine = (stdout: string) => stdout.trim().split("\n").at(-1) ?? ""

const ofLibpq = (port: number, way: Way) =>
  conninfo(port, `sslmode=${way.tls ? "require" : "disable"} channel_binding=${way.binding}`)

/** A program that prints who it is, and after SIGINT the SQLSTATE. */
const program = (
  start: (port: number, way: Way, act: "ask" | "sleep") => Running
): Pick<Client, "logIn" | "sleep"> => ({
  logIn: async (port, way) => {
    const { code, stderr, stdout } = await start(port, way, "ask").ended
    assert.strictEqual(code, 0, stderr)
    return lastLine(stdout)
  },
  sleep: async (port, way) => {
    const running = start(port, way, "sleep")
    return async () => {
      running.signal("SIGINT")
      const { stderr, stdout } = await running.ended
      return /\b57014\b/.exec(`${stdout} ${stderr}`)?.[0]
    }
  }
})

const ofDriver = async (query: Promise<unknown>) =>
  within(
    "the query to be cancelled",
    query.then(
      () => undefined,
      (error: { readonly code?: string }) => error.code
    )
  )

const clients: ReadonlyArray<Client> = [
  {
    name: "psql",
    tags: ["psql"],
    ways: [plain, tls, bound],
    ...program((port, way, act) =>
      begin("psql", [
        "-XAt",
        ...["-v", "VERBOSITY=verbose", "-d", ofLibpq(port, way)],
        ...["-c", act === "ask" ? "select current_user" : asleep]
      ])
    )
  },
  {
    name: "psycopg",
    tags: ["psycopg"],
    ways: [plain, tls, bound],
    ...program((port, way, act) => begin("/usr/bin/python3", [join(programs, "session.py"), ofLibpq(port, way), act]))
  },
  {
    name: "JDBC",
    tags: ["jdbc"],
    ways: [plain, tls],
    ...program((port, way, act) => {
      const url = `jdbc:postgresql://127.0.0.1:${port}/postgres?sslmode=${way.tls ? "require" : "disable"}`
      const java = ["-XX:TieredStopAtLevel=1", "-cp", "/usr/share/java/postgresql.jar", join(programs, "Session.java")]
      return begin("java", [...java, url, user, act])
    })
  },
  {
    name: "node-postgres",
    tags: [],
    ways: [plain, tls, bound],
    logIn: async (port, way) => {
      const client = nodePostgres(port, way)
      await client.connect()
      const { rows } = await client.query<{ current_user: string }>("select current_user")
      await client.end()
      return rows[0]?.current_user ?? ""
    },
    sleep: async (port, way) => {
      const client = nodePostgres(port, way)
      await client.connect()
      const query = new pg.Query(asleep)
      const code = ofDriver(
        new Promise((resume, reject) => client.query(query).once("end", resume).once("error", reject))
      ).finally(() => client.end())
      return () => {
        // The types lack it.
        const canceller = nodePostgres(port, way) as pg.Client & { cancel: (client: pg.Client, query: unknown) => void }
        canceller.cancel(client, query)
        return code
      }
    }
  },
  {
    name: "postgres.js",
    tags: [],
    ways: [plain, tls],
    logIn: async (port, way) => {
      const sql = postgresJs(port, way)
      const [row] = await sql<ReadonlyArray<{ current_user: string }>>`select current_user`
      await sql.end()
      return row?.current_user ?? ""
    },
    sleep: async (port, way) => {
      const sql = postgresJs(port, way)
      const query = sql.unsafe(asleep)
      const code = ofDriver(query).finally(() => sql.end())
      return () => {
        query.cancel()
        return code
      }
    }
  }
]

const nodePostgres = (port: number, way: Way) =>
  new pg.Client({
    host: "127.0.0.1",
    port,
    user,
    password,
    database: "postgres",
    ssl: way.tls ? { rejectUnauthorized: false } : false,
    enableChannelBinding: way.binding === "require"
  })

const postgresJs = (port: number, way: Way) =>
  postgres({
    host: "127.0.0.1",
    port,
    username: user,
    password,
    database: "postgres",
    max: 1,
    ssl: way.tls ? { rejectUnauthorized: false } : false
  })

describe.each(clients)("$name behind two proxies", { tags: ["openssl"] }, ({ logIn, sleep, tags, ways }) => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  describe("each way to connect", { tags: [...tags] }, () => {
    it.live("logs in to both types of endpoint, and cancels at the proxy that does not hold the session", () =>
      Effect.gen(function* () {
        const { control, port: own } = yield* harness(cluster, { tls: yield* certificate("db.test") })
        const other = yield* anotherProxy(control, { tls: yield* certificate("db.test") })
        const port = yield* balanced([own, other.port])
        yield* Effect.promise(async () => {
          const observer = sqlClient(own)
          const twin = `${role}${twinSuffix}`
          await observer.unsafe(`create role ${twin} login password '${verifierOf(role)}' in role pg_read_all_data`)
          for (const way of ways) {
            const text = `${way.tls ? "TLS" : "plain"}, channel binding: ${way.binding}`
            for (const type of ["read_write", "read_only"] as const) {
              control.type = type
              assert.strictEqual(await logIn(port, way), type === "read_only" ? twin : role, `${text}, ${type}`)
            }
            control.type = "read_write"
            const before = control.cancels.length
            const cancel = await sleep(port, way)
            await untilRuns(observer, asleep)
            assert.strictEqual(await cancel(), "57014", text)
            assert.isAbove(control.cancels.length, before, `${text}: the other proxy handed it over`)
          }
          await observer.end()
        })
      })
    )
  })
})
