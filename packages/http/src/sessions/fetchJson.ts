/**
 * A GET of JSON from a configured issuer: no redirects, a bounded body, and no header that identifies this server.
 *
 * An interruption aborts it; the caller sets the deadline.
 *
 * Pitfall: `response.json()`. It reads a body of any length.
 */
import { Effect, Schema } from "effect"

/** The document could not be fetched. `reason` is for the operator's log. */
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
  const decoder = new TextDecoder("utf-8", { fatal: true })
  let text = ""
  let length = 0
  // A throw out of the loop cancels the body, so the rest is not received.
  for await (const chunk of response.body ?? []) {
    length += chunk.length
    if (length > most) throw new Error(`more than ${most} bytes`)
    text += decoder.decode(chunk, { stream: true })
  }
  return text + decoder.decode()
}

/** The message of `fetch failed` is in its cause. */
const reasonOf = (cause: unknown): string =>
  cause instanceof Error ? (cause.cause instanceof Error ? cause.cause.message : cause.message) : String(cause)
