/**
 * Two runners on one store, each a process of its own: every operation is worked on once, and when one of them is killed
 * in the middle the other takes over, never beside one that lives.
 *
 * The judges are the event log, which has each change of an operation, and the table in which the computes write down
 * who did which step when. `NARTHEX_TEST_LONG=1` does 3,000 operations with a kill every second.
 */
import { assert, layer } from "@effect/vitest"
import { Branches, Endpoints, initiatorOf, layerMemoryComputes, OperationStore, Projects } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Context, Effect, Fiber, Layer, Random, Redacted } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { RunnerProcess } from "./support/RunnerProcess.ts"
import { long, patience } from "./support/rounds.ts"
import { signIn, worldAt } from "./support/world.ts"

const branchesEach = long ? 1_000 : 25
const lease_ms = 2_000
const killEvery = long ? 1_000 : 250

class Store extends Context.Service<Store, { readonly url: Redacted.Redacted }>()("test/races/Store") {}

const store = Layer.unwrap(
  Effect.gen(function* () {
    const url = yield* (yield* PostgresServer).database
    return Layer.merge(worldAt(url, layerMemoryComputes), Layer.succeed(Store, { url }))
  })
).pipe(Layer.provide(PostgresServer.layer))

const recordTable = `create table if not exists work (
  n bigint generated always as identity primary key, step text not null, pid integer not null,
  begun_at timestamptz not null, ended_at timestamptz)`

const twoRunners = Effect.gen(function* () {
  const { url } = yield* Store
  const { query } = yield* Database
  yield* query("test", recordTable)
  const runners = [0, 1].map(() => new RunnerProcess({ url: Redacted.value(url), lease_ms }))
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(runners.map((it) => it.kill()))))
  yield* Effect.promise(() => Promise.all(runners.map((it) => it.start())))
  return runners
})

/** Branches that are made, started and suspended. Answers the project when nothing is left to do. */
const muchToDo = (email: string) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const endpoints = yield* Endpoints
    const operations = yield* OperationStore
    const owner = yield* signIn(email)
    const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
    const one = Effect.gen(function* () {
      const { branch, endpoint } = yield* branches.create(owner, project, wanted)
      if (endpoint === null) return
      yield* endpoints.head(project, endpoint.id, "active", initiatorOf(owner))
      yield* endpoints.head(project, endpoint.id, "idle", initiatorOf(owner))
      while ((yield* operations.unfinished(branch.id)).length > 0) yield* Effect.sleep(20)
    })
    yield* Effect.all(
      Array.from({ length: branchesEach }, () => one),
      { concurrency: 12, discard: true }
    )
    return project
  })

/** What was not as it should be. */
const judged = (project: { readonly id: string }, killed: ReadonlySet<number>) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const operations = yield* query<{ readonly id: string; readonly action: string; readonly status: string }>(
      "test",
      "select id, action, status from operation where project_id = $1",
      [project.id]
    )
    const told = yield* query<{ readonly id: string; readonly told: string }>(
      "test",
      `select it.data->>'operation_id' as id, string_agg(it.data->>'status', ' ' order by it.n) as told
       from (select data, pos as n from event_log where project_id = $1 and type = 'operation.updated.v1'
             union all select data, 9223372036854775807 from event_outbox
             where project_id = $1 and type = 'operation.updated.v1') it
       group by 1`,
      [project.id]
    )
    const steps = yield* query<{ readonly step: string; readonly pids: ReadonlyArray<number>; readonly both: boolean }>(
      "test",
      `select a.step, array_agg(a.pid order by a.n) as pids,
         bool_or(exists (select 1 from work b where b.step = a.step and b.n > a.n and b.begun_at < a.ended_at)) as both
       from work a group by a.step`
    )
    const story = new Map(told.map((it) => [it.id, it.told]))
    const repeated = steps.filter(({ pids, step }) => !step.startsWith("stop ") && pids.length > 1)
    return {
      operations: operations.length,
      repeated: repeated.length,
      wrong: [
        ...operations.flatMap((it) => (it.status === "finished" ? [] : [`${it.action} is ${it.status}`])),
        ...operations.flatMap((it) =>
          story.get(it.id) === "scheduling running finished" ? [] : [`${it.action} was told as ${story.get(it.id)}`]
        ),
        ...steps.flatMap(({ both, step }) => (both ? [`${step} was done by two at once`] : [])),
        // Whoever did it before the last one did not live to say so.
        ...repeated.flatMap(({ pids, step }) =>
          pids.slice(0, -1).every((pid) => killed.has(pid)) ? [] : [`${step} was done ${pids.length} times`]
        )
      ]
    }
  })

layer(store, { excludeTestServices: true })("two runners on one store", (it) => {
  it.effect(
    "work on each operation once",
    () =>
      Effect.gen(function* () {
        yield* twoRunners
        const project = yield* muchToDo("calm@example.com")
        const { operations, repeated, wrong } = yield* judged(project, new Set())
        if (long) console.log(JSON.stringify({ name: "two runners", operations, repeated }))
        assert.deepStrictEqual(wrong, [])
        assert.strictEqual(repeated, 0)
        assert.strictEqual(operations, 1 + 3 * branchesEach)
      }).pipe(Effect.scoped),
    patience
  )

  it.effect(
    "bring each operation to its one end while they are killed again and again",
    () =>
      Effect.gen(function* () {
        const runners = yield* twoRunners
        let kills = 0
        const killing = Effect.forever(
          Effect.gen(function* () {
            yield* Effect.sleep(yield* Random.nextIntBetween(killEvery / 4, killEvery * 2))
            const one = runners[yield* Random.nextIntBetween(0, runners.length)]
            yield* Effect.promise(async () => {
              await one?.kill()
              await one?.start()
            })
            kills += 1
          })
        )
        const killer = yield* Effect.forkChild(killing)
        // A quick machine is done before the first kill: then there is more to do.
        const projects = [yield* muchToDo("killed@example.com")]
        while (kills < 2) projects.push(yield* muchToDo("killed@example.com"))
        yield* Fiber.interrupt(killer)
        const killed = new Set(runners.flatMap((it) => [...it.killed]))
        for (const project of projects) {
          const { operations, repeated, wrong } = yield* judged(project, killed)
          if (long) console.log(JSON.stringify({ name: "killed runners", operations, kills, repeated }))
          assert.deepStrictEqual(wrong, [])
        }
      }).pipe(Effect.scoped),
    patience
  )
})
