/** A region of the storm: several runners of one directory of computes. */
import { Effect, Redacted } from "effect"
import { dataDirectory, kinds } from "../../../packages/local-postgres/test/support.ts"
import { times } from "../../harness/long.ts"
import { program } from "../../harness/programs.ts"
import { endProcessesIn } from "../../support/processesIn.ts"
import { StormRunner } from "./StormRunner.ts"

export interface StormRegion {
  readonly region: string
  readonly dataDir: string
  readonly runners: ReadonlyArray<StormRunner>
}

const lease_ms = 3_000
/** How often the storm kills or stops a runner. */
export const kills = Number(process.env["NARTHEX_TEST_KILLS"] ?? times(3, 500))
/** Milliseconds for what may wait for several take-overs and recoveries. */
export const limit = kills > 3 ? 1_200_000 : 240_000

/** Starts the runners. They end with the scope, and their servers too. */
export const stormRegion = Effect.fnUntraced(function* (
  url: Redacted.Redacted<string>,
  region: string,
  runners: number
) {
  const dataDir = yield* dataDirectory(0)
  yield* Effect.addFinalizer(() => Effect.promise(() => endProcessesIn(dataDir)))
  const options = { url: Redacted.value(url), region, dataDir, binaries: kinds[0].choice, lease_ms }
  const script = yield* Effect.promise(() => program("storm-runner"))
  const all = Array.from({ length: runners }, () => new StormRunner(script, options))
  yield* Effect.addFinalizer(() => Effect.promise(() => Promise.all(all.map((it) => it.kill()))))
  for (const runner of all) runner.start()
  return { region, dataDir, runners: all }
})
