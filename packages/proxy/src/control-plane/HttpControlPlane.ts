/**
 * The control plane over HTTP: the calls of `ProxyApi` through the typed client, with the proxy's token.
 *
 * The status of a refusal decides its meaning, because a gateway between the two may send a body of its own. A 503 is
 * the exception: a balancer without a control plane behind it answers so too, and only the API's has a problem. Every
 * other failure is `ControlPlaneUnreachable`, which admits no client and wakes no compute. There are no retries here.
 *
 * Pitfall: relying on the end of the event stream to detect a dead connection. A dead connection is silent. Heartbeats
 * arrive every 15 s, so the stream fails after 40 s without bytes.
 */
import { AllowlistChange, ClientHeaders, EndpointChange, NarthexClient } from "@narthex/api"
import { CancelNotice } from "@narthex/core"
import { Effect, Layer, type Redacted, Schema, Stream } from "effect"
import { Sse } from "effect/encoding"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"
import type { Admitted } from "../allowlist/checkAllowlist.ts"
import {
  AddressNotListed,
  type Change,
  ControlPlane,
  ControlPlaneUnreachable,
  EndpointDisabled,
  EndpointUnknown,
  ReportRejected,
  TooManyComputes,
  WakeTimedOut
} from "./ControlPlane.ts"

export interface HttpControlPlaneConfig {
  /** The base URL of the API, without `/v1`. */
  readonly api_url: string
  readonly token: Redacted.Redacted
  /** The client that sends the calls. Default: `fetch`. In the process of the API: `DirectApi` of `@narthex/http`. */
  readonly api_client?: HttpClient.HttpClient | undefined
}

type Calls = ControlPlane["Service"]

const decodeAllowlistChange = Schema.decodeEffect(Schema.fromJsonString(AllowlistChange))
const decodeEndpointChange = Schema.decodeEffect(Schema.fromJsonString(EndpointChange))
const decodeCancelNotice = Schema.decodeEffect(Schema.fromJsonString(CancelNotice))

/** The changes in a frame: none if its event is one of a newer control plane. */
const changesIn = ({ data, event }: Sse.Event): Effect.Effect<ReadonlyArray<Change>, Schema.SchemaError> => {
  if (event === "change") return Effect.map(decodeAllowlistChange(data), (change) => [{ of: "allowlist", change }])
  if (event === "endpoint") return Effect.map(decodeEndpointChange(data), (change) => [{ of: "endpoint", change }])
  if (event === "cancel") return Effect.map(decodeCancelNotice(data), (change) => [{ of: "cancel", change }])
  return Effect.succeed([])
}

/** The status of a refusal, whether the contract declares it or not; `undefined` without a response. */
const statusOf = (error: Error): number | undefined => {
  if (HttpClientError.isHttpClientError(error)) return error.response?.status
  return "status" in error && typeof error.status === "number" ? error.status : undefined
}

/** The code of a refusal whose body is not a problem of the API. */
const notAProblem = "unknown"

/** A call with its time limit. `meaningOf` names the refusals that the port declares, by status. */
const call = <A, E extends Error, Refusal = never>(
  operation: string,
  limit: "5 seconds" | "10 seconds" | "35 seconds",
  effect: Effect.Effect<A, E>,
  meaningOf: (status: number, isProblem: boolean) => Refusal | undefined = () => undefined
): Effect.Effect<A, Refusal | ControlPlaneUnreachable> => {
  const unreachable = (reason: string) => new ControlPlaneUnreachable({ operation, reason })
  return effect.pipe(
    Effect.mapError((error) => {
      const status = statusOf(error)
      if (status === undefined) return unreachable(error.message)
      const code = "code" in error && error.code !== notAProblem ? error.code : undefined
      return (
        meaningOf(status, code !== undefined) ?? unreachable(`status ${status}${code === undefined ? "" : ` ${code}`}`)
      )
    }),
    Effect.timeoutOrElse({ duration: limit, orElse: () => unreachable("no answer in time") })
  )
}

const wakeRefusal = (status: number, isProblem: boolean, { client_address, endpoint_id }: Admitted) => {
  if (status === 403) return new AddressNotListed({ endpoint_id, client_address })
  if (status === 404) return new EndpointUnknown({ endpoint_id })
  if (status === 409) return new EndpointDisabled({ endpoint_id })
  if (status === 422) return new TooManyComputes({ endpoint_id })
  return status === 503 && isProblem ? new WakeTimedOut({ endpoint_id }) : undefined
}

/** Answers of a control plane that does not know or cannot read the report. Repeating the report changes nothing. */
const rejections: ReadonlySet<number> = new Set([400, 404, 405, 413, 415, 422, 501])

const make = Effect.gen(function* () {
  const { proxy } = (yield* NarthexClient).api

  const resolve: Calls["resolve"] = (endpoint_id, role) => {
    const payload = { endpoint_id, ...(role === undefined ? {} : { role }) }
    return call("resolve", "5 seconds", proxy.resolve({ payload }), (status) =>
      status === 404 ? new EndpointUnknown({ endpoint_id }) : undefined
    )
  }

  const allowlists: Calls["allowlists"] = (project_ids) =>
    Effect.map(
      call("allowlists", "5 seconds", proxy.allowlists({ payload: { project_ids } })),
      (answer) => answer.allowlists
    )

  const changes: Calls["changes"] = Effect.gen(function* () {
    const request = Effect.provideService(proxy.changes(), ClientHeaders, { accept: "text/event-stream" })
    // Opened in the scope of the caller, so that closing it ends the subscription even if the stream never ran.
    const pull = yield* Stream.toPull(yield* call("changes", "10 seconds", request))
    return Stream.fromPull(Effect.succeed(pull)).pipe(
      Stream.timeout("40 seconds"),
      Stream.decodeText,
      Stream.pipeThroughChannel(Sse.decode()),
      Stream.mapEffect(changesIn),
      Stream.flattenIterable,
      Stream.mapError((error) => new ControlPlaneUnreachable({ operation: "changes", reason: String(error) }))
    )
  })

  const wake: Calls["wake"] = (admitted, unreachable) => {
    const { client_address, endpoint_id } = admitted
    const request = proxy.wake({
      params: { endpoint_id },
      payload: { client_address, ...(unreachable === undefined ? {} : { unreachable }) }
    })
    return Effect.filterOrFail(
      call("wake", "35 seconds", request, (status, isProblem) => wakeRefusal(status, isProblem, admitted)),
      ({ address }) => address !== "",
      () => new ControlPlaneUnreachable({ operation: "wake", reason: "the address is empty" })
    )
  }

  const activity: Calls["activity"] = (payload) => call("activity", "5 seconds", proxy.activity({ payload }))

  const cancel: Calls["cancel"] = (payload) => call("cancel", "5 seconds", proxy.cancel({ payload }))

  const refusals: Calls["refusals"] = (payload) =>
    call("refusals", "5 seconds", proxy.refusals({ payload }), (status) =>
      rejections.has(status) ? new ReportRejected({ status }) : undefined
    )

  return ControlPlane.of({
    resolve: Effect.fn("ControlPlane.resolve")(resolve),
    allowlists: Effect.fn("ControlPlane.allowlists")(allowlists),
    changes,
    wake: Effect.fn("ControlPlane.wake")(wake),
    activity: Effect.fn("ControlPlane.activity")(activity),
    cancel: Effect.fn("ControlPlane.cancel")(cancel),
    refusals: Effect.fn("ControlPlane.refusals")(refusals)
  })
})

/** `ControlPlane` over HTTP. */
export const HttpControlPlane = {
  layer: ({ api_client, api_url, token }: HttpControlPlaneConfig): Layer.Layer<ControlPlane> =>
    Layer.effect(ControlPlane, make).pipe(
      Layer.provide(NarthexClient.layer({ baseUrl: api_url, credential: token, retries: false })),
      Layer.provide(api_client === undefined ? FetchHttpClient.layer : Layer.succeed(HttpClient.HttpClient, api_client))
    )
}
