/** An event stream read by `eventsource-parser`, a parser that is not ours. */
import { createParser } from "eventsource-parser"

export interface Frame {
  readonly id: string
  readonly type: string
  readonly data: { readonly operation_id: string; readonly action: string; readonly status: string }
}

export interface Following {
  readonly frames: ReadonlyArray<Frame>
  /** Resolves when the frames seen so far satisfy the question. */
  readonly until: (enough: (frames: ReadonlyArray<Frame>) => boolean, what: string) => Promise<void>
  readonly close: () => void
}

export const followEvents = async (url: string, token: string, lastEventId?: string): Promise<Following> => {
  const abort = new AbortController()
  const response = await fetch(url, {
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId })
    },
    signal: abort.signal
  })
  if (response.status !== 200 || response.body === null) throw new Error(`The stream answered ${response.status}.`)
  const frames: Array<Frame> = []
  const waiting = new Set<() => void>()
  const parser = createParser({
    onEvent: ({ data, event = "", id = "" }) => {
      const envelope: { readonly data: Frame["data"] } = JSON.parse(data)
      frames.push({ id, type: event, data: envelope.data })
      for (const look of waiting) look()
    }
  })
  const reading = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }))
  }
  // A stream that breaks is what the test is about: what came until then stays.
  reading().catch(() => undefined)

  return {
    frames,
    close: () => abort.abort(),
    until: (enough, what) =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(
          () => reject(new Error(`${what} did not come. Seen: ${JSON.stringify(frames.map((frame) => frame.data))}`)),
          20_000
        )
        const look = () => {
          if (!enough(frames)) return
          clearTimeout(timer)
          waiting.delete(look)
          resolve()
        }
        waiting.add(look)
        look()
      })
  }
}
