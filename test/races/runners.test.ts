/**
 * Two runners on one store, each in its own process: every operation is performed once, and when one runner is killed
 * in the middle the other takes over, but never while the first is alive.
 *
 * The evidence is the event log, which has each change of an operation, and the table in which the computes record who
 * performed which step when. The long form has more than 3,000 operations and 150 kills.
 */
import { assert, layer } from "@effect/vitest"
import { Branches, byProxy, Endpoints, initiatorOf, OperationStore, Projects } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Fiber, Random } from "effect"
import { eventually } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import type { RunnerProcess } from "./support/RunnerProcess.ts"
import { patience } from "./support/rounds.ts"
import { atCommit, inStep, lose, Runners, whileStepsLast } from "./support/runners.ts"
import { signIn } from "./support/world.ts"

/** More than one runner performs at once, so that both get some. */
const atOnce = 7
/** Kills at each of three places. */
const kills = times(1, 50)

/** Creates, starts and suspends this many branches of a new project. Completes when no operation is left. */
const workOn = (email: string, count: number) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const endpoints = yield* Endpoints
    const operations = yield* OperationStore
    const owner = yield* signIn(email)
    const { branch: home, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
    const done = ({ id }: typeof home) =>
      eventually(
        `the operations of branch ${id}`,
        Effect.map(operations.unfinished(id), (left) => left.length === 0),
        { every: 20 }
      )
    // The other branches are copies of it: they would all wait for it, and only one runner would have something to do.
    yield* done(home)
    const one = Effect.gen(function* () {
      const { branch, endpoint } = yield* branches.create(owner, project, wanted)
      if (endpoint === null) return
      yield* endpoints.setDesiredState(project, endpoint.id, "active", initiatorOf(owner))
      yield* endpoints.setDesiredState(project, endpoint.id, "idle", byProxy) // a caller's would cancel the start
      yield* done(branch)
    })
    const all = Array.from({ length: count }, () => one)
    return { project, work: Effect.all(all, { concurrency: 12, discard: true }) }
  })

/** The violations since the last call. No operation may be left. */
const judged = (project: { readonly id: string }, killed: ReadonlySet<number>) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const operations = yield* query<{ readonly id: string; readonly action: string; readonly status: string }>(
      "test",
      "select id, action, status from narthex.operation where project_id = $1",
      [project.id]
    )
    const statuses = yield* query<{ readonly id: string; readonly statuses: string }>(
      "test",
      `select it.data->>'operation_id' as id, string_agg(it.data->>'status', ' ' order by it.n) as statuses
       from (select data, pos as n from narthex.event_log where project_id = $1 and type = 'operation.updated.v1'
             union all select data, 9223372036854775807 from narthex.event_outbox
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
    yield* query("test", "truncate work")
    const story = new Map(statuses.map((it) => [it.id, it.statuses]))
    const repeated = steps.filter(({ pids, step }) => !step.startsWith("stop ") && pids.length > 1)
    return {
      operations: operations.length,
      repeated: repeated.length,
      wrong: [
        ...operations.flatMap((it) => (it.status === "finished" ? [] : [`${it.action} is ${it.status}`])),
        ...operations.flatMap((it) =>
          story.get(it.id) === "scheduling running finished"
            ? []
            : [`the events of ${it.action} are ${story.get(it.id)}`]
        ),
        ...steps.flatMap(({ both, step }) => (both ? [`${step} was done by two at once`] : [])),
        // Each process but the last was killed before it recorded the step.
        ...repeated.flatMap(({ pids, step }) =>
          pids.slice(0, -1).every((pid) => killed.has(pid)) ? [] : [`${step} was done ${pids.length} times`]
        )
      ]
    }
  })

type Work = Effect.Success<ReturnType<typeof workOn>>["work"]

/** Where a runner is killed. Each returns the fiber of the work, which the other runner continues. */
const deaths = {
  "in a step": (runner: RunnerProcess, work: Work) =>
    whileStepsLast(() => Effect.tap(Effect.forkChild(work), () => Effect.andThen(inStep(runner), lose(runner)))),
  "before a COMMIT": (runner: RunnerProcess, work: Work) =>
    whileStepsLast((letEnd) =>
      Effect.gen(function* () {
        const { query } = yield* Database
        const { holder } = yield* Runners
        const working = yield* Effect.forkChild(work)
        yield* inStep(runner)
        // A caller that waits for the log in the middle of a start would keep the runner from getting to it.
        yield* eventually(
          "all work to be scheduled",
          Effect.map(
            query("test", "select 1 from narthex.operation where status in ('scheduling', 'running')"),
            (rows) => rows.length === 3 * atOnce
          )
        )
        yield* holder.query("test", "lock table narthex.event_outbox in share row exclusive mode")
        yield* letEnd
        yield* atCommit(runner)
        yield* lose(runner)
        return working
      })
    ),
  anywhere: (runner: RunnerProcess, work: Work) =>
    Effect.gen(function* () {
      const working = yield* whileStepsLast(() => Effect.tap(Effect.forkChild(work), () => inStep(runner)))
      yield* Effect.sleep(yield* Random.nextIntBetween(0, 40))
      yield* lose(runner)
      return working
    })
}

layer(Runners.layer, { excludeTestServices: true })("two runners on one store", (it) => {
  it.effect(
    "two runners on one store perform each operation once",
    () =>
      Effect.gen(function* () {
        const count = times(20, 1_000)
        const { runners } = yield* Runners
        const { project, work } = yield* workOn("calm@example.com", count)
        // The runners are in the middle of steps before the first one ends.
        const working = yield* whileStepsLast(() =>
          Effect.tap(Effect.forkChild(work), () => Effect.forEach(runners, inStep))
        )
        yield* Fiber.join(working)
        const { operations, repeated, wrong } = yield* judged(project, new Set())
        assert.deepStrictEqual(wrong, [])
        assert.strictEqual(repeated, 0)
        assert.strictEqual(operations, 1 + 3 * count)
      }),
    patience
  )

  for (const where of ["in a step", "before a COMMIT", "anywhere"] as const)
    it.effect(
      `two runners bring each operation to one end although one of them is killed ${where}`,
      () =>
        Effect.gen(function* () {
          const { runners } = yield* Runners
          let repeats = 0
          for (let n = 0; n < kills; n++) {
            const runner = runners[(yield* Random.nextBoolean) ? 0 : 1]
            const { project, work } = yield* workOn(`killed-${where.length}-${n}@example.com`, atOnce)
            const working = yield* deaths[where](runner, work)
            yield* Effect.promise(() => runner.start())
            yield* Fiber.join(working)
            const killed = new Set(runners.flatMap((it) => [...it.killed]))
            const { operations, repeated, wrong } = yield* judged(project, killed)
            assert.deepStrictEqual(wrong, [])
            assert.strictEqual(operations, 1 + 3 * atOnce)
            repeats += repeated
          }
          note(`runners killed ${where}: ${kills} times, ${repeats} steps repeated`)
          // A runner that is killed between two steps, as may happen with `anywhere`, repeats none.
          assert.isTrue(where === "anywhere" || repeats > 0, "steps are repeated")
        }),
      patience
    )
})
