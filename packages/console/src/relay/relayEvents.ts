/**
 * Relays an event stream of the API through the console's origin, because an `EventSource` cannot set `Authorization`
 * (docs/design/console.md W3, W13).
 *
 * Bytes are passed through unchanged, ids included. Of the browser's request only `Last-Event-ID` is forwarded: no
 * query and no other header. Back-pressure of a slow reader reaches the API, which handles it. When either side closes,
 * the other is closed too. A stream ends with its token; the browser then reconnects, and its cookie is checked again.
 */
import { ClientHeaders, ProblemBody } from "@narthex/api"
import { Clock, Duration, Effect, Option, Redacted, Schema, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiRefused, ApiUnreachable } from "../api/ApiRefusal.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleSession } from "../sessions/ConsoleSession.ts"
import { Relays } from "./Relays.ts"

/** After this many heartbeat intervals without a byte the connection to the API is dead. */
const maxSilentHeartbeats = 2.5

const refusalOf = (status: number, text: string) =>
  Option.match(Schema.decodeOption(ProblemBody)(text), {
    onNone: () => new ApiUnreachable({ reason: `The API answered the stream with status ${status}.` }),
    onSome: ({ code, detail, request_id, title }) =>
      new ApiRefused({ status, code, detail: detail ?? title, ...(request_id === undefined ? {} : { request_id }) })
  })

/** `path` is a path of the API. */
export const relayEvents = Effect.fn("relayEvents")(function* (path: string, session: ConsoleSession) {
  const { api_url, heartbeat } = yield* ConsoleSettings
  const request = yield* HttpServerRequest.HttpServerRequest
  const position = request.headers["last-event-id"]
  const headers = {
    ...(yield* ClientHeaders),
    accept: "text/event-stream",
    authorization: `Bearer ${Redacted.value(session.access_token)}`,
    ...(position === undefined ? {} : { "last-event-id": position })
  }
  const controller = yield* Effect.acquireRelease(
    Effect.sync(() => new AbortController()),
    (it) => Effect.sync(() => it.abort())
  )
  const unreachable = (reason: unknown) => new ApiUnreachable({ reason })
  const response = yield* Effect.tryPromise({
    try: () =>
      fetch(`${api_url}${path}?bookmarks=1`, {
        headers,
        signal: controller.signal,
        redirect: "error",
        cache: "no-store"
      }),
    catch: unreachable
  })
  const { body } = response
  if (response.status !== 200 || body === null) {
    const text = yield* Effect.tryPromise({ try: () => response.text(), catch: unreachable })
    return yield* refusalOf(response.status, text)
  }
  const ended = yield* (yield* Relays).open(session.id)
  const left = session.expires_at - (yield* Clock.currentTimeMillis)
  const end = Effect.race(ended, Effect.sleep(Duration.millis(Math.max(0, left))))
  const silence = Duration.times(heartbeat, maxSilentHeartbeats)
  const bytes = Stream.fromReadableStream({ evaluate: () => body, onError: unreachable }).pipe(
    Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.empty }),
    Stream.interruptWhen(end),
    // An error would cut the response short. The browser reconnects either way, so it ends properly.
    Stream.catch(() => Stream.empty)
  )
  return HttpServerResponse.stream(bytes, {
    contentType: "text/event-stream; charset=utf-8",
    // The connection closes with the stream: the next may reach another instance, and none stays open at shutdown.
    headers: { "cache-control": "no-store, no-transform", connection: "close", "x-accel-buffering": "no" }
  })
})
