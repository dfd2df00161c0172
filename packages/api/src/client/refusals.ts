/**
 * Decodes the refusals of a call when the first one arrives (docs/design/client.md L29): the codecs of the twenty problems that
 * a call may answer with take longer to make than all others of the client.
 */
import { Effect } from "effect"
import { HttpClientError, type HttpClientResponse } from "effect/http"
import { type HttpApi, HttpApiClient, type HttpApiEndpoint } from "effect/http-api"

/** The answer has a status for which no success is declared. */
const refusedResponse = (error: unknown): HttpClientResponse.HttpClientResponse | undefined => {
  if (!HttpClientError.isHttpClientError(error) || error.reason._tag !== "DecodeError") return undefined
  const { response } = error.reason
  return response.status < 400 ? undefined : response
}

/** For `transformResponse` of a client of `withoutErrors`: fails with what the contract declares for a refusal. */
export const decodingRefusals = (contract: HttpApi.Top, group: string, endpoint: HttpApiEndpoint.Top) => {
  let decode:
    | ((response: HttpClientResponse.HttpClientResponse) => Effect.Effect<unknown, unknown, unknown>)
    | undefined
  return (decoded: Effect.Effect<unknown, unknown, unknown>): Effect.Effect<unknown, unknown, unknown> =>
    Effect.catch(decoded, (error) => {
      const response = refusedResponse(error)
      if (response === undefined) return Effect.fail(error)
      // Groups and endpoints are looked up by their names, so their types are not known one by one.
      decode ??= HttpApiClient.decodeResponse(contract, { group, endpoint: endpoint.identifier as never })
      return decode(response)
    })
}

/** A contract with this call alone, and without the errors of the call and of its middleware. */
export const withoutErrors = (contract: HttpApi.Top, group: string, endpoint: HttpApiEndpoint.Top): HttpApi.Top => {
  // The client takes the keys of a middleware's implementation from it, and its errors.
  const middlewares = Array.from(endpoint.middlewares, ({ key }) => ({ key, error: [] }))
  const bare = { ...endpoint, error: new Set(), middlewares: new Set(middlewares) }
  const { annotations, topLevel } = contract.groups[group] ?? { annotations: contract.annotations, topLevel: false }
  const endpoints = { [endpoint.identifier]: bare }
  // These members are what a client reads of a contract.
  return {
    annotations: contract.annotations,
    groups: { [group]: { identifier: group, topLevel, annotations, endpoints } }
  } as unknown as HttpApi.Top
}
