/** The stores on Postgres at the limits of ranges. */
import { assert, layer } from "@effect/vitest"
import { EventLog } from "@narthex/core"
import { Effect, Option } from "effect"
import { commit, event, farAhead, fresh, longAgo, settle } from "../../../core/testing/events/logFixtures.ts"
import { onPostgres } from "./onPostgres.ts"

layer(onPostgres, { excludeTestServices: true, timeout: "60 seconds" })("The event log on Postgres", (it) => {
  it.effect("each trimming raises the floor, and the history from the floor on is complete", () =>
    Effect.gen(function* () {
      const log = yield* EventLog
      const { org, project } = yield* fresh
      const floor = Effect.map(log.window(org, 10), (window) => Option.getOrUndefined(window.floor))
      for (const round of [1, 2]) {
        yield* commit(...Array.from({ length: 4 }, (_, n) => event(org, project, round * 10 + n)))
        yield* settle
        const { events } = yield* log.window(org, 100)
        yield* log.trim(farAhead, 2)
        const [trimmed, before] = [events.at(-3)?.id ?? "", events.at(-4)?.id ?? ""]
        assert.strictEqual(yield* floor, trimmed)
        assert.isTrue((yield* log.history(org, project, trimmed, 10)).complete)
        assert.isFalse((yield* log.history(org, project, before, 10)).complete)
      }
      assert.strictEqual(yield* log.trim(longAgo, 0), 0)
    })
  )
})
