/** The measured ways of an authenticated request: bare servers, the real one, and peers. */
import { Database, migrate } from "@narthex/postgres"
import { Effect, Schedule } from "effect"
import { type Asked, type Server, type ServerOptions, type Store, startServer } from "./authenticationLoad.ts"
import {
  adding,
  databaseOf,
  fill,
  headStatement,
  keyStatement,
  projectsStatement,
  sessionStatement,
  withProjects
} from "./authenticationStore.ts"

/** The number of keys in use, in turn, and of sessions. The digests of keys are spread over the index. */
const usedCredentials = 256

/** One measured case: a server, what it is asked, and its store. */
export interface Way {
  readonly name: string
  readonly keys: number
  /** The name of the way that it is compared with. */
  readonly limit?: string
  readonly server: Server
  /** Requests that are sent in turn. */
  readonly asked: ReadonlyArray<Asked>
}

/** The real servers, by what their ways are called after. */
type Servers = Readonly<Record<string, Server>>

/** Servers that take turns with the real one: that of another checkout, and better-auth. An empty text: left out. */
interface Others {
  readonly checkout: string
  readonly folder: string
  /** The database of better-auth. */
  readonly peer: string
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

/** One kind of credential: those in use, and how the bare servers find the one of a request. */
interface Credentials {
  readonly name: string
  readonly bare: string
  readonly statement: string
  /** Each with what the statement is given for it, and its organization, of which each has its own. */
  readonly used: ReadonlyArray<{ readonly token: string; readonly id: string; readonly org_id: string }>
}

const [whoami, projects] = ["/v1/auth/whoami", "/v1/projects"]

/** Each of eight networks of a project in turn, so that lists stay short and most rules replace one. */
const additionsOf = ({ used }: Credentials) =>
  Array.from({ length: 8 }, (_, n) => `10.0.0.${n}/32`).flatMap((cidr) =>
    used.map(({ id, org_id, token }) => {
      const path = `${projects}/${org_id}-1/ip-allow`
      return {
        asked: { path, token, body: JSON.stringify({ cidr }) },
        parameters: [[id], ...adding.parameters(org_id, `${org_id}-1`, cidr)]
      }
    })
  )

const own = (options: ServerOptions, of?: string) =>
  Effect.acquireRelease(
    Effect.promise(() => startServer(options, of)),
    ({ stop }) => Effect.promise(stop)
  )

/** The requests with one kind of credential, to bare servers and to the real ones. */
const waysOf = (
  credentials: Credentials,
  { bareStore: store, keys, servers }: { readonly keys: number; readonly servers: Servers; readonly bareStore: Store }
) =>
  Effect.gen(function* () {
    const { bare, name, statement, used } = credentials
    const additions = additionsOf(credentials)
    const parameters = used.map(({ id, org_id }) => [[id], [org_id], [org_id]])
    const found = { store, kind: "bare", statements: [statement], parameters } as const
    const list = [statement, headStatement, projectsStatement]
    const statements = [statement, ...adding.statements]
    const added = { changes: adding.changes, statements, parameters: additions.map((each) => each.parameters) }
    const asking = (path: string) => used.map(({ token }) => ({ path, token }))
    const kinds = [
      { what: "", server: yield* own(found), asked: asking(whoami) },
      { what: ", list", server: yield* own({ ...found, statements: list }), asked: asking(projects) },
      { what: ", add", server: yield* own({ ...found, ...added }), asked: additions.map((each) => each.asked) }
    ]
    return kinds.flatMap(({ asked, server, what }): ReadonlyArray<Way> => {
      const limit = `${bare}${what}`
      const real = Object.entries(servers).map(([suffix, server]) => ({
        name: `${name}${what}${suffix}`,
        keys,
        limit,
        server,
        asked
      }))
      return [{ name: limit, keys, server, asked }, ...real]
    })
  })

/** A person with a session and an API key. */
interface Person {
  readonly jwt: string
  readonly sid: string
  readonly org_id: string
  readonly secret: string
}

/** People who sign in at the server, and make a key each. */
const peopleAt = async ({ port }: Server) => {
  const people: Array<Person> = []
  for (let n = 0; n < usedCredentials; n++) {
    const { access_token } = await call(port, "/v1/auth/exchange", { id_token: `bench-${n}@example.com` })
    const jwt = String(access_token)
    const { org_id, sid } = JSON.parse(Buffer.from(jwt.split(".")[1] ?? "", "base64url").toString())
    const { secret } = await call(port, "/v1/api-keys/", { name: "bench" }, jwt)
    people.push({ jwt, sid: String(sid), org_id: String(org_id), secret: String(secret) })
  }
  return people
}

/** Fills the store. The server that the people sign in at ends again, so that the database can be copied. */
const filled = (store: Store, keys: number) =>
  Effect.gen(function* () {
    yield* migrate
    yield* fill(keys)
    const people = yield* Effect.scoped(
      Effect.flatMap(own({ store, kind: "api" }), (api) => Effect.promise(() => peopleAt(api)))
    )
    const { query } = yield* Database
    yield* query("bench", withProjects)
    const digests = yield* query<{ readonly digest: string; readonly org_id: string }>(
      "bench",
      "select s.digest, k.org_id from narthex.api_key_secret s join narthex.api_key k on k.id = s.key_id where k.name = 'bench'"
    )
    return { people, digestOf: new Map(digests.map(({ digest, org_id }) => [org_id, digest])) }
  }).pipe(Effect.provide(databaseOf(store)))

/**
 * A store with this number of keys, with the real server and the bare ones. Each has a copy of its own: the notification of an
 * event reaches all that listen to a database. `Database` of this effect is where copies are made.
 */
export const waysIn = (store: Store, keys: number, { checkout, folder, peer }: Others) =>
  Effect.gen(function* () {
    const { digestOf, people } = yield* filled(store, keys)
    const { query } = yield* Database
    const copy = (name: string) =>
      Effect.gen(function* () {
        const database = `${store.database}_${name}`
        // Backends of clients that have gone may still be on their way out.
        yield* query("bench", "select pg_terminate_backend(pid) from pg_stat_activity where datname = $1", [
          store.database
        ])
        yield* query("bench", `create database ${database} template ${store.database} strategy file_copy`).pipe(
          Effect.retry(Schedule.spaced("100 millis").pipe(Schedule.upTo({ times: 50 })))
        )
        return { ...store, database }
      })
    const bareStore = yield* copy("bare")
    const before = checkout === "" ? undefined : yield* own({ store: yield* copy("before"), kind: "api" }, checkout)
    const api = yield* own({ store, kind: "api" })
    const servers: Servers = { "": api, ...(before === undefined ? {} : { ", before": before }) }
    const ofKeys: Credentials = {
      name: "API key",
      bare: "bare, key",
      statement: keyStatement,
      used: people.map(({ org_id, secret }) => ({ token: secret, id: digestOf.get(org_id) ?? "", org_id }))
    }
    const ofSessions: Credentials = {
      name: "JWT",
      bare: "bare, session",
      statement: sessionStatement,
      used: people.map(({ jwt, org_id, sid }) => ({ token: jwt, id: sid, org_id }))
    }
    const of = { keys, servers, bareStore }
    const parameters = people.map(({ sid }) => [[sid]])
    const smallest = yield* own({ store: bareStore, kind: "smallest", statements: [sessionStatement], parameters })
    const better = folder === "" ? undefined : yield* own({ store: { ...store, database: peer }, kind: "peer", folder })
    const limit = ofSessions.bare
    const peers = [
      { kind: "session", tokens: better?.tokens.slice(0, usedCredentials), limit },
      { kind: "key", tokens: better?.tokens.slice(usedCredentials), limit: ofKeys.bare }
    ]
    return [
      ...(yield* waysOf(ofKeys, of)),
      ...(yield* waysOf(ofSessions, of)),
      { name: "smallest API", keys, limit, server: smallest, asked: [{ path: whoami, token: "token" }] },
      // Requests of one session that arrive together share its look-up (docs/design/authorization.md Z49).
      { name: "one JWT", keys, limit, server: api, asked: [{ path: whoami, token: people[0]?.jwt ?? "" }] },
      ...peers.flatMap(({ kind, limit, tokens = [] }): ReadonlyArray<Way> => {
        const asked = tokens.map((token) => ({ path: "/", token }))
        return better === undefined ? [] : [{ name: `better-auth, ${kind}`, keys, limit, server: better, asked }]
      })
    ]
  })
