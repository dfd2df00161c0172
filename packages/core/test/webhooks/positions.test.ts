/** The position of a webhook in the log: replays, and gaps. Holds docs/design/webhooks.md H7 and H14. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect } from "effect"
import { TestClock } from "effect/testing"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { Webhooks } from "../../src/services/webhooks/Webhooks.ts"
import { signedIn, tagOf } from "../memory/core.ts"
import { answered, delivered, dueNow, emitted, Hooks, hook, numbers, Receiver, stored } from "./hooks.ts"

describe("A webhook", () => {
  it.effect(
    "delivers again from the position that a replay names, and nothing behind a position that the log never had",
    () =>
      Effect.gen(function* () {
        const webhooks = yield* Webhooks
        const receiver = yield* Receiver
        const [ada, grace] = [yield* signedIn("ada"), yield* signedIn("grace")]
        const { webhook } = yield* hook(ada)
        for (const n of [1, 2, 3]) yield* emitted(ada.org_id, n)
        yield* delivered
        const [first] = receiver.messages
        receiver.messages.length = 0
        yield* webhooks.replay(ada, webhook.id, first?.id.toLowerCase() ?? "")
        yield* delivered
        assert.deepStrictEqual(yield* numbers, [2, 3])
        yield* emitted(grace.org_id, 1)
        const theirs = yield* (yield* EventLog).headOf(grace.org_id)
        for (const unknown of ["soon", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ", theirs])
          assert.strictEqual(yield* tagOf(webhooks.replay(ada, webhook.id, unknown)), "InvalidMember")
      }).pipe(Effect.provide(Hooks))
  )

  it.effect("is active and due at once after a replay, also when an attempt that began before fails after it", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const receiver = yield* Receiver
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada)
      yield* emitted(ada.org_id, 1)
      receiver.answer = () => answered(500)
      yield* delivered
      receiver.answer = () => {
        receiver.answer = () => answered(200)
        return Effect.andThen(Effect.orDie(webhooks.replay(ada, webhook.id, null)), answered(410))
      }
      yield* dueNow(webhook)
      yield* delivered
      assert.deepInclude(yield* stored(webhook), { status: "active", failures_count: 0 })
      assert.deepStrictEqual(yield* numbers, [1, 1, 1])
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("delivers one gap in the place of events that the log has dropped, and goes on behind it", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      receiver.answer = () => answered(500)
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada, { types: ["test.happened.v1"] })
      for (const n of [1, 2, 3]) yield* emitted(ada.org_id, n)
      yield* delivered
      yield* TestClock.adjust("1 minute")
      for (const n of [4, 5]) yield* emitted(ada.org_id, n)
      yield* (yield* EventLog).trim(yield* DateTime.now, 2)
      receiver.messages.length = 0
      yield* delivered
      yield* TestClock.adjust("10 minutes")
      receiver.answer = () => answered(200)
      yield* delivered
      const types = receiver.messages.map(({ data, type }) => data["n"] ?? type)
      assert.deepStrictEqual(types, ["resume.gap.v1", "resume.gap.v1", 4, 5])
      const [gap, again] = receiver.messages
      assert.strictEqual(gap?.id, again?.id)
      assert.deepInclude(gap?.data, { reason: "too_old", last_event_id: webhook.position })
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("moves along with events that it does not want, so that none of them makes a gap", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      yield* hook(ada, { types: ["test.none.v1"] })
      for (let n = 0; n < 250; n++) yield* emitted(ada.org_id, n)
      yield* delivered
      yield* (yield* EventLog).trim(DateTime.addDuration(yield* DateTime.now, "1 day"), 1)
      yield* emitted(ada.org_id, 1, { type: "test.none.v1" })
      yield* delivered
      assert.deepStrictEqual(yield* numbers, [1])
    }).pipe(Effect.provide(Hooks))
  )
})
