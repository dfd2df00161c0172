/**
 * Three runners on one store and one machine with real clusters. They are killed and stopped at random while tenants
 * create, start, suspend, reset and delete branches. Afterwards every operation is final by a legal path, the events
 * are those of the rows, servers and directories are those of the records, and each database has its own rows.
 *
 * The short form kills a few times, the long form 500 times.
 */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import {
  Branches,
  BranchId,
  ComputeDriver,
  changes,
  EndpointStore,
  Endpoints,
  initiatorOf,
  layerMemoryComputes,
  mayMove,
  type OperationStatus,
  OperationStore,
  type Project,
  Projects,
  type SessionCaller
} from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Database } from "@narthex/postgres"
import { Context, Effect, Fiber, Layer, Random, Redacted } from "effect"
import { asSupervisor } from "../../packages/local-postgres/src/cluster/asSupervisor.ts"
import { clusterAt, superuser } from "../../packages/local-postgres/src/cluster/Cluster.ts"
import { dataDirectory, kinds } from "../../packages/local-postgres/test/support.ts"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { eventually } from "../harness/eventually.ts"
import { long, times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { signIn, worldAt } from "../races/support/world.ts"
import { endProcessesIn, processesIn } from "../support/processesIn.ts"
import { StormRunner } from "./support/StormRunner.ts"

const lease_ms = 3_000
const kills = times(3, 500)
/** Milliseconds for what may wait for several take-overs and recoveries. */
const limit = long ? 1_200_000 : 240_000

class Storm extends Context.Service<
  Storm,
  { readonly dataDir: string; readonly runners: ReadonlyArray<StormRunner> }
>()("test/storm/Storm") {
  static readonly layer = Layer.unwrap(
    Effect.gen(function* () {
      const url = yield* (yield* PostgresServer).database
      const storm = Effect.gen(function* () {
        const dataDir = yield* dataDirectory(0)
        yield* Effect.addFinalizer(() => Effect.promise(() => endProcessesIn(dataDir)))
        const options = { url: Redacted.value(url), dataDir, binaries: kinds[0].choice, lease_ms }
        const runners = [1, 2, 3].map(() => new StormRunner(options))
        yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(runners.map((it) => it.kill()))))
        for (const runner of runners) runner.start()
        return { dataDir, runners }
      })
      return Layer.provideMerge(Layer.effect(Storm, storm), worldAt(url, layerMemoryComputes))
    })
  ).pipe(Layer.provide(PostgresServer.layer))
}

const clusterOf = (dataDir: string, branch: BranchId) =>
  clusterAt(join(dataDir, "computes", "branches", branch), "compute")

/** Completes when the branch has no unfinished operation. */
const settled = (branch: BranchId) =>
  Effect.flatMap(OperationStore, (store) =>
    eventually(
      `the operations of ${branch}`,
      Effect.map(store.unfinished(branch), (left) => left.length === 0),
      { every: 100, limit }
    )
  )

/** Adds rows of its own to a branch that runs. */
const write = (dataDir: string, branch: BranchId, rows: number) =>
  asSupervisor(clusterOf(dataDir, branch), "postgres", (sql) =>
    Effect.andThen(
      sql.unsafe("create table if not exists public.mark (branch text, n int, filler text, primary key (branch, n))"),
      sql.unsafe(
        `insert into public.mark select '${branch}', n, repeat(md5(n::text), 8) from generate_series(1, ${rows}) n
         on conflict do nothing`
      )
    )
  )

/** Which branches' rows a branch has, with their number and checksum. */
const marks = (dataDir: string, branch: BranchId) =>
  asSupervisor(clusterOf(dataDir, branch), "postgres", (sql) =>
    Effect.map(
      sql.unsafe<{ readonly branch: string; readonly sum: string }>(
        `select branch, count(*) || ' ' || md5(string_agg(branch || n || filler, ',' order by n)) as sum
         from public.mark group by branch order by branch`
      ),
      (rows) => Object.fromEntries(rows.map((row) => [row.branch, row.sum]))
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

/** Kills or stops runners, one after another, and starts those that are gone. */
const blow = Effect.gen(function* () {
  const { runners } = yield* Storm
  const counts = { killed: 0, stopped: 0 }
  while (counts.killed < kills) {
    yield* eventually(
      "a runner to hold the directory",
      Effect.sync(() => runners.some((it) => it.holds)),
      { every: 20, limit }
    )
    yield* Effect.sleep(yield* Random.nextIntBetween(0, 2_500))
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

/** What is wrong with the rows of operations and their events. */
const wrongOperations = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query<{ readonly id: string; readonly action: string; readonly status: string }>(
    "test",
    "select id, action, status from operation"
  )
  const told = yield* query<{ readonly id: string; readonly statuses: ReadonlyArray<OperationStatus> }>(
    "test",
    `select data->>'operation_id' as id, array_agg(data->>'status' order by pos) as statuses
     from event_log where type = 'operation.updated.v1' group by 1`
  )
  const story = new Map(told.map((it) => [it.id, it.statuses]))
  return {
    count: rows.length,
    wrong: rows.flatMap(({ action, id, status }) => {
      const statuses = story.get(id) ?? []
      const legal = statuses.every((it, n) => n === 0 || mayMove(statuses[n - 1] ?? "scheduling", it))
      const good = statuses[0] === "scheduling" && statuses.at(-1) === status && legal
      const ended = status === "finished" || status === "skipped"
      return good && ended ? [] : [`${action} ${id}: ${statuses.join(" ")}, the row is ${status}`]
    })
  }
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
          Effect.all(
            ["ada", "bob"].map((name) => tenant(dataDir, name, () => over, expected)),
            { concurrency: "unbounded" }
          )
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
    { timeout: long ? 10_800_000 : 2 * limit }
  )
})

/** Compares machine and records, and reads every database. The servers that are left are adopted, and stopped after. */
const inspect = (dataDir: string, expected: ReadonlyMap<string, ReadonlyArray<string>>) =>
  Effect.gen(function* () {
    const driver = Context.get(
      yield* Layer.build(LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice })),
      ComputeDriver
    )
    const endpoints = yield* EndpointStore
    const active = (yield* endpoints.active).map((it) => `${it.id} ${it.generation}`)
    const running = (yield* driver.running).map((it) => `${it.endpoint_id} ${it.generation}`)
    assert.sameMembers(running, active, "what runs is what the records say")
    const directories = readdirSync(join(dataDir, "computes", "branches")).filter((name) =>
      existsSync(join(dataDir, "computes", "branches", name, "data"))
    )
    assert.sameMembers(directories, [...expected.keys()], "directories are those of the branches")
    const sums = new Map<string, string>()
    for (const [id, owners] of expected) {
      const branch = BranchId.make(id)
      const [endpoint] = yield* endpoints.ofBranch(branch)
      if (endpoint === undefined) throw new Error(`${id} has no endpoint`)
      const generation = endpoint.generation + 1
      yield* driver.start({ endpoint_id: endpoint.id, branch_id: branch, generation, roles: [] })
      const found = yield* marks(dataDir, branch)
      assert.sameMembers(Object.keys(found), [...owners], `${id} has its own rows and its parent's`)
      for (const [owner, sum] of Object.entries(found)) {
        assert.strictEqual(sums.get(owner) ?? sum, sum, `the rows of ${owner} are the same everywhere`)
        sums.set(owner, sum)
      }
    }
    checkPages(dataDir, [...expected.keys()])
  })

/** `pg_amcheck` on every database, where the program exists. */
const checkPages = (dataDir: string, branches: ReadonlyArray<string>) => {
  const program = spawnSync("sh", ["-c", "command -v pg_amcheck || ls /usr/lib/postgresql/*/bin/pg_amcheck"])
  const path = program.stdout.toString().split("\n")[0]
  if (path === undefined || path === "") return note("storm: pg_amcheck is not installed")
  for (const branch of branches) {
    const { run } = clusterOf(dataDir, BranchId.make(branch))
    const ran = spawnSync(
      path,
      ["--install-missing", "--heapallindexed", "-h", "/proc/self/cwd", "-U", superuser, "-d", "postgres"],
      { cwd: run }
    )
    assert.strictEqual(ran.status, 0, `pg_amcheck of ${branch}: ${ran.stderr}`)
  }
}
