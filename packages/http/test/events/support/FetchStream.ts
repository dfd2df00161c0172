/** An event stream of the API as a function: the body of a `Response`, read chunk by chunk. */
import { Effect, type Scope } from "effect"
import { TestApi } from "../../support/wire.ts"
import { open as openRaw, type Wanted } from "./RawStream.ts"
import { SeenStream } from "./SeenStream.ts"

const nameAndValue = (line: string): [string, string] => {
  const colon = line.indexOf(": ")
  return [line.slice(0, colon), line.slice(colon + 2)]
}

export class FetchStream extends SeenStream {
  readonly #aborts = new AbortController()
  #response: Response | undefined
  #text = ""
  #resumed = Promise.resolve()
  #resume: () => void = () => {}

  constructor(
    fetch: (request: Request) => Promise<Response>,
    { headers = [], method = "GET", path = "/v1/events", token }: Wanted
  ) {
    super()
    const sent = new Headers(headers.map(nameAndValue))
    if (token !== null) sent.set("authorization", `Bearer ${token}`)
    const request = new Request(`http://api.test${path}`, { method, headers: sent, signal: this.#aborts.signal })
    this.#read(fetch(request))
      .catch(() => {})
      .finally(() => {
        this.closed = true
        this.changed()
      })
  }

  get status(): number {
    return this.#response?.status ?? 0
  }

  get head(): string {
    return `${this.status} ${JSON.stringify([...(this.#response?.headers ?? [])])}`
  }

  get text(): string {
    return this.#text
  }

  header(name: string): string | undefined {
    return this.#response?.headers.get(name) ?? undefined
  }

  pause(): void {
    this.#resumed = new Promise((resume) => {
      this.#resume = resume
    })
  }

  resume(): void {
    this.#resume()
  }

  /** Ends the request, as a client does that goes away. */
  leave(): void {
    this.#aborts.abort(new Error("The client left."))
  }

  async #read(answered: Promise<Response>): Promise<void> {
    this.#response = await answered
    this.changed()
    const decoder = new TextDecoder()
    for await (const bytes of this.#response.body ?? []) {
      this.#text += decoder.decode(bytes, { stream: true })
      this.changed()
      await this.#resumed
    }
  }
}

/** A stream that ends with the scope. */
export const openFetch = (wanted: Wanted) =>
  Effect.flatMap(TestApi, ({ fetch }) =>
    Effect.acquireRelease(
      Effect.sync(() => {
        if (fetch === undefined) throw new Error("The API under test is not a function.")
        return new FetchStream(fetch, wanted)
      }),
      (stream) => Effect.sync(() => stream.leave())
    )
  )

/** A stream over what the API under test is: a socket or a function. */
export const open = (wanted: Wanted): Effect.Effect<SeenStream, never, Scope.Scope | TestApi> =>
  Effect.flatMap(
    TestApi,
    ({ fetch }): Effect.Effect<SeenStream, never, Scope.Scope | TestApi> =>
      fetch === undefined ? openRaw(wanted) : openFetch(wanted)
  )

/** The same, once the stream's first block is there. */
export const opened = (wanted: Wanted) =>
  Effect.tap(open(wanted), (stream) => stream.until("open", ({ text }) => text.startsWith(": ok\n")))
