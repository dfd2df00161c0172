/**
 * The control plane over HTTP: the five calls of `ProxyApi` through the typed client, with the proxy's token.
 *
 * The status of a refusal decides its meaning, because a gateway between the two may send a body of its own. Every other
 * failure is `ControlPlaneUnreachable`, which admits no client and wakes no compute. There are no retries here.
 *
 * Pitfall: relying on the end of the event stream to detect a dead connection. A dead connection is silent. Heartbeats
 * arrive every 15 s, so the stream fails after 40 s without bytes.
 */
import { Effect, Layer, type Redacted, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { HttpClientError } from "effect/http"
import { AllowlistChange, ClientHeaders, NarthexClient } from "@narthex/api"
import {
  AddressNotListed,
  ControlPlane,
  ControlPlaneUnreachable,
  EndpointDisabled,
  EndpointUnknown,
  WakeTimedOut
} from "./ControlPlane.ts"

export interface HttpControlPlaneConfig {
  /** The base URL of the API, without `/v1`. */
  readonly api_url: string
  readonly token: Redacted.Redacted
}

const Change = Schema.fromJsonString(AllowlistChange)

/** The status of a refusal, whether the contract declares it or not; `undefined` without a response. */
const statusOf = (error: Error): number | undefined => {
  if (HttpClientError.isHttpClientError(error)) return error.response?.status
  return "status" in error && typeof error.status === "number" ? error.status : undefined
}

const unreachable = (operation: string, error: Error) => {
  const status = statusOf(error)
  const code = "code" in error ? ` ${error.code}` : ""
  return new ControlPlaneUnreachable({
    operation,
    reason: status === undefined ? error.message : `status ${status}${code}`
  })
}

const within = (operation: string, duration: "5 seconds" | "10 seconds" | "35 seconds") =>
  Effect.timeoutOrElse({
    duration,
    orElse: () => new ControlPlaneUnreachable({ operation, reason: "no answer in time" })
  })

const make = Effect.gen(function* () {
  const { proxy } = (yield* NarthexClient).api

  return ControlPlane.of({
    resolve: Effect.fn("ControlPlane.resolve")((endpoint_id) =>
      proxy.resolve({ payload: { endpoint_id } }).pipe(
        Effect.mapError((error) =>
          statusOf(error) === 404 ? new EndpointUnknown({ endpoint_id }) : unreachable("resolve", error)
        ),
        within("resolve", "5 seconds")
      )
    ),

    allowlists: Effect.fn("ControlPlane.allowlists")((project_ids) =>
      proxy.allowlists({ payload: { project_ids } }).pipe(
        Effect.map(({ allowlists }) => allowlists),
        Effect.mapError((error) => unreachable("allowlists", error)),
        within("allowlists", "5 seconds")
      )
    ),

    changes: Effect.gen(function* () {
      const frames = yield* proxy.changes().pipe(
        Effect.provideService(ClientHeaders, { accept: "text/event-stream" }),
        Effect.mapError((error) => unreachable("changes", error)),
        within("changes", "10 seconds")
      )
      // Opened in the scope of the caller, so that closing it ends the subscription even if the stream never ran.
      const pull = yield* Stream.toPull(frames)
      return Stream.fromPull(Effect.succeed(pull)).pipe(
        Stream.timeout("40 seconds"),
        Stream.decodeText,
        Stream.pipeThroughChannel(Sse.decode()),
        Stream.filter(({ event }) => event === "change"),
        Stream.mapEffect(({ data }) => Schema.decodeEffect(Change)(data)),
        Stream.mapError((error) => new ControlPlaneUnreachable({ operation: "changes", reason: String(error) }))
      )
    }),

    wake: Effect.fn("ControlPlane.wake")(({ client_address, endpoint_id }) =>
      proxy.wake({ params: { endpoint_id }, payload: { client_address } }).pipe(
        Effect.mapError((error) => {
          switch (statusOf(error)) {
            case 403:
              return new AddressNotListed({ endpoint_id, client_address })
            case 404:
              return new EndpointUnknown({ endpoint_id })
            case 409:
              return new EndpointDisabled({ endpoint_id })
            case 503:
              return new WakeTimedOut({ endpoint_id })
            default:
              return unreachable("wake", error)
          }
        }),
        Effect.filterOrFail(
          ({ address }) => address !== "",
          () => new ControlPlaneUnreachable({ operation: "wake", reason: "the address is empty" })
        ),
        within("wake", "35 seconds")
      )
    ),

    activity: Effect.fn("ControlPlane.activity")((endpoints) =>
      proxy.activity({ payload: { endpoints } }).pipe(
        Effect.mapError((error) => unreachable("activity", error)),
        within("activity", "5 seconds")
      )
    )
  })
})

/** `ControlPlane` over HTTP. */
export const HttpControlPlane = {
  layer: ({ api_url, token }: HttpControlPlaneConfig): Layer.Layer<ControlPlane> =>
    Layer.effect(ControlPlane, make).pipe(
      Layer.provide(NarthexClient.layerFetch({ baseUrl: api_url, credential: token }))
    )
}
