/**
 * Relays an event stream of the API through the console's origin, because an `EventSource` cannot set `Authorization`
 * (docs/design/console.md W3, W13).
 *
 * The stream is a call of the typed client, whose answer is the bytes as they come: nothing is parsed. They are passed
 * through unchanged, ids included. Only `Last-Event-ID` of the browser's request is forwarded: no query and no other
 * header. Back-pressure of a slow reader reaches the API, which handles it. When either side closes, the other is closed
 * too. A stream ends with its token; the browser then reconnects, and its cookie is checked again.
 */
import { ClientHeaders, type NarthexClient } from "@narthex/api"
import { Clock, Duration, Effect, Stream } from "effect"
import { HttpServerRequest, HttpServerResponse } from "effect/http"
import { calling } from "../api/ApiRefusal.ts"
import { ConsoleSettings } from "../ConsoleConfig.ts"
import type { ConsoleSession } from "../sessions/ConsoleSession.ts"
import { Relays } from "./Relays.ts"

/** After this many heartbeat intervals without a byte the connection to the API is dead. */
const maxSilentHeartbeats = 2.5

const contentType = "text/event-stream; charset=utf-8"
/** The connection closes with the stream: the next may reach another instance, and none stays open at shutdown. */
const relayHeaders = { "cache-control": "no-store, no-transform", connection: "close", "x-accel-buffering": "no" }

/** The headers and query of a call of a stream. */
interface StreamRequest {
  readonly headers: { readonly "last-event-id"?: string }
  readonly query: { readonly bookmarks: string }
}

/** `open`: the call, which has the credential of the session. */
export const relayEvents = Effect.fn("relayEvents")(function* <Failure, Refusal>(
  open: (
    api: NarthexClient["Service"]["api"],
    request: StreamRequest
  ) => Effect.Effect<Stream.Stream<Uint8Array, Failure>, Refusal>,
  session: ConsoleSession
) {
  const { heartbeat } = yield* ConsoleSettings
  const { headers: given, method } = yield* HttpServerRequest.HttpServerRequest
  // Nothing reads the body of its answer, so no stream is opened.
  if (method === "HEAD")
    return HttpServerResponse.empty({ status: 200, headers: { ...relayHeaders, "content-type": contentType } })
  const position = given["last-event-id"]
  const headers = position === undefined ? {} : { "last-event-id": position }
  const call = calling((api) => open(api, { headers, query: { bookmarks: "1" } })).pipe(
    Effect.provideService(ClientHeaders, { ...(yield* ClientHeaders), accept: "text/event-stream" })
  )
  // In the scope of the request: it closes the stream also where the request ends before the first read.
  const pull = yield* Effect.uninterruptibleMask((restore) => Effect.flatMap(restore(call), Stream.toPull))
  const ended = yield* (yield* Relays).open(session.id)
  const left = session.expires_at - (yield* Clock.currentTimeMillis)
  const end = Effect.race(ended, Effect.sleep(Duration.millis(Math.max(0, left))))
  const silence = Duration.times(heartbeat, maxSilentHeartbeats)
  const bytes = Stream.fromPull(Effect.succeed(pull)).pipe(
    Stream.timeoutOrElse({ duration: silence, orElse: () => Stream.empty }),
    Stream.interruptWhen(end),
    // An error would cut the response short. The browser reconnects either way, so it ends properly.
    Stream.catch(() => Stream.empty)
  )
  return HttpServerResponse.stream(bytes, {
    contentType,
    headers: relayHeaders
  })
})
