/** Adds the headers that annotations ask for: `Cache-Control: no-store` with a secret, `Location` with a 201. */
import { LocatedAt, locationOf, ResponseHeaders, ShowsSecret } from "@narthex/api"
import { Context, Effect, Layer } from "effect"
import { HttpRouter, HttpServerResponse } from "effect/http"

const jsonBody = (response: HttpServerResponse.HttpServerResponse): unknown =>
  response.body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(response.body.body)) : undefined

export const layerResponseHeaders = Layer.succeed(
  ResponseHeaders,
  ResponseHeaders.of((handler, { endpoint }) => {
    const template = Context.get(endpoint.annotations, LocatedAt)
    const secret = Context.get(endpoint.annotations, ShowsSecret)
    // Most endpoints add nothing, and their requests pay nothing for it.
    if (template === undefined && !secret) return handler
    return Effect.gen(function* () {
      const response = yield* handler
      const { params } = yield* HttpRouter.RouteContext
      // A replay has its `Location` already, from the first answer.
      const located =
        template === undefined || response.status !== 201 || response.headers["location"] !== undefined
          ? response
          : HttpServerResponse.setHeader(response, "location", locationOf(template, params, jsonBody(response)))
      return secret ? HttpServerResponse.setHeader(located, "cache-control", "no-store") : located
    })
  })
)
