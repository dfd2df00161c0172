/**
 * An event stream of the API, through the console's own origin: an `EventSource` cannot set `Authorization`.
 *
 * Bytes pass as they come, ids included; `Last-Event-ID` passes back, and nothing else of the request does: no query,
 * no header of the browser. A reader that stops reading stops the API's writing, which then knows what to do. The end
 * of either side is the end of the other, and no stream outlives its token: the browser comes back, with a cookie that
 * is checked anew.
 */
import { Clock, Duration, Effect, Option, Redacted, Schema, Stream } from "effect"
import { ClientHeaders } from "@narthex/api"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { ApiRefused, ApiUnreachable } from "../api/ApiRefusal.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleSession } from "../sessions/ConsoleSession.ts"
import { Relays } from "./Relays.ts"

/** The API is silent for so many heartbeats: it is gone. */
const silentHeartbeats = 2.5

const Refusal = Schema.fromJsonString(
  Schema.Struct({
    code: Schema.String,
    title: Schema.String,
    detail: Schema.optionalKey(Schema.String),
    request_id: Schema.optionalKey(Schema.String)
  })
)

const refusalOf = (status: number, text: string) =>
  Option.match(Schema.decodeOption(Refusal)(text), {
    onNone: () => new ApiUnreachable({ reason: `The API answered the stream with status ${status}.` }),
    onSome: ({ code, detail, request_id, title }) =>
      new ApiRefused({ status, code, detail: detail ?? title, ...(request_id === undefined ? {} : { request_id }) })
  })

/** `path` is the API's own. */
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
  const toldToEnd = yield* (yield* Relays).open(session.id)
  const left = session.expires_at - (yield* Clock.currentTimeMillis)
  const end = Effect.race(toldToEnd, Effect.sleep(Duration.millis(Math.max(0, left))))
  const silence = Duration.times(heartbeat, silentHeartbeats)
  const bytes = Stream.fromReadableStream({ evaluate: () => body, onError: unreachable }).pipe(
    Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.empty }),
    Stream.interruptWhen(end),
    // An error would cut the connection without an end; to the browser both mean: come back.
    Stream.catch(() => Stream.empty)
  )
  return HttpServerResponse.stream(bytes, {
    contentType: "text/event-stream; charset=utf-8",
    // The connection ends with the stream: the next one may go to another instance, and none is left open at shutdown.
    headers: { "cache-control": "no-store, no-transform", connection: "close", "x-accel-buffering": "no" }
  })
})
