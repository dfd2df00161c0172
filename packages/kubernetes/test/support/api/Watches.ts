/** The watches of clients: streams of changes that end, fall silent or start too late when a test wants it. */
import type { ServerResponse } from "node:http"
import { expired } from "./ApiFailure.ts"
import type { Call } from "./calls.ts"
import { type Fields, withAt } from "./json.ts"
import { type Change, namespaceIn, type ObjectStore } from "./ObjectStore.ts"
import { apiVersionOf } from "./resources.ts"
import { matcherOf } from "./selectors.ts"

interface Watch {
  readonly send: (type: string, object: Fields) => void
  readonly take: (change: Change) => void
  readonly bookmark: () => void
  readonly end: () => void
}

/** Milliseconds between bookmarks, about a minute in a real server. */
const bookmarkEvery = 1_000

export class Watches {
  readonly #store: ObjectStore
  readonly #open = new Set<Watch>()
  readonly #timer: NodeJS.Timeout
  readonly #stop: () => void
  #silent = false

  constructor(store: ObjectStore) {
    this.#store = store
    this.#stop = store.onChange((change) => {
      if (!this.#silent) for (const watch of this.#open) watch.take(change)
    })
    this.#timer = setInterval(() => this.bookmark(), bookmarkEvery).unref()
  }

  get count(): number {
    return this.#open.size
  }

  /** Answers a watch. It starts after the version that it names; without one, with all objects. */
  open({ namespace, query, resource }: Call, response: ServerResponse): void {
    const matches = matcherOf(query.get("labelSelector"), query.get("fieldSelector"))
    const isSeen = (object: Fields) => matches(object) && (namespace === "" || namespaceIn(object) === namespace)
    const bookmarks = query.get("allowWatchBookmarks") === "true"
    response.writeHead(200, { "content-type": "application/json", "cache-control": "no-cache, private" })
    response.flushHeaders()
    const send = (type: string, object: Fields) => void response.write(`${JSON.stringify({ type, object })}\n`)
    const watch: Watch = {
      send,
      take: (change) => {
        if (change.resource !== resource) return
        const [before, after] = [change.former !== undefined && isSeen(change.former), isSeen(change.object)]
        if (change.type === "DELETED" ? before || after : before && !after) send("DELETED", change.object)
        else if (after && change.type !== "DELETED") send(before ? "MODIFIED" : "ADDED", change.object)
      },
      bookmark: () => {
        if (!bookmarks) return
        const empty = { kind: resource.kind, apiVersion: apiVersionOf(resource), metadata: {} }
        send("BOOKMARK", withAt(empty, ["metadata", "resourceVersion"], String(this.#store.version)))
      },
      end: () => void response.end()
    }
    const from = query.get("resourceVersion") ?? ""
    const missed = from === "" || from === "0" ? undefined : this.#store.since(Number(from))
    if (from === "" || from === "0")
      for (const object of this.#store.list(resource).filter(isSeen)) send("ADDED", object)
    else if (missed === undefined) {
      send("ERROR", expired(`too old resource version: ${from} (${this.#store.version})`).status)
      watch.end()
      return
    }
    missed?.forEach(watch.take)
    this.#open.add(watch)
    const seconds = Number(query.get("timeoutSeconds") ?? 0) || 300
    const timer = setTimeout(() => {
      watch.bookmark()
      watch.end()
    }, seconds * 1_000)
    timer.unref()
    response.once("close", () => {
      clearTimeout(timer)
      this.#open.delete(watch)
    })
  }

  /** Sends each watch that takes it the newest version. */
  bookmark(): void {
    if (!this.#silent) for (const watch of this.#open) watch.bookmark()
  }

  /** Ends all watches, as the server does after some minutes each. */
  end(): void {
    for (const watch of this.#open) watch.end()
  }

  /** The watches that are open stay open and say nothing more, as after a lost connection, until they are heard again. */
  set silent(silent: boolean) {
    this.#silent = silent
  }

  close(): void {
    clearInterval(this.#timer)
    this.#stop()
    this.end()
  }
}
