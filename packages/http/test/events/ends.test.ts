/**
 * Streams that the server ends: with the credential, and when the instance stops.
 * Holds docs/design/events.md E28 and E32.
 */
import { assert, describe, it, layer } from "@effect/vitest"
import { EventBroker, EventStreams } from "@narthex/core"
import { Duration, Effect, Exit, Layer, Scope } from "effect"
import { within } from "../../../../test/harness/eventually.ts"
import { Draining } from "../../src/index.ts"
import { Ahead, everyServing } from "../support/apiOver.ts"
import { call } from "../support/wire.ts"
import { open, opened } from "./support/FetchStream.ts"
import { counting, signedIn, state, stillApi, streamApi } from "./support/streamApi.ts"

for (const serving of everyServing)
  layer(stillApi({ heartbeat: Duration.millis(100), revalidate: Duration.hours(10) }, { serving }), {
    excludeTestServices: true
  })("a stream and its credential", (it) => {
    it.effect("the streams of a token end together, five seconds before it expires", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("ada@example.com")
        const { by } = yield* Ahead
        const stream = yield* opened({ token })
        yield* by("890 seconds")
        yield* state(org, counting(1, 1))
        yield* stream.until("an event", ({ events }) => events.length === 1)
        assert.isFalse(stream.closed)
        yield* by("6 seconds")
        yield* stream.until("over", ({ closed }) => closed)
        assert.match(stream.text, /: closing reason=token_expired\n$/)
        yield* by("5 seconds")
        const again = yield* open({ token })
        yield* again.until("refused", ({ status }) => status !== 0)
        assert.strictEqual(again.status, 401)
      })
    )

    it.effect("the streams of a key end together when it expires", () =>
      Effect.gen(function* () {
        const { by } = yield* Ahead
        const { token } = yield* signedIn("key@example.com")
        const { body } = yield* call("POST", "/v1/api-keys/", { token, body: { name: "short", expires_in_days: 1 } })
        yield* by("86390 seconds")
        const stream = yield* opened({ token: body.secret })
        yield* by("6 seconds")
        yield* stream.until("over", ({ closed }) => closed)
        assert.match(stream.text, /: closing reason=token_expired\n$/)
        yield* by("5 seconds")
        const again = yield* open({ token: body.secret })
        yield* again.until("refused", ({ status }) => status !== 0)
        assert.strictEqual(again.status, 401)
      })
    )

    it.effect("the streams of a rotated secret end together when its grace is over", () =>
      Effect.gen(function* () {
        const { by } = yield* Ahead
        const { org, token } = yield* signedIn("rotated@example.com")
        const { body } = yield* call("POST", "/v1/api-keys/", { token, body: { name: "rotated" } })
        const before = yield* opened({ token: body.secret })
        const path = `/v1/api-keys/${body.api_key.id}/rotate`
        const rotated = yield* call("POST", path, { token, body: { grace_seconds: 600 } })
        yield* before.until("over", ({ closed }) => closed)
        assert.match(before.text, /: closing reason=revoked\n$/)
        const old = yield* opened({ token: body.secret })
        const fresh = yield* opened({ token: rotated.body.secret })
        yield* by("594 seconds")
        yield* state(org, counting(1, 1))
        yield* old.until("an event", ({ events }) => events.length === 1)
        yield* by("2 seconds")
        yield* old.until("over", ({ closed }) => closed)
        assert.match(old.text, /: closing reason=token_expired\n$/)
        yield* state(org, counting(2, 1))
        yield* fresh.until("both events", ({ events }) => events.length === 2)
      })
    )

    it.effect("streams of a key without expiry end after the maximum age, at different times", () =>
      Effect.gen(function* () {
        const { by } = yield* Ahead
        const { token } = yield* signedIn("age@example.com")
        const { body } = yield* call("POST", "/v1/api-keys/", { token, body: { name: "long" } })
        const stream = yield* opened({ token: body.secret })
        yield* by("31 minutes")
        yield* stream.until("over", ({ closed }) => closed)
        assert.match(stream.text, /: closing reason=max_age\n$/)
      })
    )
  })

for (const serving of everyServing)
  describe("an instance that stops", () => {
    it.live("an instance that stops ends its streams with a retry delay and refuses new ones", () =>
      Effect.gen(function* () {
        const { org, token } = yield* signedIn("ada@example.com")
        const { begin } = yield* Draining
        const { drain } = yield* EventStreams
        const { streams } = yield* EventBroker
        const plain = yield* Effect.forEach(Array.from({ length: 20 }), () => opened({ token }))
        const relay = yield* opened({ token, path: "/v1/events?bookmarks=1" })
        yield* state(org, counting(1, 3))
        for (const stream of [...plain, relay]) yield* stream.until("events", ({ events }) => events.length === 3)
        yield* Effect.andThen(begin, drain(Duration.seconds(2)))
        for (const stream of plain) {
          yield* stream.until("over", ({ closed }) => closed)
          assert.match(stream.text, /: closing reason=draining\n$/)
          assert.notInclude(stream.text, "retry:")
        }
        yield* relay.until("over", ({ closed }) => closed)
        const last = relay.events.at(-1)?.id
        assert.match(relay.text, new RegExp(`id: ${last}\\n\\nretry: \\d+\\n\\n: closing reason=draining\\n$`))
        assert.strictEqual(streams.size, 0)

        const refused = yield* open({ token })
        yield* refused.until("refused", ({ status }) => status !== 0)
        assert.strictEqual(refused.status, 503)
        assert.match(refused.header("retry-after") ?? "", /^\d+$/)
        const turned = yield* open({ token, path: "/v1/events?bookmarks=1", headers: ["Accept: text/event-stream"] })
        yield* turned.until("over", ({ closed }) => closed)
        assert.strictEqual(turned.status, 200)
        assert.match(turned.text, /^: ok\nretry: \d+\n\n: closing reason=draining\n$/)
        const ready = yield* call("GET", "/readyz")
        assert.strictEqual(ready.status, 503)
      }).pipe(Effect.scoped, Effect.provide(streamApi({}, { serving })))
    )

    it.live("an instance that stops ends its streams before anything else", () =>
      Effect.gen(function* () {
        const scope = yield* Scope.make()
        const built = yield* Layer.buildWithScope(streamApi({}, { serving, grace: Duration.hours(1) }), scope)
        yield* Effect.gen(function* () {
          const { token } = yield* signedIn("ada@example.com")
          const stream = yield* opened({ token, path: "/v1/events?bookmarks=1" })
          yield* Effect.promise(() => within("the instance to stop", Effect.runPromise(Scope.close(scope, Exit.void))))
          yield* stream.until("over", ({ closed }) => closed)
          assert.match(stream.text, /retry: \d+\n\n: closing reason=draining\n$/)
        }).pipe(Effect.provideContext(built), Effect.scoped)
      })
    )
  })
