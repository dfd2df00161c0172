/** Calls without a pause at one instance, and each answer with when it was asked for and how long it took. */
import { setTimeout as sleep } from "node:timers/promises"

export interface Call {
  readonly name: string
  /** Milliseconds by `performance.now`. */
  readonly begun: number
  readonly ended: number
  /** 0: the connection broke. */
  readonly status: number
  readonly retryAfter: string | null
  /** The id of the project that was made. */
  readonly project: string | undefined
}

/** Milliseconds between two calls of a caller. */
const pause = 40

export class Traffic {
  readonly calls: Array<Call> = []
  readonly #stop = new AbortController()
  readonly #running: ReadonlyArray<Promise<void>>

  /** A writer and a reader at each of these addresses. */
  constructor(urls: ReadonlyArray<string>, token: string) {
    this.#running = urls.flatMap((url, at) => [
      this.#repeat(url, token, (n) => ({ method: "POST", body: JSON.stringify({ name: `p-${at}-${n}` }) })),
      this.#repeat(url, token, () => ({ method: "GET" }))
    ])
  }

  async #repeat(url: string, token: string, request: (n: number) => RequestInit & { readonly method: string }) {
    for (let n = 1; !this.#stop.signal.aborted; n++) {
      const asked = request(n)
      const begun = performance.now()
      const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" }
      const answer = await fetch(`${url}/v1/projects`, { ...asked, headers, signal: AbortSignal.timeout(60_000) }).then(
        async (it) => ({ status: it.status, retryAfter: it.headers.get("retry-after"), body: await it.json() }),
        () => ({ status: 0, retryAfter: null, body: undefined })
      )
      const { retryAfter, status } = answer
      const project = status === 201 ? String(answer.body.project.id) : undefined
      this.calls.push({ name: asked.method, begun, ended: performance.now(), status, retryAfter, project })
      await sleep(pause)
    }
  }

  get made(): ReadonlyArray<string> {
    return this.calls.flatMap(({ project }) => (project === undefined ? [] : [project]))
  }

  /** How many projects were made by calls that began after this moment. */
  madeSince(moment: number): number {
    return this.calls.filter(({ begun, project }) => project !== undefined && begun > moment).length
  }

  async stop(): Promise<void> {
    this.#stop.abort()
    await Promise.all(this.#running)
  }
}
