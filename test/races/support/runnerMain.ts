/**
 * An operation runner that shares a Postgres with others, as a process that tests can kill.
 *
 * The computes of the runner run nothing; they record in the table `work` when each step began and ended, and who
 * performed it. A step does not end while the test holds the advisory lock `stepLock`.
 *
 * `node runnerMain.ts <options as JSON>` prints a line of JSON when it claims its first operation. It exits when its
 * stdin closes, so it does not outlive the test.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import {
  ComputeDriver,
  ComputeFailed,
  defaultRunnerSettings,
  EventFeed,
  layerMemoryComputes,
  OperationRunner,
  OperationStore,
  Operations,
  RunnerPolicy
} from "@narthex/core"
import { Database, PostgresStorage } from "@narthex/postgres"
import { Duration, Effect, Layer, Random, Redacted, References, Stream } from "effect"
import type { RunnerOptions, RunnerUp } from "./RunnerProcess.ts"
import { stepLock } from "./stepLock.ts"

// Written by the test.
const { lease_ms, name, url } = JSON.parse(process.argv[2] ?? "{}") as RunnerOptions

const Recording = Layer.effect(
  ComputeDriver,
  Effect.gen(function* () {
    const computes = yield* ComputeDriver
    const { query } = yield* Database
    const failed = (cause: unknown) => new ComputeFailed({ reason: String(cause), retryable: true })

    /** A step that takes a few milliseconds. */
    const recorded = (step: string) =>
      Effect.gen(function* () {
        const [row] = yield* query<{ readonly n: number }>(
          "work",
          "insert into work (step, pid, begun_at) values ($1, $2, clock_timestamp()) returning n",
          [step, process.pid]
        )
        yield* Effect.sleep(yield* Random.nextIntBetween(0, 20))
        yield* query("work", `select pg_advisory_xact_lock_shared(${stepLock})::text`)
        yield* query("work", "update work set ended_at = clock_timestamp() where n = $1", [row?.n])
      }).pipe(Effect.mapError(failed))

    return ComputeDriver.of({
      ...computes,
      createBranch: (branch) => recorded(`create ${branch}`),
      resetBranch: (branch) => recorded(`reset ${branch}`),
      deleteBranch: (branch) => recorded(`delete ${branch}`),
      start: ({ branch_id, endpoint_id, generation }) =>
        Effect.as(recorded(`start ${endpoint_id} ${generation}`), {
          endpoint_id,
          branch_id,
          generation,
          address: `memory.invalid:${generation}`
        }),
      stop: (endpoint) => recorded(`stop ${endpoint}`)
    })
  })
).pipe(Layer.provide(layerMemoryComputes))

const nudged = Layer.effectDiscard(
  Effect.gen(function* () {
    const { nudge } = yield* OperationRunner
    const { events } = yield* EventFeed
    yield* Effect.forkScoped(Stream.runForEach(events, () => nudge))
  })
)

// As many as the runners share: more than one organization would have by default.
const four = { places: 4, per_org: 100 }
const { classes } = defaultRunnerSettings
const policy = Layer.succeed(RunnerPolicy, {
  ...defaultRunnerSettings,
  lease: Duration.millis(lease_ms),
  poll: Duration.millis(50),
  per_parent: 100,
  classes: {
    computes: { ...classes.computes, ...four },
    roles: { ...classes.roles, ...four },
    branches: { ...classes.branches, ...four },
    deletions: { ...classes.deletions, ...four }
  }
})

let announced = false
const announce = ({ worker }: RunnerUp) =>
  Effect.sync(() => {
    if (!announced) process.stdout.write(`${JSON.stringify({ worker })}\n`)
    announced = true
  })

/** Records which runner claims operations. */
const Announcing = Layer.effect(
  OperationStore,
  Effect.map(OperationStore, (store) =>
    OperationStore.of({ ...store, claim: (claim) => Effect.tap(store.claim(claim), () => announce(claim)) })
  )
)

process.stdin.on("close", () => process.exit(2)).resume()

NodeRuntime.runMain(
  Layer.launch(
    nudged.pipe(
      Layer.provideMerge(OperationRunner.layer),
      Layer.provideMerge(Announcing),
      Layer.provideMerge(Operations.layer),
      Layer.provideMerge(EventFeed.layer),
      Layer.provideMerge(Recording),
      Layer.provideMerge(PostgresStorage.layer),
      Layer.provideMerge(Database.layer({ url: Redacted.make(url), maxConnections: 8, applicationName: name })),
      Layer.provide(Layer.merge(policy, Layer.succeed(References.MinimumLogLevel, "None")))
    )
  )
)
