/**
 * The last attempt of a call: the request, and the head of its answer. The decision about a retry needs both, and the
 * typed failures of a call do not carry them.
 */
import { Context } from "effect"
import type { HttpClientRequest, HttpClientResponse } from "effect/http"

export interface Attempt {
  request: HttpClientRequest.HttpClientRequest | undefined
  response: HttpClientResponse.HttpClientResponse | undefined
}

export const noAttempt = (): Attempt => ({ request: undefined, response: undefined })

/** Where the running call notes its attempt; `undefined`: nothing is noted. */
export const LastAttempt = Context.Reference<Attempt | undefined>("@narthex/api/client/LastAttempt", {
  defaultValue: () => undefined
})
