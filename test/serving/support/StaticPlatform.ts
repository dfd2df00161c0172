/** A platform whose one compute is the test's Postgres, with a project, and sessions of clients through its proxies. */
import { randomBytes, randomUUID } from "node:crypto"
import { Context, Effect, Layer, Redacted } from "effect"
import postgres from "postgres"
import { PostgresServer } from "../../../packages/postgres/test/support/PostgresServer.ts"
import { provingGroup } from "../../../packages/postgres/test/support/ServerProcess.ts"
import { begin } from "../../../packages/proxy/test/support/programs.ts"
import { eventually } from "../../harness/eventually.ts"
import { ask, signIn } from "./ask.ts"
import { type Environment, Program } from "./Program.ts"
import { Serving } from "./Serving.ts"

const password = "visiting"

/** Where the test's Postgres listens, as `NARTHEX_STATIC_COMPUTES` names a server. */
const addressOf = (database: Redacted.Redacted<string>) => {
  const url = new URL(Redacted.value(database))
  const directory = url.searchParams.get("host")
  return directory === null ? `${url.hostname}:${url.port || 5432}` : `${directory}/.s.PGSQL.5432`
}

export class StaticPlatform extends Context.Service<
  StaticPlatform,
  {
    /** The API. */
    readonly url: string
    readonly call: (method: string, path: string, body?: unknown) => ReturnType<typeof ask>
    readonly project: string
    readonly endpoint: string
    /** The settings of a further process of this platform. */
    readonly settings: Environment
    /** The URL of the test's database through a proxy at this address. */
    readonly through: (proxy: string) => string
  }
>()("@narthex/test/serving/StaticPlatform") {
  static readonly layer = Layer.effect(
    StaticPlatform,
    Effect.gen(function* () {
      const { database, environment, issuer } = yield* Serving
      const { admin } = yield* PostgresServer
      const visitor = `visitor_${randomBytes(8).toString("hex")}`
      yield* admin(
        `do $$ begin create role ${provingGroup}; exception when duplicate_object or unique_violation then null; end $$`
      )
      yield* Effect.acquireRelease(
        admin(`create role ${visitor} login password '${password}' in role ${provingGroup}`),
        () => admin(`drop role ${visitor}`)
      )
      const computes = {
        NARTHEX_COMPUTE: "static",
        NARTHEX_STATIC_COMPUTES: JSON.stringify([{ address: addressOf(database) }])
      }
      const server = yield* Program.start("server", ["--roles", "api,runner"], { ...environment, ...computes })
      const url = server.address("api")
      const { token } = yield* signIn(url, issuer.idToken("ada@example.com"))
      const call = (method: string, path: string, body?: unknown) => ask(url, method, path, token, body)
      const { body } = yield* call("POST", "/v1/projects", { name: "first" })
      const [project, endpoint] = [String(body.project.id), String(body.endpoint.id)]
      yield* eventually(
        "the endpoint to be made",
        Effect.map(
          call("GET", `/v1/projects/${project}/endpoints/${endpoint}`),
          (answer) => answer.body.endpoint.current_state === "idle"
        )
      )
      // The endpoint's server authenticates clients itself, so no client can start it.
      yield* call("POST", `/v1/projects/${project}/endpoints/${endpoint}/start`)
      yield* eventually(
        "the endpoint to be started",
        Effect.map(
          call("GET", `/v1/projects/${project}/endpoints/${endpoint}`),
          (answer) => answer.body.endpoint.current_state === "active"
        )
      )
      const through = (proxy: string) => {
        const direct = new URL(Redacted.value(database))
        return `postgresql://${visitor}:${password}@${proxy}${direct.pathname}?options=endpoint%3D${endpoint}`
      }
      // Clients' address of the API leads nowhere from here.
      const reach = { NARTHEX_API_URL: "http://127.0.0.1:1", NARTHEX_API_INTERNAL_URL: url }
      const settings = { ...environment, ...computes, ...reach }
      return { url, call, project, endpoint, settings, through }
    })
  ).pipe(Layer.provideMerge(Serving.layer))
}

/** A session of psql in which a statement sleeps. */
export interface Sleeper {
  /** Asks for a cancel of the statement, as Ctrl-C does. */
  readonly cancel: () => void
  /** The SQLSTATE of the error that ended the statement or the session; `undefined` if the connection was lost. */
  readonly ended: Promise<string | undefined>
}

/** Opens a session at this URL. It is relayed, and its statement runs, when it is returned. */
export const sleeper = (url: string) =>
  Effect.gen(function* () {
    const { admin } = yield* PostgresServer
    const mark = randomUUID()
    const psql = yield* Effect.acquireRelease(
      Effect.sync(() =>
        begin("psql", ["-X", "-At", "-v", "VERBOSITY=verbose", "-d", url, "-c", `select pg_sleep(600), '${mark}'`])
      ),
      ({ signal }) => Effect.sync(() => signal("SIGKILL"))
    )
    let early: string | undefined
    psql.ended.then(
      ({ stderr }) => {
        early = stderr
      },
      () => undefined
    )
    const runs = Effect.gen(function* () {
      if (early !== undefined) return yield* Effect.die(new Error(`The session has not begun: ${early}`))
      const found = yield* admin(`select from pg_stat_activity where state = 'active' and query like '%${mark}%'`)
      // One row is this statement.
      return found.length > 1
    })
    yield* eventually("the statement of a session to run", runs, { every: 20 })
    const ended = psql.ended.then(({ stderr }) => /(?:FATAL|ERROR): {2}([0-9A-Z]{5}):/.exec(stderr)?.[1])
    return { cancel: () => psql.signal("SIGINT"), ended }
  })

/** One connection, one statement: `in`, or the SQLSTATE with which it was refused. */
export const knock = (url: string) =>
  Effect.promise(async () => {
    const sql = postgres(url, { max: 1, connect_timeout: 40, onnotice: () => undefined })
    try {
      await sql`select 1`
      return "in"
    } catch (error) {
      return error instanceof postgres.PostgresError ? error.code : String(error)
    } finally {
      await sql.end({ timeout: 5 })
    }
  })
