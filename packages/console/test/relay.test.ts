/** The relays of event streams. */
import { get, type IncomingMessage } from "node:http"
import { assert, it, layer } from "@effect/vitest"
import { NarthexClient } from "@narthex/api"
import { Duration, Effect, Layer, Redacted, Stream } from "effect"
import { HttpServerRequest } from "effect/http"
import { until as seen } from "../../../test/harness/eventually.ts"
import { streaming } from "../../../test/support/HostedPlane.ts"
import { ConsoleSettings } from "../src/ConsoleConfig.ts"
import { Relays } from "../src/relay/Relays.ts"
import { relayEvents } from "../src/relay/relayEvents.ts"
import type { ConsoleSession } from "../src/sessions/ConsoleSession.ts"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** An open stream, with ways to wait for text and for the end. */
const listen = (url: string, headers: Readonly<Record<string, string>>) =>
  Effect.acquireRelease(
    go(
      () =>
        new Promise<IncomingMessage>((resolve, reject) => {
          get(url, { headers }, resolve).once("error", reject)
        })
    ),
    (response) => Effect.sync(() => response.destroy())
  ).pipe(
    Effect.map((response) => {
      let text = ""
      response.setEncoding("utf8")
      response.on("data", (more: string) => {
        text += more
      })
      const until = (part: string) =>
        go(async () => {
          await seen(`${JSON.stringify(part)} in the stream`, () => text.includes(part))
          return text
        })
      const end = go(() => seen("the stream to end", () => response.closed || response.readableEnded))
      return { response, until, end }
    })
  )

layer(layerTestConsole(), { excludeTestServices: true })("relay", (it) => {
  it.effect("a relay passes bytes through unchanged, ids included, and requests bookmarks", () =>
    Effect.gen(function* () {
      const { last, plane } = yield* Api
      const { browser } = yield* signedInAs("stream@example.com")
      const frames = ': ok\n\nid: 01J00000000000000000000001\nevent: operation.updated.v1\ndata: {"x":1}\n\n'
      plane.instead = ({ path }) => (path === "/v1/events" ? streaming(frames) : undefined)
      const stream = yield* listen(`${browser.origin}/api/events?access_token=stolen&types=x`, {
        cookie: browser.cookieHeader,
        "last-event-id": "01J00000000000000000000000"
      })
      assert.strictEqual(stream.response.statusCode, 200)
      assert.match(stream.response.headers["content-type"] ?? "", /^text\/event-stream/)
      assert.strictEqual(stream.response.headers["cache-control"], "no-store, no-transform")
      assert.strictEqual(stream.response.headers["x-accel-buffering"], "no")
      plane.instead = undefined
      assert.strictEqual(yield* stream.until("data:"), frames)
      const asked = last("GET", "/v1/events")
      assert.strictEqual(String(asked?.query), "bookmarks=1")
      assert.strictEqual(asked?.headers["last-event-id"], "01J00000000000000000000000")
      assert.strictEqual(asked?.headers.accept, "text/event-stream")
    })
  )

  it.effect("when the browser closes a relay, the stream of the API is closed", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      yield* go(() => seen("earlier streams to end", () => plane.streams === 0))
      const { browser } = yield* signedInAs("leaves@example.com")
      const stream = yield* listen(`${browser.origin}/api/events`, { cookie: browser.cookieHeader })
      yield* stream.until(": ok")
      assert.strictEqual(plane.streams, 1)
      stream.response.destroy()
      yield* go(() => seen("the stream to end at the API", () => plane.streams === 0))
    })
  )

  it.effect("a HEAD request is answered with the headers of a relay, and opens no stream at the API", () =>
    Effect.gen(function* () {
      const { last } = yield* Api
      const { browser } = yield* signedInAs("heads@example.com")
      const before = last("GET", "/v1/events")
      const answer = yield* go(() => browser.send("/api/events", { method: "HEAD" }))
      assert.strictEqual(answer.status, 200)
      assert.match(answer.headers.get("content-type") ?? "", /^text\/event-stream/)
      assert.strictEqual(answer.headers.get("cache-control"), "no-store, no-transform")
      assert.strictEqual(last("GET", "/v1/events"), before)
    })
  )

  it.effect("when the API ends a stream, the relay ends", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser } = yield* signedInAs("ended@example.com")
      const stream = yield* listen(`${browser.origin}/api/events`, { cookie: browser.cookieHeader })
      yield* stream.until(": ok")
      plane.endStreams()
      yield* stream.end
      assert.isTrue(stream.response.complete)
    })
  )

  it.effect("sign-out ends the session's relays, and no others", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const leaving = yield* signedInAs("out@example.com")
      const staying = yield* signedInAs("in@example.com")
      const ends = yield* listen(`${leaving.browser.origin}/api/events`, { cookie: leaving.browser.cookieHeader })
      const stays = yield* listen(`${staying.browser.origin}/api/events`, { cookie: staying.browser.cookieHeader })
      yield* ends.until(": ok")
      yield* stays.until(": ok")
      yield* go(() => leaving.browser.post("/sign-out", {}))
      yield* ends.end
      yield* go(() => api.project(staying.person, "shop"))
      yield* stays.until("event: operation.updated.v1")
    })
  )

  it.effect("a relay does not outlive its token", () =>
    Effect.gen(function* () {
      // The cookie's token has expired, so the relay refreshes it and gets one that lives for five seconds.
      const { plane } = yield* Api
      const expires_at = new Date(Date.now() + 5000).toISOString()
      plane.edit("/v1/auth/refresh", (body: object) => ({ ...body, expires_at }))
      const { browser } = yield* signedInAs("short@example.com", { expires_at: Date.now() })
      const stream = yield* listen(`${browser.origin}/api/events`, { cookie: browser.cookieHeader })
      plane.instead = undefined
      yield* stream.until(": ok")
      yield* stream.end
    })
  )

  it.effect("a project's stream is relayed, and projects of other organizations are not found", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, person } = yield* signedInAs("project@example.com")
      const mine = yield* go(() => api.project(person, "mine"))
      const foreign = yield* go(() => api.foreign("foreign"))
      const stream = yield* listen(`${browser.origin}/api/projects/${mine.id}/events`, { cookie: browser.cookieHeader })
      yield* stream.until(": ok")
      assert.strictEqual(String(api.last("GET", `/v1/projects/${mine.id}/events`)?.query), "bookmarks=1")
      for (const id of [foreign.id, "prj-nonsense", "..%2F..%2Fauth"]) {
        const refused = yield* go(() => browser.send(`/api/projects/${id}/events`))
        assert.strictEqual(refused.status, 404)
        assert.match(refused.headers.get("content-type") ?? "", /^application\/problem\+json/)
        assert.include(refused.text, '"code":"not_found"')
      }
    })
  )

  it.effect("a relay without a session is a 401 problem, not a page", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("nobody@example.com")
      browser.cookies.clear()
      const refused = yield* go(() => browser.send("/api/events"))
      assert.strictEqual(refused.status, 401)
      assert.include(refused.text, '"code":"unauthenticated"')
      assert.strictEqual(refused.headers.get("cache-control"), "no-store")
    })
  )
})

const session: ConsoleSession = {
  id: "session",
  access_token: Redacted.make("token"),
  org_id: "org",
  issued_at: 0,
  expires_at: 60_000,
  refresh_until: 60_000
}

it.effect("a stream that is opened and never read is closed with its request", () =>
  Effect.gen(function* () {
    let closed = false
    const stream = Stream.never.pipe(
      Stream.ensuring(
        Effect.sync(() => {
          closed = true
        })
      )
    )
    yield* relayEvents(() => Effect.succeed(stream), session).pipe(
      Effect.scoped,
      Effect.provideService(
        HttpServerRequest.HttpServerRequest,
        HttpServerRequest.fromWeb(new Request("http://console.invalid/api/events"))
      ),
      Effect.provide([
        Relays.layer,
        NarthexClient.layerFetch({ baseUrl: "http://api.invalid" }),
        Layer.succeed(
          ConsoleSettings,
          ConsoleSettings.from({
            api_url: "http://api.invalid",
            console_url: "http://console.invalid",
            console_token: null,
            cookie_key: Redacted.make(new Uint8Array(32)),
            providers: [],
            trusted_hops: 0
          })
        )
      ])
    )
    assert.isTrue(closed)
  })
)

layer(layerTestConsole({ heartbeat: Duration.seconds(1) }), { excludeTestServices: true })(
  "relay of a silent API",
  (it) => {
    it.effect("a relay ends after two and a half heartbeats without a byte", () =>
      Effect.gen(function* () {
        const { browser } = yield* signedInAs("silence@example.com")
        const stream = yield* listen(`${browser.origin}/api/events`, { cookie: browser.cookieHeader })
        yield* stream.until(": ok")
        yield* stream.end
        assert.isTrue(stream.response.complete)
      })
    )
  }
)
