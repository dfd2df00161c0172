/**
 * Several API servers on one Postgres are killed with SIGKILL in turn, while clients disconnect and move between them
 * with their last id. No event is lost silently, repeated or out of order. With a ring of eight events exactly the
 * losses are reported.
 *
 * The numbers of moves and kills are fixed, and each server is killed while streams are open on it. At the end each
 * client is away while more is committed than the small ring holds.
 */
import { assert, layer } from "@effect/vitest"
import { eventIdFromUuid } from "@narthex/core"
import { Effect, Fiber, Random } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { eventually, within } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { type ApiProcess, call, signIn } from "./support/ApiProcesses.ts"
import { judge } from "./support/judge.ts"
import { apis, commit, freshDatabase, logged, stores } from "./support/platform.ts"
import { type Frame, StreamClient } from "./support/StreamClient.ts"

const clients = times(4, 48)
/** Connections of each client; the long form takes several minutes. */
const hops = times(3, 200)
const instances = times(2, 3)
/** How often each server is killed. */
const kills = times(1, 60)
const smallRing = 8

const pathOf = (project: string | null) => (project === null ? "/v1/events" : `/v1/projects/${project}/events`)

const isGap = ({ event }: Frame) => event === "resume.gap.v1"

const scenario = (ring: number) =>
  Effect.gen(function* () {
    const url = yield* freshDatabase
    return yield* Effect.gen(function* () {
      const servers = yield* apis(url, instances, { ring, heartbeat_ms: 500 })
      const first = servers[0]?.port ?? 0
      const { api_key, from, org, projects } = yield* Effect.promise(async () => {
        const { org, token } = await signIn(first, "ada@example.com")
        const projects: Array<string> = []
        for (const name of ["one", "two"])
          projects.push((await call(first, "POST", "/v1/projects", { token, body: { name } })).body.project.id)
        // A key outlasts the long form.
        const { body } = await call(first, "POST", "/v1/api-keys/", { token, body: { name: "follower" } })
        const read = await call(first, "GET", "/v1/projects", { token })
        return { api_key: String(body.secret), from: read.headers.get("events-cursor") ?? "", org, projects }
      })
      assert.match(from, /^[0-9A-Z]{26}$/)

      const scopes = [null, ...projects]
      const followers = Array.from({ length: clients }, (_, at) => {
        const project = scopes[at % scopes.length] ?? null
        return { project, client: new StreamClient(pathOf(project), api_key, from) }
      })

      let n = 0
      const publish = Effect.gen(function* () {
        const project = scopes[yield* Random.nextIntBetween(0, scopes.length - 1)] ?? null
        const count = yield* Random.nextIntBetween(1, 3)
        yield* commit(
          org,
          project,
          Array.from({ length: count }, () => ++n)
        )
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 40))
      })

      /** Streams that are open on each server: none is killed before it has some. */
      const open = new Map(servers.map((server) => [server, 0]))
      const count = (server: ApiProcess, more: number) => open.set(server, (open.get(server) ?? 0) + more)
      const aServer = Effect.gen(function* () {
        const up = servers.filter(({ port }) => port !== 0)
        return up.length === 0 ? undefined : up[yield* Random.nextIntBetween(0, up.length - 1)]
      })
      let killing = true

      /** At least so many connections; more while a server that is to be killed has too few streams. */
      const hop = ({ client }: (typeof followers)[number]) =>
        Effect.gen(function* () {
          for (let done = 0; done < hops || killing; ) {
            const server = yield* aServer
            if (server === undefined) {
              yield* Effect.sleep(20)
              continue
            }
            const before = client.connections
            const seen = client.frames.length + (yield* Random.nextIntBetween(0, 30))
            let over = false
            const following = client
              .follow(server.port, () => count(server, 1))
              .then(() => {
                over = true
              })
            yield* eventually(
              "the end of a connection, or events on it",
              Effect.sync(() => over || client.frames.length > seen)
            )
            client.drop()
            yield* Effect.promise(() => within("the end of a dropped connection", following))
            if (client.connections > before) {
              count(server, -1)
              done += 1
            }
            // Away while this many are committed.
            const back = n + (yield* Random.nextIntBetween(0, 40))
            yield* eventually(
              "commits while a client is away",
              Effect.sync(() => n >= back)
            )
          }
        })

      const killer = Effect.gen(function* () {
        for (let turn = 0; turn < kills * instances; turn++) {
          const server = servers[turn % servers.length]
          if (server === undefined) continue
          yield* eventually(
            "a stream on a server that is to be killed",
            Effect.sync(() => (open.get(server) ?? 0) > 0)
          )
          yield* Effect.promise(() => server.kill())
          yield* Effect.promise(() => server.start())
        }
        killing = false
      })

      const publisher = Effect.forever(publish)
      const publishers = yield* Effect.forkChild(Effect.all([publisher, publisher, publisher], { concurrency: 3 }))
      const hopping = Effect.forEach(followers, hop, { concurrency: "unbounded" })
      yield* Effect.all([hopping, killer], { concurrency: 2 })
      yield* Fiber.interrupt(publishers)

      const idsOf = (rows: Effect.Success<ReturnType<typeof logged>>, project: string | null) =>
        rows.filter((row) => project === null || row.project_id === project).map((row) => eventIdFromUuid(row.id))
      /** Commits this many last events in each scope, and waits until they are in the log. */
      const conclude = (each: number) =>
        Effect.gen(function* () {
          for (let nth = 0; nth < each; nth++) for (const project of scopes) yield* commit(org, project, [++n])
          let rows = yield* logged(org)
          yield* eventually(
            "the last event in the log",
            Effect.map(logged(org), (found) => {
              rows = found
              return found.some((row) => row.n === n)
            })
          )
          return new Map(scopes.map((project) => [project, idsOf(rows, project)]))
        })
      const { port } = servers[0] ?? { port: 0 }
      /** A client that has the last event of its scope, or a gap behind it, has everything. */
      const finish = (ids: Effect.Success<ReturnType<typeof conclude>>, all: typeof followers) =>
        Effect.forEach(
          all,
          ({ client, project }) =>
            Effect.promise(async () => {
              const last = ids.get(project)?.at(-1) ?? ""
              const over = client.lastId >= last ? Promise.resolve() : client.follow(port)
              client.onFrame = ({ id }) => {
                if (id >= last) client.drop()
              }
              if (client.lastId >= last) client.drop()
              await within(`the last event at a client that is at ${client.lastId}`, over)
              client.onFrame = undefined
            }),
          { concurrency: "unbounded", discard: true }
        )
      yield* finish(yield* conclude(1), followers)
      const gapsSeen = () => followers.map(({ client }) => client.frames.filter(isGap).length)
      const before = gapsSeen()
      // All are away while more than the ring is committed; the server has it when another client does.
      const ids = yield* conclude(smallRing + 1)
      const others = scopes.map((project) => ({ project, client: new StreamClient(pathOf(project), api_key, from) }))
      yield* finish(ids, others)
      yield* finish(ids, followers)
      const forced = gapsSeen().map((gaps, at) => gaps - (before[at] ?? 0))

      const verdicts = followers.map(({ client, project }) => judge(ids.get(project) ?? [], from, client.frames))
      const sum = (of: (verdict: (typeof verdicts)[number]) => number) => verdicts.reduce((all, it) => all + of(it), 0)
      const result = {
        ring,
        committed: ids.get(null)?.length,
        connections: followers.reduce((all, { client }) => all + client.connections, 0),
        events: sum((it) => it.events),
        gaps: sum((it) => it.gaps),
        overflows: sum((it) => it.overflows)
      }
      const { committed, connections, events, gaps } = result
      note(
        `hopping, ring of ${ring}: ${committed} committed, ${connections} connections, ${events} events, ${gaps} gaps`
      )
      assert.deepStrictEqual(
        verdicts.flatMap(({ wrong }) => wrong),
        []
      )
      assert.deepStrictEqual(
        followers.flatMap(({ client }) => client.refusals.filter((status) => status !== 503)),
        [],
        "no client was turned away for good"
      )
      return { ...result, forced }
    }).pipe(Effect.provide(stores(url)))
  })

const limit = times(240_000, 3_600_000)

layer(PostgresServer.layer, { excludeTestServices: true })("clients that hop between dying servers", (it) => {
  it.effect(
    "clients that move between dying servers miss nothing if they are away for less than the ring holds",
    () =>
      Effect.gen(function* () {
        const { gaps, overflows } = yield* scenario(16_384)
        assert.deepStrictEqual({ gaps, overflows }, { gaps: 0, overflows: 0 })
      }),
    limit
  )

  it.effect(
    "clients that move between dying servers are informed of every loss when the ring holds eight events",
    () =>
      Effect.gen(function* () {
        const { forced } = yield* scenario(smallRing)
        assert.deepStrictEqual(
          forced,
          forced.map(() => 1),
          "one gap for each client that was away"
        )
      }),
    limit
  )
})
