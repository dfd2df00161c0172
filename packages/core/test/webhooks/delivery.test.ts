/**
 * Messages, and the consequences of answers to them.
 * Holds docs/design/webhooks.md H1, H2, H4, H5, H6, H7 and H12.
 */
import { assert, describe, it, vi } from "@effect/vitest"
import { DateTime, Duration, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { Webhook as Verifier } from "standardwebhooks"
import { retryPauses } from "../../src/records/webhooks/afterAttempt.ts"
import { StoredWebhook } from "../../src/records/webhooks/Webhook.ts"
import { WebhookUnreached } from "../../src/records/webhooks/WebhookSender.ts"
import { WebhookStore } from "../../src/records/webhooks/WebhookStore.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Webhooks } from "../../src/services/webhooks/Webhooks.ts"
import { signedIn, tagOf, until } from "../memory/core.ts"
import { answered, delivered, dueNow, emitted, Hooks, hook, numbers, Receiver, stored, url } from "./hooks.ts"

const firstPage = { limit: 1000, after: null }

/** Verifies as receivers do, at the moment of arrival: they compare with their own clock. It dies if no signature fits. */
const verified = (secret: Redacted.Redacted) =>
  Effect.map(Receiver, ({ messages }) =>
    messages.map(({ body, headers }) => {
      vi.useFakeTimers({ toFake: ["Date"], now: 1000 * Number(headers["webhook-timestamp"]) })
      try {
        return new Verifier(Redacted.value(secret)).verify(body, { ...headers })
      } finally {
        vi.useRealTimers()
      }
    })
  )

describe("A webhook", () => {
  it.effect("delivers the events after its creation in their order, signed as the standard says", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      yield* emitted(ada.org_id, 0)
      const { secret, webhook } = yield* hook(ada)
      for (const n of [1, 2, 3]) yield* emitted(ada.org_id, n)
      yield* delivered
      assert.deepStrictEqual(yield* numbers, [1, 2, 3])
      const bodies = yield* verified(secret)
      assert.lengthOf(bodies, 3)
      const { messages } = yield* Receiver
      assert.deepStrictEqual(new Set(messages.map((message) => message.url)), new Set([url]))
      assert.strictEqual((yield* stored(webhook)).position, messages.at(-1)?.id)
      assert.deepInclude(JSON.parse(messages[0]?.body ?? ""), {
        id: messages[0]?.id,
        type: "test.happened.v1",
        source: "host",
        org_id: ada.org_id,
        data: { n: 1 }
      })
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("delivers the types that it lists, and events of its project alone", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
      const own = { types: ["test.happened.v1"], project_id: project.id }
      yield* hook(ada, own)
      yield* emitted(ada.org_id, 1)
      yield* emitted(ada.org_id, 2, { project_id: project.id })
      yield* emitted(ada.org_id, 3, { project_id: project.id, type: "test.other.v1" })
      yield* emitted(ada.org_id, 4, { project_id: project.id })
      yield* delivered
      assert.deepStrictEqual(yield* numbers, [2, 4])
      assert.strictEqual(yield* tagOf(hook(ada, { project_id: "prj-unknown" })), "InvalidMember")
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("delivers no events of another organization", () =>
    Effect.gen(function* () {
      const [ada, grace] = [yield* signedIn("ada"), yield* signedIn("grace")]
      yield* hook(ada)
      yield* emitted(grace.org_id, 1)
      yield* delivered
      assert.deepStrictEqual(yield* numbers, [])
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("delivers its own test, whatever its types are, and no other webhook does", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada, { types: ["test.none.v1"] })
      yield* hook(ada, { url: "https://other.example.com/" })
      yield* webhooks.test(ada, webhook.id)
      yield* delivered
      const { messages } = yield* Receiver
      assert.deepStrictEqual(
        messages.map(({ data, type, url: at }) => [type, data, at]),
        [["webhook.test.v1", { webhook_id: webhook.id }, url]]
      )
    }).pipe(Effect.provide(Hooks))
  )

  it.effect(
    "tries a failed event again by the pauses of the standard, and is paused with its position after the last",
    () =>
      Effect.gen(function* () {
        const webhooks = yield* Webhooks
        const receiver = yield* Receiver
        receiver.answer = () => answered(500, { excerpt: "no" })
        const ada = yield* signedIn("ada")
        const { webhook } = yield* hook(ada)
        yield* emitted(ada.org_id, 1)
        yield* emitted(ada.org_id, 2)
        yield* delivered
        for (const [index, pause] of retryPauses.entries()) {
          const { due_at } = yield* stored(webhook)
          const waits = DateTime.distance(yield* DateTime.now, due_at)
          // Each pause is up to a fifth longer.
          assert.isTrue(Duration.between(waits, { minimum: pause, maximum: Duration.times(pause, 1.2) }))
          yield* delivered
          assert.lengthOf(receiver.messages, index + 1)
          yield* dueNow(webhook)
          yield* delivered
          assert.lengthOf(receiver.messages, index + 2)
        }
        const paused = yield* stored(webhook)
        assert.deepInclude(paused, { status: "paused", paused_reason: "failing", position: webhook.position })
        assert.deepStrictEqual(new Set(yield* numbers), new Set([1]))
        assert.lengthOf(new Set(receiver.messages.map(({ id }) => id)), 1)
        const { items } = yield* webhooks.deliveries(ada, webhook.id, firstPage)
        assert.deepStrictEqual(
          items.map(({ attempt }) => attempt).toSorted((a, b) => a - b),
          [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
        )
        assert.deepInclude(items[0], { outcome: "failed", status: 500, excerpt: "no", event_type: "test.happened.v1" })
        assert.strictEqual(yield* tagOf(webhooks.test(ada, webhook.id)), "Conflict")
        yield* dueNow(webhook)
        yield* delivered
        assert.lengthOf(receiver.messages, 10)

        receiver.answer = () => answered(200)
        receiver.messages.length = 0
        yield* webhooks.replay(ada, webhook.id, null)
        yield* delivered
        assert.deepStrictEqual(yield* numbers, [1, 2])
      }).pipe(Effect.provide(Hooks))
  )

  it.effect("is paused by a 410 at once", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      receiver.answer = () => answered(410)
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada)
      yield* emitted(ada.org_id, 1)
      yield* delivered
      assert.deepInclude(yield* stored(webhook), {
        status: "paused",
        paused_reason: "gone",
        position: webhook.position
      })
    }).pipe(Effect.provide(Hooks))
  )

  for (const [what, answer] of [
    ["a redirect", () => answered(302)],
    ["an answer of 1xx", () => answered(101)],
    ["no connection", () => new WebhookUnreached({ reason: "The connection failed." })],
    ["a sender that dies", () => Effect.die(new Error("a defect"))],
    ["no answer within 15 seconds", () => Effect.never]
  ] as const)
    it.effect(`takes ${what} for a failure, and delivers the event with the next attempt`, () =>
      Effect.gen(function* () {
        const webhooks = yield* Webhooks
        const receiver = yield* Receiver
        receiver.answer = answer
        const ada = yield* signedIn("ada")
        const { webhook } = yield* hook(ada)
        yield* emitted(ada.org_id, 1)
        const first = yield* Effect.forkChild(delivered)
        yield* until(Effect.sync(() => receiver.messages.length === 1))
        yield* TestClock.adjust("15 seconds")
        yield* Fiber.await(first)
        assert.strictEqual((yield* webhooks.read(ada, webhook.id)).failures_count, 1)
        assert.notStrictEqual((yield* webhooks.read(ada, webhook.id)).next_attempt_at, null)
        const { items } = yield* webhooks.deliveries(ada, webhook.id, firstPage)
        assert.notStrictEqual(items[0]?.error, null)
        receiver.answer = () => answered(200)
        yield* TestClock.adjust("6 seconds")
        yield* delivered
        assert.deepStrictEqual(yield* numbers, [1, 1])
        assert.deepInclude(yield* stored(webhook), { failures_count: 0, position: receiver.messages[0]?.id ?? "" })
      }).pipe(Effect.provide(Hooks))
    )

  it.effect("waits as long as Retry-After asks, and for a day at most", () =>
    Effect.gen(function* () {
      const receiver = yield* Receiver
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada)
      yield* emitted(ada.org_id, 1)
      const waited = Effect.fnUntraced(function* (retry_after: string) {
        receiver.answer = () => answered(503, { retry_after })
        yield* (yield* Webhooks).replay(ada, webhook.id, null)
        yield* delivered
        return DateTime.distance(yield* DateTime.now, (yield* stored(webhook)).due_at)
      })
      assert.deepStrictEqual(yield* waited("120"), Duration.minutes(2))
      assert.deepStrictEqual(yield* waited("Thu, 01 Jan 1970 01:00:00 GMT"), Duration.hours(1))
      assert.deepStrictEqual(yield* waited("99999999"), Duration.hours(24))
      for (const none of ["0", "-5", "soon", "1e9", ""])
        assert.isTrue(Duration.isLessThanOrEqualTo(yield* waited(none), Duration.seconds(6)))
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("has two signatures for the grace period of a rotation, and one after it", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const receiver = yield* Receiver
      const ada = yield* signedIn("ada")
      const { secret: first, webhook } = yield* hook(ada)
      const { secret: second } = yield* webhooks.rotate(ada, webhook.id, 60)
      yield* emitted(ada.org_id, 1)
      yield* delivered
      yield* verified(first)
      yield* verified(second)
      receiver.messages.length = 0
      yield* TestClock.adjust("60 seconds")
      yield* emitted(ada.org_id, 2)
      yield* delivered
      yield* verified(second)
      assert.strictEqual((yield* Effect.exit(Effect.suspend(() => verified(first))))._tag, "Failure")
      assert.strictEqual(receiver.messages[0]?.headers["webhook-signature"]?.split(" ").length, 1)
      const { secret: third } = yield* webhooks.rotate(ada, webhook.id, 0)
      receiver.messages.length = 0
      yield* emitted(ada.org_id, 3)
      yield* delivered
      yield* verified(third)
      assert.strictEqual((yield* Effect.exit(Effect.suspend(() => verified(second))))._tag, "Failure")
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("delivers again after a rotation, if its secret was sealed with a lost key", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const store = yield* WebhookStore
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada)
      const ofLostKey = "1.AAAAAAAAAAAAAAAA.AAAAAAAAAAAAAAAAAAAAAAAAAAAA"
      yield* store.update(new StoredWebhook({ ...(yield* stored(webhook)), secret: ofLostKey }))
      yield* emitted(ada.org_id, 1)
      yield* delivered
      assert.deepStrictEqual(yield* numbers, [])
      const { items } = yield* webhooks.deliveries(ada, webhook.id, firstPage)
      assert.match(items[0]?.error ?? "", /Rotate it/)
      const { secret } = yield* webhooks.rotate(ada, webhook.id, 86_400)
      yield* webhooks.replay(ada, webhook.id, null)
      yield* delivered
      assert.lengthOf(yield* verified(secret), 1)
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("is tried at another URL at once", () =>
    Effect.gen(function* () {
      const webhooks = yield* Webhooks
      const receiver = yield* Receiver
      receiver.answer = ({ url: at }) => answered(at === url ? 404 : 200)
      const ada = yield* signedIn("ada")
      const { webhook } = yield* hook(ada)
      yield* emitted(ada.org_id, 1)
      yield* delivered
      const moved = yield* webhooks.change(ada, webhook.id, { url: "https://hooks.example.com/new", label: "moved" })
      assert.deepInclude(moved, { failures_count: 0, next_attempt_at: null, label: "moved", types: [] })
      yield* delivered
      assert.deepStrictEqual(
        receiver.messages.map((message) => message.url),
        [url, "https://hooks.example.com/new"]
      )
      assert.strictEqual((yield* stored(webhook)).position, receiver.messages[1]?.id)
    }).pipe(Effect.provide(Hooks))
  )

  it.effect("keeps its secrets sealed in storage", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { secret, webhook } = yield* hook(ada)
      const text = JSON.stringify(yield* stored(webhook))
      assert.isFalse(text.includes(Redacted.value(secret).slice(6)))
      assert.match(Redacted.value(secret), /^whsec_[A-Za-z0-9+/]{43}=$/)
    }).pipe(Effect.provide(Hooks))
  )
})
