import { assert, layer } from "@effect/vitest"
import {
  Branches,
  type BranchId,
  changes,
  Endpoints,
  initiatorOf,
  layerMemoryComputes,
  OperationStore,
  type Project,
  Projects,
  type SessionCaller
} from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Context, Effect, Fiber, Layer, Random, Redacted } from "effect"
import { dataDirectory, kinds } from "../../packages/local-postgres/test/support.ts"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { eventually } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { program } from "../harness/programs.ts"
import { signIn, worldAt } from "../races/support/world.ts"
import { endProcessesIn, processesIn } from "../support/processesIn.ts"
import { inspect, write, wrongOperations } from "./support/inspection.ts"
import { StormRunner } from "./support/StormRunner.ts"

const lease_ms = 3_000
const kills = Number(process.env["NARTHEX_TEST_KILLS"] ?? times(3, 500))
/** Milliseconds for what may wait for several take-overs and recoveries. */
const limit = kills > 3 ? 1_200_000 : 240_000

class Storm extends Context.Service<
  Storm,
  { readonly dataDir: string; readonly runners: ReadonlyArray<StormRunner> }
>()("test/storm/Storm") {
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer).migrated
      const storm = Effect.gen(function* () {
        const dataDir = yield* dataDirectory(0)
        yield* Effect.addFinalizer(() => Effect.promise(() => endProcessesIn(dataDir)))
        const options = { url: Redacted.value(url), dataDir, binaries: kinds[0].choice, lease_ms }
        const script = yield* Effect.promise(() => program("storm-runner"))
        const runners = [1, 2, 3].map(() => new StormRunner(script, options))
        yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(runners.map((it) => it.kill()))))
        for (const runner of runners) runner.start()
        return { dataDir, runners }
      })
      return Layer.provideMerge(Layer.effect(Storm, storm), worldAt(url, layerMemoryComputes))
    })
  ).pipe(Layer.provide(PostgresServer.layer))
}

/** Completes when the branch has no unfinished operation. */
const settled = (branch: BranchId) =>
  Effect.flatMap(OperationStore, (store) =>
    eventually(
      `the operations of ${branch}`,
      Effect.map(store.unfinished(branch), (left) => left.length === 0),
      { every: 100, limit }
    )
  )

const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
const onBranch = changes("write", "change_projects", "branch")

/** Until `over`, creates branches of main, writes to them, and suspends, resets or deletes them. */
const tenant = (dataDir: string, name: string, over: () => boolean, expected: Map<string, ReadonlyArray<string>>) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const endpoints = yield* Endpoints
    const owner: SessionCaller = yield* signIn(`${name}@example.com`)
    const made = yield* (yield* Projects).create(owner, { name, region: null })
    const { branch: main, project } = made
    const set = (endpoint: { readonly id: typeof made.endpoint.id }, state: "active" | "idle", of: Project) =>
      endpoints.setDesiredState(of, endpoint.id, state, initiatorOf(owner))
    yield* set(made.endpoint, "active", project)
    yield* settled(main.id)
    yield* write(dataDir, main.id, 2_000)
    expected.set(main.id, [main.id])
    for (let n = 0; n === 0 || !over(); n++) {
      const { branch, endpoint } = yield* branches.create(owner, project, wanted)
      if (endpoint === null) return
      yield* set(endpoint, "active", project)
      yield* settled(branch.id)
      yield* write(dataDir, branch.id, 500)
      const fate = yield* Random.nextIntBetween(0, 3)
      expected.set(branch.id, fate === 1 ? [main.id] : [branch.id, main.id])
      if (fate === 0) yield* set(endpoint, "idle", project)
      if (fate === 1) yield* branches.reset(owner, onBranch, branch)
      if (fate === 2) {
        expected.delete(branch.id)
        yield* branches.remove(owner, onBranch, branch)
      }
      yield* settled(branch.id)
    }
  })

/** How many claims the runners have made, and how many operations they have ended. */
const progress = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query<{ readonly claims: string; readonly ended: string }>(
      "test",
      "select coalesce(max(fence), 0) as claims, count(finished_at) as ended from operation"
    ),
    ([row]) => ({ claims: Number(row?.claims ?? 0), ended: Number(row?.ended ?? 0) })
  )
)

/**
 * Kills or stops runners, one after another, and starts those that are gone. Of three blows, on average, one falls at
 * once, one a moment after a claim, and one a moment after an operation has ended: work goes on, however slow the
 * machine is.
 */
const blow = Effect.gen(function* () {
  const { runners } = yield* Storm
  const counts = { killed: 0, stopped: 0 }
  while (counts.killed < kills) {
    yield* eventually(
      "a runner to hold the directory",
      Effect.sync(() => runners.some((it) => it.holds)),
      { every: 20, limit }
    )
    const before = yield* progress
    const awaited = yield* Random.nextIntBetween(0, 2)
    yield* eventually(
      "runners to claim or to end an operation",
      Effect.map(
        progress,
        ({ claims, ended }) =>
          awaited === 0 || (awaited === 1 && claims > before.claims) || (awaited === 2 && ended > before.ended)
      ),
      { every: 20, limit }
    )
    yield* Effect.sleep(yield* Random.nextIntBetween(0, 500))
    const holder = runners.find((it) => it.holds)
    const any = runners[yield* Random.nextIntBetween(0, 2)]
    const stops = counts.killed % 3 === 1
    const victim = stops || (yield* Random.nextIntBetween(0, 3)) > 0 ? holder : any
    if (victim === undefined) continue
    counts.killed += 1
    if (stops) {
      // For longer than the standbys' patience, so it is killed. It continues, if it still can.
      counts.stopped += 1
      victim.signal("SIGSTOP")
      yield* eventually(
        "a standby to take over from a stopped runner",
        Effect.sync(() => !victim.alive || runners.some((it) => it !== victim && it.holds)),
        { every: 50, limit }
      )
      victim.signal("SIGCONT")
    } else yield* Effect.promise(() => victim.kill())
    for (const runner of runners) if (!runner.alive) runner.start()
  }
  return counts
})

layer(Storm.layer, { excludeTestServices: true })("three runners on one machine", (it) => {
  it.effect(
    "operations and databases are right after runners were killed and stopped at random",
    () =>
      Effect.gen(function* () {
        const { dataDir, runners } = yield* Storm
        const expected = new Map<string, ReadonlyArray<string>>()
        let over = false
        const tenants = yield* Effect.forkChild(
          Effect.forEach(["ada", "bob"], (name) => tenant(dataDir, name, () => over, expected), {
            concurrency: "unbounded"
          })
        )
        const storm = yield* Effect.forkChild(
          Effect.ensuring(
            blow,
            Effect.sync(() => (over = true))
          )
        )
        const counts = yield* Fiber.join(storm)
        yield* Fiber.join(tenants)
        const { query } = yield* Database
        yield* eventually(
          "every operation to be final, and its event to be in the log",
          Effect.map(
            query(
              "test",
              `select 1 from operation where status in ('scheduling', 'running', 'cancelling')
               union all select 1 from event_outbox limit 1`
            ),
            (rows) => rows.length === 0
          ),
          { every: 100, limit }
        )
        yield* Effect.promise(() => Promise.all(runners.map((runner) => runner.kill())))
        const { count, wrong } = yield* wrongOperations
        assert.deepStrictEqual(wrong, [])
        note(`storm: ${counts.killed} kills, of them ${counts.stopped} of stopped runners; ${count} operations`)
        yield* Effect.scoped(inspect(dataDir, expected))
        // The last of them may still be exiting.
        yield* eventually(
          "the end of every server",
          Effect.sync(() => processesIn(dataDir).length === 0),
          { every: 50, limit }
        )
      }),
    { timeout: kills > 3 ? 10_800_000 : 2 * limit }
  )
})
