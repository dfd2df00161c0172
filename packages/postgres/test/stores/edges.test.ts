/** The stores on Postgres at the limits of ranges. */
import { assert, layer } from "@effect/vitest"
import { EventLog, IpAllowlistStore, IpRule, parseCidr } from "@narthex/core"
import { aProjectId, aUser } from "@narthex/core/testing"
import { DateTime, Effect, Option, Result } from "effect"
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

layer(onPostgres, { excludeTestServices: true, timeout: "60 seconds" })("An allowlist on Postgres", (it) => {
  it.effect("removing a rule of an allowlist keeps the others", () =>
    Effect.gen(function* () {
      const store = yield* IpAllowlistStore
      const project = aProjectId()
      const cidrs = ["10.0.0.0/8", "192.0.2.0/24", "203.0.113.0/24"].map((text) => Result.getOrThrow(parseCidr(text)))
      for (const cidr of cidrs)
        yield* store.put(
          project,
          new IpRule({
            cidr,
            label: "",
            created_at: DateTime.makeUnsafe(0),
            created_by: aUser().ref,
            expires_at: Option.none()
          })
        )
      assert.isTrue(yield* store.remove(project, cidrs[1] ?? Result.getOrThrow(parseCidr("10.0.0.0/8"))))
      assert.deepStrictEqual(
        (yield* store.all(project)).map(({ cidr }) => cidr),
        [cidrs[0], cidrs[2]]
      )
    })
  )
})
