/**
 * Answers of further routes of the listener (`ListenOptions.routes`) that are in the form of another protocol, such as
 * JSON-RPC. The conventions leave the bodies of its refusals as they are.
 */
import type { HttpServerResponse } from "effect/http"

const inOwn = new WeakSet<HttpServerResponse.HttpServerResponse>()

/** Marks an answer, as the last step of its route: a copy with other headers is not marked. */
export const inOwnForm = (response: HttpServerResponse.HttpServerResponse): HttpServerResponse.HttpServerResponse => {
  inOwn.add(response)
  return response
}

export const isInOwnForm = (response: HttpServerResponse.HttpServerResponse): boolean => inOwn.has(response)
