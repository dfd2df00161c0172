/**
 * The span of a call that runs for each request. It has no stack trace of its caller: the request says who called, and
 * capturing it costs more than the rest of the span.
 */
import { Effect } from "effect"

export const requestSpan = (name: string) => Effect.withSpan(name, undefined, { captureStackTrace: false })
