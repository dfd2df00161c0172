/**
 * Several API servers on one Postgres, killed with -9 in turn, while clients drop and hop between them with the last id
 * that they have: nothing is lost silently, nothing comes twice or out of order, and with a ring of eight events every
 * loss is told, and nothing else is.
 *
 * `NARTHEX_TEST_LONG=1` runs 48 clients for twenty minutes.
 */
import { assert, layer } from "@effect/vitest"
import { eventIdFromUuid } from "@narthex/core"
import { Effect, Fiber, Random } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { call, signIn } from "./support/ApiProcesses.ts"
import { judge } from "./support/judge.ts"
import { apis, commit, freshDatabase, logged, stores } from "./support/platform.ts"
import { StreamClient } from "./support/StreamClient.ts"

const long = process.env["NARTHEX_TEST_LONG"] === "1"
const clients = long ? 48 : 12
const seconds = long ? 600 : 9
const instances = 3

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
        // A key does not end within the long form.
        const { body } = await call(first, "POST", "/v1/api-keys/", { token, body: { name: "follower" } })
        const read = await call(first, "GET", "/v1/projects", { token })
        return { api_key: String(body.secret), from: read.headers.get("events-cursor") ?? "", org, projects }
      })
      assert.match(from, /^[0-9A-Z]{26}$/)

      const scopes = [null, ...projects]
      const followers = Array.from({ length: clients }, (_, at) => {
        const project = scopes[at % scopes.length] ?? null
        const path = project === null ? "/v1/events" : `/v1/projects/${project}/events`
        return { project, client: new StreamClient(path, api_key, from) }
      })

      let publishing = true
      let n = 0
      const publisher = Effect.gen(function* () {
        while (publishing) {
          const project = scopes[yield* Random.nextIntBetween(0, scopes.length - 1)] ?? null
          const count = yield* Random.nextIntBetween(1, 3)
          const numbers = Array.from({ length: count }, () => ++n)
          yield* commit(org, project, numbers)
          yield* Effect.sleep(yield* Random.nextIntBetween(0, 40))
        }
      })

      const hop = ({ client }: (typeof followers)[number]) =>
        Effect.gen(function* () {
          while (publishing) {
            const { port } = servers[yield* Random.nextIntBetween(0, servers.length - 1)] ?? { port: 0 }
            if (port === 0) {
              yield* Effect.sleep(20)
              continue
            }
            const stay = yield* Random.nextIntBetween(50, 3_000)
            const over = client.follow(port)
            yield* Effect.timeoutOption(
              Effect.promise(() => over),
              stay
            )
            client.drop()
            yield* Effect.promise(() => over)
            yield* Effect.sleep(yield* Random.nextIntBetween(0, 400))
          }
        })

      let kills = 0
      const killer = Effect.gen(function* () {
        for (let turn = 0; publishing; turn++) {
          yield* Effect.sleep("700 millis")
          const server = servers[turn % servers.length]
          if (server === undefined || !publishing) continue
          yield* Effect.promise(() => server.kill())
          kills += 1
          yield* Effect.promise(() => server.start())
        }
      })

      const publishers = yield* Effect.forkChild(Effect.all([publisher, publisher, publisher], { concurrency: 3 }))
      const hopping = yield* Effect.forkChild(Effect.forEach(followers, hop, { concurrency: "unbounded" }))
      const killing = yield* Effect.forkChild(killer)
      yield* Effect.sleep(seconds * 1_000)
      // On a busy machine a server takes its time to start; each was killed once, or nothing was tried.
      while (kills < instances) yield* Effect.sleep(50)
      publishing = false
      yield* Fiber.join(publishers)
      yield* Fiber.join(hopping)
      yield* Fiber.join(killing)

      // One last event in each scope: whoever has it, or a gap behind it, has everything.
      for (const project of scopes) yield* commit(org, project, [++n])
      let rows = yield* logged(org)
      while (!rows.some((row) => row.n === n)) rows = yield* logged(org)
      const port = servers.find((server) => server.port !== 0)?.port ?? 0
      const ids = new Map(
        scopes.map((project) => [
          project,
          rows.filter((row) => project === null || row.project_id === project).map((row) => eventIdFromUuid(row.id))
        ])
      )
      const idsOf = (project: string | null) => ids.get(project) ?? []
      const finish = ({ client, project }: (typeof followers)[number]) =>
        Effect.promise(async () => {
          const last = idsOf(project).at(-1) ?? ""
          const over = client.lastId >= last ? Promise.resolve() : client.follow(port)
          client.onFrame = ({ id }) => {
            if (id >= last) client.drop()
          }
          await over
        }).pipe(Effect.timeoutOption("10 seconds"))
      yield* Effect.forEach(followers, finish, { concurrency: "unbounded" })

      const verdicts = followers.map(({ client, project }) => judge(idsOf(project), from, client.frames))
      const sum = (of: (verdict: (typeof verdicts)[number]) => number) => verdicts.reduce((all, it) => all + of(it), 0)
      const result = {
        ring,
        committed: rows.length,
        kills,
        connections: followers.reduce((all, { client }) => all + client.connections, 0),
        events: sum((it) => it.events),
        gaps: sum((it) => it.gaps),
        overflows: sum((it) => it.overflows)
      }
      console.log(JSON.stringify(result))
      assert.deepStrictEqual(
        verdicts.flatMap(({ wrong }) => wrong),
        []
      )
      assert.isAbove(result.connections, 3 * clients, "clients hopped")
      assert.deepStrictEqual(
        followers.flatMap(({ client }) => client.refusals.filter((status) => status !== 503)),
        [],
        "nobody was turned away for good"
      )
      return result
    }).pipe(Effect.provide(stores(url)))
  })

layer(PostgresServer.layer, { excludeTestServices: true })("clients that hop between dying servers", (it) => {
  it.effect(
    "miss nothing while they are away for less than the ring",
    () =>
      Effect.gen(function* () {
        const { gaps, overflows } = yield* scenario(16_384)
        assert.deepStrictEqual({ gaps, overflows }, { gaps: 0, overflows: 0 })
      }),
    (seconds + 120) * 1_000
  )

  it.effect(
    "are told of every loss when the ring holds eight events",
    () =>
      Effect.gen(function* () {
        const { gaps } = yield* scenario(8)
        assert.isAbove(gaps, clients, "there were losses")
      }),
    (seconds + 120) * 1_000
  )
})
