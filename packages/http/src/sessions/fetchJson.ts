/**
 * One GET of JSON from a configured issuer: no redirects, a bound on the body, nothing sent that identifies us.
 *
 * It stops when it is interrupted; how long to wait is for the caller.
 *
 * Pitfall: `response.json()`. It reads a body of any length.
 */
import { Effect, Schema } from "effect"

/** The document could not be had. `reason` is for the operator's log. */
export class FetchFailed extends Schema.TaggedError<FetchFailed>()("FetchFailed", {
  url: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `${this.url} gave no usable answer: ${this.reason}.`
  }
}

export const fetchJson = Effect.fn("fetchJson")((url: string, mostBytes: number) =>
  Effect.tryPromise({
    try: async (signal): Promise<unknown> => {
      const response = await fetch(url, { redirect: "manual", signal, headers: { accept: "application/json" } })
      if (response.status !== 200) {
        await response.body?.cancel()
        throw new Error(`status ${response.status}`)
      }
      return JSON.parse(await bounded(response, mostBytes))
    },
    catch: (cause) => new FetchFailed({ url, reason: reasonOf(cause) })
  })
)

async function bounded(response: Response, most: number): Promise<string> {
  const chunks: Array<Uint8Array> = []
  let length = 0
  // Leaving the loop by a throw cancels the body, and the rest is never received.
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > most) throw new Error(`more than ${most} bytes`)
    chunks.push(chunk)
  }
  return new TextDecoder("utf-8", { fatal: true }).decode(Buffer.concat(chunks))
}

/** `fetch failed` says nothing; what it wraps does. */
const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)
