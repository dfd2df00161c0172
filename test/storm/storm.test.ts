import { assert, layer } from "@effect/vitest"
import {
  type Branch,
  Branches,
  type BranchId,
  BranchRoleStore,
  Credentials,
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
import { Context, Effect, Fiber, Layer, Option, Random, Redacted } from "effect"
import { dataDirectory, kinds } from "../../packages/local-postgres/test/support.ts"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { eventually } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { program } from "../harness/programs.ts"
import { signIn, worldAt } from "../races/support/world.ts"
import { endProcessesIn, processesIn } from "../support/processesIn.ts"
import { inspect, rolesOf, type Written, write, wrongOperations } from "./support/inspection.ts"
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

/** Mints two credentials, and revokes one: Postgres has the other alone. */
const mintAndRevoke = (dataDir: string, owner: SessionCaller, project: Project, branch: Branch) =>
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const store = yield* BranchRoleStore
    // Runners are being killed: the compute's confirmation may be late.
    const late = { NotApplied: () => Effect.void }
    const mint = Effect.catchTags(credentials.mint(owner, project, branch, "read_write", null), late)
    yield* mint
    yield* mint
    yield* settled(branch.id)
    const [revoked, kept] = yield* store.present(branch.id)
    if (revoked === undefined || kept === undefined) return yield* Effect.die(new Error("A minted role is missing."))
    yield* Effect.catchTags(credentials.revoke(owner, project, revoked), late)
    yield* settled(branch.id)
    assert.deepStrictEqual(yield* rolesOf(dataDir, branch.id), [kept.role])
    const found = yield* store.find(branch.id, revoked.role)
    assert.isTrue(
      Option.exists(found, ({ removed_at }) => removed_at !== null),
      "its end is confirmed"
    )
  })

/** The fates of a branch. */
const fates = ["suspend", "reset", "delete", "mint and revoke", "make default", "delete endpoint"] as const

/**
 * Branches that a tenant keeps: a personal organization may have fifty in a project, and twenty running computes. The oldest
 * is deleted, unless it is the default branch or has children.
 */
const mostKept = 8

/** Until `over`, creates branches of main, writes to them, and lets one of the fates happen to each. */
const tenant = (dataDir: string, name: string, over: () => boolean, expected: Map<string, ReadonlyArray<Written>>) =>
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
    const ofMain: Written = { branch: main.id, rows: 2_000 }
    yield* write(dataDir, ofMain)
    expected.set(main.id, [ofMain])
    const kept: Array<Branch> = []
    for (let n = 0; n === 0 || !over(); n++) {
      const { branch, endpoint } = yield* branches.create(owner, project, wanted)
      if (endpoint === null) return
      yield* set(endpoint, "active", project)
      yield* settled(branch.id)
      const own: Written = { branch: branch.id, rows: 500 }
      yield* write(dataDir, own)
      const fate = fates[yield* Random.nextIntBetween(0, fates.length, { halfOpen: true })]
      expected.set(branch.id, fate === "reset" ? [ofMain] : [own, ofMain])
      if (fate === "suspend") yield* set(endpoint, "idle", project)
      if (fate === "reset") yield* branches.reset(owner, onBranch, branch)
      if (fate === "delete") {
        expected.delete(branch.id)
        yield* branches.remove(owner, onBranch, branch)
      }
      if (fate === "mint and revoke") yield* mintAndRevoke(dataDir, owner, project, branch)
      if (fate === "make default") yield* branches.setDefault(owner, branch)
      if (fate === "delete endpoint") yield* endpoints.remove(owner, onBranch, project, endpoint)
      yield* settled(branch.id)
      if (fate === "delete") continue
      if (fate !== "delete endpoint") yield* set(endpoint, "idle", project)
      yield* settled(branch.id)
      kept.push(branch)
      const oldest = kept.length > mostKept ? kept.shift() : undefined
      if (oldest === undefined) continue
      yield* branches.remove(owner, onBranch, oldest).pipe(
        Effect.andThen(Effect.sync(() => expected.delete(oldest.id))),
        Effect.catchTag("Conflict", () => Effect.void)
      )
      yield* settled(oldest.id)
    }
  })

/** How many claims the runners have made, and how many operations they have ended. */
const progress = Effect.flatMap(Database, ({ query }) =>
  Effect.map(
    query<{ readonly claims: string; readonly ended: string }>(
      "test",
      "select coalesce(max(fence), 0) as claims, count(finished_at) as ended from narthex.operation"
    ),
    ([row]) => ({ claims: Number(row?.claims ?? 0), ended: Number(row?.ended ?? 0) })
  )
)

/**
 * Stops a runner until its leases have lapsed, and continues it before the standbys lose patience: what it does then is
 * late, and has no effect unless it claims the operation again.
 */
const pause = (runner: StormRunner) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    runner.signal("SIGSTOP")
    yield* eventually(
      "the leases of a stopped runner to lapse",
      Effect.map(
        query("test", "select 1 from narthex.operation where lease_until > now() limit 1"),
        (leased) => leased.length === 0 || !runner.alive
      ),
      { every: 20, limit }
    )
    runner.signal("SIGCONT")
  })

/**
 * Kills or stops runners, one after another, and starts those that are gone. On average, a third of the blows fall at
 * once, a third a moment after a claim, and a third a moment after an operation has ended. So work goes on, however
 * slow the machine is.
 */
const blow = Effect.gen(function* () {
  const { runners } = yield* Storm
  const counts = { killed: 0, stopped: 0, paused: 0 }
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
    if (counts.killed % 3 === 2 && holder !== undefined) {
      counts.paused += 1
      yield* pause(holder)
    }
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
        const expected = new Map<string, ReadonlyArray<Written>>()
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
        // Without a tenant the runners would have nothing to do, and the storm would wait for them.
        const counts = yield* Effect.raceFirst(
          Fiber.join(storm),
          Effect.flatMap(Fiber.join(tenants), () => Effect.never)
        )
        yield* Fiber.join(tenants)
        const { query } = yield* Database
        yield* eventually(
          "every operation to be final, and its event to be in the log",
          Effect.map(
            query(
              "test",
              `select 1 from narthex.operation where status in ('scheduling', 'running', 'cancelling')
               union all select 1 from narthex.event_outbox limit 1`
            ),
            (rows) => rows.length === 0
          ),
          { every: 100, limit }
        )
        yield* Effect.promise(() => Promise.all(runners.map((runner) => runner.kill())))
        const { count, wrong } = yield* wrongOperations
        assert.deepStrictEqual(wrong, [])
        note(
          `storm: ${counts.killed} kills, of them ${counts.stopped} of stopped runners; ${counts.paused} runners went on ` +
            `after their leases; ${count} operations`
        )
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
