/** Places of the worker: a receiver that hangs delays no other. Holds docs/design/webhooks.md H10. */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect } from "effect"
import { TestClock } from "effect/testing"
import { signedIn, until } from "../memory/core.ts"
import { answered, emitted, hook, loopingHooks, Receiver } from "./hooks.ts"

describe("The worker of webhooks", () => {
  it.effect("delivers to other organizations while the receivers of one hang, which take their places alone", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const [ada, grace] = [yield* signedIn("ada"), yield* signedIn("grace")]
      let [hanging, most, reached] = [0, 0, 0]
      const end = yield* Deferred.make<void>()
      receiver.answer = ({ url }) => {
        if (!url.includes("hangs")) return Effect.tap(answered(200), () => Effect.sync(() => reached++))
        most = Math.max(most, ++hanging)
        return Deferred.await(end).pipe(Effect.ensuring(Effect.sync(() => hanging--)), Effect.andThen(answered(500)))
      }
      yield* hook(ada, { url: "https://hangs.example.com/1" })
      yield* hook(ada, { url: "https://hangs.example.com/2" })
      yield* hook(grace, { url: "https://fine.example.com/" })
      yield* emitted(ada.org_id, 1)
      yield* until(Effect.sync(() => hanging === 1))
      for (const n of [1, 2, 3]) yield* emitted(grace.org_id, n)
      yield* until(Effect.sync(() => reached === 3))
      assert.deepStrictEqual([hanging, most], [1, 1])
      // The attempt ends after its time, and the other webhook of the organization has its turn.
      yield* TestClock.adjust("15 seconds")
      yield* until(Effect.sync(() => receiver.messages.some(({ url }) => url.endsWith("/2"))))
      assert.strictEqual(most, 1)
    }).pipe(Effect.provide(loopingHooks({ places: 2, per_org: 1 })))
  )

  it.effect("delivers an event whose notification was lost", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const ada = yield* signedIn("ada")
      yield* hook(ada)
      yield* TestClock.adjust("1 second")
      // Nothing wakes the webhook of an organization whose event is not read by the feed.
      yield* emitted(ada.org_id, 1)
      yield* TestClock.adjust("3 minutes")
      yield* until(Effect.sync(() => receiver.messages.length === 1))
    }).pipe(Effect.provide(loopingHooks({})))
  )
})
