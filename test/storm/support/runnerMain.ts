/**
 * A runner of a region that shares a store and a machine with others, as a process that tests kill and stop. One runner holds the
 * directory of the computes and performs operations; the others wait as its standbys.
 *
 * `node runnerMain.ts <options as JSON>` prints a line when it holds the directory. It exits when its stdin closes, so
 * it does not outlive the test; its servers do.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { defaultRunnerSettings, EventFeed, OperationRunner, Operations, RegionId, RunnerPolicy } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Database, PostgresStorage } from "@narthex/postgres"
import { Duration, Effect, Layer, Redacted, References } from "effect"

export interface StormRunnerOptions {
  readonly url: string
  readonly region: string
  readonly dataDir: string
  readonly binaries: string
  readonly lease_ms: number
}

// Written by the test.
const { binaries, dataDir, lease_ms, region, url } = JSON.parse(process.argv[2] ?? "{}") as StormRunnerOptions

const policy = Layer.succeed(RunnerPolicy, {
  ...defaultRunnerSettings,
  region: RegionId.make(region),
  lease: Duration.millis(lease_ms),
  poll: Duration.millis(100),
  // Tries that a kill interrupts are no failures; those that fail because a server was killed are few.
  retries: 20
})

const holds = Layer.effectDiscard(Effect.sync(() => process.stdout.write("holds\n")))

process.stdin.on("close", () => process.exit(2)).resume()

NodeRuntime.runMain(
  Layer.launch(
    Layer.merge(OperationRunner.layerNudged, holds).pipe(
      Layer.provideMerge(Operations.layer),
      Layer.provideMerge(
        LocalComputeDriver.layerStandby({ dataDir, binaries, patience: Duration.millis(2 * lease_ms) })
      ),
      Layer.provideMerge(EventFeed.layer),
      Layer.provideMerge(PostgresStorage.layer),
      Layer.provideMerge(Database.layer({ url: Redacted.make(url), maxConnections: 8, applicationName: "storm" })),
      Layer.provide(Layer.merge(policy, Layer.succeed(References.MinimumLogLevel, "None")))
    )
  )
)
