/** Records that this process runs the operations of its region, for operators (docs/design/operations.md O28). */
import { Effect, Layer, Schedule } from "effect"
import { becauseOf } from "../becauseOf.ts"
import { makeOperationId } from "../Ids.ts"
import { RegionCatalog, runnerTiming } from "../records/regions/RegionCatalog.ts"
import { RunnerPolicy } from "./RunnerPolicy.ts"

/** As long as its scope lives. A runner of every region records nothing. */
export const layerAnnounceRunner: Layer.Layer<never, never, RegionCatalog> = Layer.effectDiscard(
  Effect.gen(function* () {
    const { noteRunner } = yield* RegionCatalog
    const { region } = yield* RunnerPolicy
    if (region === null) return
    const runner = yield* makeOperationId
    const beat = Effect.catchCause(noteRunner(region, runner), (cause) =>
      Effect.logDebug("That this runner works is not recorded.").pipe(becauseOf(cause))
    )
    yield* Effect.forkScoped(Effect.repeat(beat, Schedule.spaced(runnerTiming.beat)))
  })
)
