/**
 * A worker may die between any two lines. Here it dies before and after every transaction and every post, once each, and
 * another worker must deliver every event, in order.
 * Holds docs/design/webhooks.md H2 and H17.
 */
import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { WebhookWorker } from "../../src/runner/webhooks/WebhookWorker.ts"
import { Boundary, signedIn } from "../memory/core.ts"
import { anotherWorker, answered, dueNow, emitted, Hooks, hook, numbers, Receiver, stored } from "./hooks.ts"

/** The numbers without repetitions of one that came before. */
const distinct = (all: ReadonlyArray<unknown>) => [...new Set(all)]

describe("A webhook whose worker dies", () => {
  it.effect("is delivered to by another worker after the lease: each event, in order, the last one perhaps twice", () =>
    Effect.gen(function* () {
      let died = true
      for (let fatal = 1; died; fatal++) {
        died = yield* Effect.gen(function* () {
          const boundary = yield* Boundary
          const receiver = yield* Receiver
          const { runOne } = yield* WebhookWorker
          const ada = yield* signedIn("ada")
          const { webhook } = yield* hook(ada)
          for (const n of [1, 2, 3]) yield* emitted(ada.org_id, n)
          let crossed = 0
          const cross = Effect.suspend(() => (++crossed === fatal ? Effect.interrupt : Effect.void))
          Object.assign(boundary, { cross })
          receiver.answer = () =>
            Effect.andThen(
              cross,
              Effect.tap(answered(200), () => cross)
            )
          const exit = yield* Effect.exit(runOne)
          Object.assign(boundary, { cross: Effect.void })
          receiver.answer = () => answered(200)
          const other = yield* anotherWorker
          yield* TestClock.adjust("2 minutes")
          while (yield* other);
          const got = yield* numbers
          assert.deepStrictEqual(distinct(got), [1, 2, 3], `after a death at ${fatal}`)
          assert.isAtMost(got.length, 4)
          assert.strictEqual((yield* stored(webhook)).position, receiver.messages.at(-1)?.id)
          return Exit.isFailure(exit)
        }).pipe(Effect.scoped, Effect.provide(Hooks))
        if (!died) assert.isAbove(fatal, 10)
      }
    })
  )

  it.effect("is given back by a worker that stops, so that another goes on at once", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const { runOne } = yield* WebhookWorker
      receiver.answer = () => Effect.interrupt
      const ada = yield* signedIn("ada")
      yield* hook(ada)
      yield* emitted(ada.org_id, 1)
      assert.isTrue(Exit.isFailure(yield* Effect.exit(runOne)))
      receiver.answer = () => answered(200)
      const other = yield* anotherWorker
      assert.isTrue(yield* other)
      assert.deepStrictEqual(yield* numbers, [1, 1])
    }).pipe(Effect.scoped, Effect.provide(Hooks))
  )

  it.effect("changes nothing by what it does after another worker has claimed the webhook", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const { runOne } = yield* WebhookWorker
      const other = yield* anotherWorker
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada)
      for (const n of [1, 2]) yield* emitted(ada.org_id, n)
      const claimed = yield* Deferred.make<void>()
      const delivered = yield* Deferred.make<void>()
      receiver.answer = () =>
        receiver.messages.length > 1
          ? answered(200)
          : Deferred.succeed(claimed, undefined).pipe(
              Effect.andThen(Deferred.await(delivered)),
              Effect.andThen(answered(500)),
              Effect.uninterruptible
            )
      const late = yield* Effect.forkChild(runOne)
      yield* Deferred.await(claimed)
      yield* dueNow(webhook)
      while (yield* other);
      yield* Deferred.succeed(delivered, undefined)
      yield* Fiber.await(late)
      assert.deepInclude(yield* stored(webhook), { failures_count: 0, status: "active" })
      assert.deepStrictEqual(yield* numbers, [1, 1, 2])
    }).pipe(Effect.scoped, Effect.provide(Hooks))
  )
})
