/**
 * The control plane over HTTP: the five calls of the proxy, with the proxy's token.
 *
 * Problems are told apart by status; everything unexpected is `ControlPlaneUnreachable`, which admits nobody and wakes
 * nothing.
 *
 * Pitfall: trusting an open event stream. A dead connection is silent; heartbeats come every 15 s, so 40 s of silence
 * count as its end.
 */
import { DateTime, Effect, Layer, type Redacted, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { FetchHttpClient, HttpClient, HttpClientRequest, HttpClientResponse } from "effect/http"
import type { EndpointId } from "@narthex/core"
import {
  AddressNotListed,
  AllowlistChange,
  AllowlistSnapshot,
  ControlPlane,
  ControlPlaneUnreachable,
  EndpointDisabled,
  EndpointUnknown,
  ResolvedEndpoint,
  RunningCompute,
  WakeTimedOut
} from "./ControlPlane.ts"

export interface HttpControlPlaneConfig {
  /** Where the API is, without `/v1`. */
  readonly baseUrl: string
  readonly token: Redacted.Redacted
}

const Allowlists = Schema.Struct({ allowlists: Schema.Array(AllowlistSnapshot) })
const Problem = Schema.Struct({ code: Schema.String })
const Change = Schema.fromJsonString(AllowlistChange)

const make = Effect.fnUntraced(function* (config: HttpControlPlaneConfig) {
  const client = (yield* HttpClient.HttpClient).pipe(
    HttpClient.mapRequest((request) =>
      request.pipe(
        HttpClientRequest.prependUrl(config.baseUrl.replace(/\/+$/, "")),
        HttpClientRequest.bearerToken(config.token)
      )
    )
  )

  const unreachable = (operation: string, reason: string) => new ControlPlaneUnreachable({ operation, reason })

  const post = (operation: string, path: string, body: unknown, patience: "5 seconds" | "35 seconds") =>
    HttpClientRequest.post(path).pipe(
      HttpClientRequest.bodyJsonUnsafe(body),
      client.execute,
      Effect.mapError((error) => unreachable(operation, error.message)),
      Effect.timeoutOrElse({ duration: patience, orElse: () => unreachable(operation, "no answer in time") })
    )

  const read = <A, I>(operation: string, schema: Schema.Codec<A, I>, response: HttpClientResponse.HttpClientResponse) =>
    Effect.mapError(HttpClientResponse.schemaBodyJson(schema)(response), (error) =>
      unreachable(operation, error.message)
    )

  /** The problem's code, for what no status explains. */
  const unexpected = (operation: string, response: HttpClientResponse.HttpClientResponse) =>
    HttpClientResponse.schemaBodyJson(Problem)(response).pipe(
      Effect.map(({ code }) => ` ${code}`),
      Effect.orElseSucceed(() => ""),
      Effect.flatMap((code) => unreachable(operation, `status ${response.status}${code}`))
    )

  const resolve = Effect.fn("ControlPlane.resolve")(function* (endpoint_id: EndpointId) {
    const response = yield* post("resolve", "/v1/proxy/resolve", { endpoint_id }, "5 seconds")
    if (response.status === 404) return yield* new EndpointUnknown({ endpoint_id })
    if (response.status !== 200) return yield* unexpected("resolve", response)
    return yield* read("resolve", ResolvedEndpoint, response)
  })

  const allowlists: ControlPlane["Service"]["allowlists"] = Effect.fn("ControlPlane.allowlists")(
    function* (project_ids) {
      const response = yield* post("allowlists", "/v1/proxy/allowlists", { project_ids }, "5 seconds")
      if (response.status !== 200) return yield* unexpected("allowlists", response)
      return (yield* read("allowlists", Allowlists, response)).allowlists
    }
  )

  const wake: ControlPlane["Service"]["wake"] = Effect.fn("ControlPlane.wake")(function* (admitted) {
    const { client_address, endpoint_id } = admitted
    const path = `/v1/proxy/endpoints/${encodeURIComponent(endpoint_id)}/wake`
    const response = yield* post("wake", path, { client_address }, "35 seconds")
    switch (response.status) {
      case 200:
        return yield* read("wake", RunningCompute, response)
      case 403:
        return yield* new AddressNotListed({ endpoint_id, client_address })
      case 404:
        return yield* new EndpointUnknown({ endpoint_id })
      case 409:
        return yield* new EndpointDisabled({ endpoint_id })
      case 503:
        return yield* new WakeTimedOut({ endpoint_id })
      default:
        return yield* unexpected("wake", response)
    }
  })

  const activity: ControlPlane["Service"]["activity"] = Effect.fn("ControlPlane.activity")(function* (reports) {
    const endpoints = reports.map((report) => ({
      ...report,
      last_active_at: DateTime.formatIso(report.last_active_at)
    }))
    const response = yield* post("activity", "/v1/proxy/activity", { endpoints }, "5 seconds")
    if (response.status !== 204) return yield* unexpected("activity", response)
  })

  const changes: ControlPlane["Service"]["changes"] = Effect.gen(function* () {
    const events = HttpClient.withScope(client)
    const response = yield* HttpClientRequest.get("/v1/proxy/changes", { accept: "text/event-stream" }).pipe(
      events.execute,
      Effect.mapError((error) => unreachable("changes", error.message)),
      Effect.timeoutOrElse({ duration: "10 seconds", orElse: () => unreachable("changes", "no answer in time") })
    )
    if (response.status !== 200) return yield* unexpected("changes", response)
    return response.stream.pipe(
      Stream.timeout("40 seconds"),
      Stream.decodeText,
      Stream.pipeThroughChannel(Sse.decode()),
      Stream.filter(({ event }) => event === "change"),
      Stream.mapEffect(({ data }) => Schema.decodeEffect(Change)(data)),
      Stream.mapError((error) => unreachable("changes", String(error)))
    )
  })

  return ControlPlane.of({ resolve, allowlists, changes, wake, activity })
})

/** `ControlPlane` over HTTP. */
export const HttpControlPlane = {
  layer: (config: HttpControlPlaneConfig): Layer.Layer<ControlPlane> =>
    Layer.effect(ControlPlane, make(config)).pipe(Layer.provide(FetchHttpClient.layer))
}
