/**
 * A client that follows one stream over many connections, with an independent parser. It records every frame, and
 * reconnects with the last id that it received.
 */
import { type ClientRequest, request } from "node:http"
import { createParser } from "eventsource-parser"

export interface Frame {
  readonly id: string
  readonly event: string
  readonly data: { readonly [member: string]: unknown }
}

export class StreamClient {
  readonly path: string
  readonly token: string
  readonly frames: Array<Frame> = []
  readonly comments: Array<string> = []
  /** The answers to its connections that were not streams. */
  readonly refusals: Array<number> = []
  /** Where it stands: sent as `Last-Event-ID`. */
  lastId: string
  connections = 0
  onFrame: ((frame: Frame) => void) | undefined
  #request: ClientRequest | undefined

  constructor(path: string, token: string, lastId: string) {
    this.path = path
    this.token = token
    this.lastId = lastId
  }

  /**
   * Connects; resolves when that connection is over, whichever side ended it. `opened` runs when the answer's head is
   * there.
   */
  follow(port: number, opened: () => void = () => {}): Promise<void> {
    return new Promise((done) => {
      const parser = createParser({
        onComment: (comment) => void this.comments.push(comment),
        onEvent: ({ data, event = "message", id = "" }) => {
          this.lastId = id
          const frame = { id, event, data: JSON.parse(data).data }
          this.frames.push(frame)
          this.onFrame?.(frame)
        }
      })
      const outgoing = request(
        {
          host: "127.0.0.1",
          port,
          path: this.path,
          agent: false,
          headers: {
            accept: "text/event-stream",
            authorization: `Bearer ${this.token}`,
            ...(this.lastId === "" ? {} : { "last-event-id": this.lastId })
          }
        },
        (incoming) => {
          incoming.on("error", () => {})
          incoming.on("close", done)
          if (incoming.statusCode !== 200) {
            this.refusals.push(incoming.statusCode ?? 0)
            incoming.resume()
            return
          }
          this.connections += 1
          opened()
          incoming.setEncoding("utf8")
          incoming.on("data", (text: string) => parser.feed(text))
        }
      )
      outgoing.on("error", () => done())
      this.#request = outgoing
      outgoing.end()
    })
  }

  /** Gone without a word, in the middle of whatever there was. */
  drop(): void {
    this.#request?.destroy()
  }
}
