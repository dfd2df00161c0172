/** An event stream read by `eventsource-parser`, a parser that is not part of this repository. */
import { createParser } from "eventsource-parser"
import { until, within } from "../harness/eventually.ts"

export interface Frame {
  readonly id: string
  readonly type: string
  readonly data: { readonly operation_id: string; readonly action: string; readonly status: string }
}

export interface Following {
  readonly frames: ReadonlyArray<Frame>
  /** Resolves when the frames seen so far satisfy the question; fails at once where the stream ends before that. */
  readonly until: (enough: (frames: ReadonlyArray<Frame>) => boolean, what: string) => Promise<void>
  readonly close: () => void
}

export const followEvents = async (url: string, token: string, lastEventId?: string): Promise<Following> => {
  const abort = new AbortController()
  const asked = fetch(url, {
    headers: {
      accept: "text/event-stream",
      authorization: `Bearer ${token}`,
      ...(lastEventId === undefined ? {} : { "last-event-id": lastEventId })
    },
    signal: abort.signal
  })
  const response = await within(`${url} to answer`, asked).catch((error: unknown) => {
    abort.abort()
    throw error
  })
  if (response.status !== 200 || response.body === null) throw new Error(`The stream answered ${response.status}.`)
  const frames: Array<Frame> = []
  const parser = createParser({
    onEvent: ({ data, event = "", id = "" }) => {
      const envelope: { readonly data: Frame["data"] } = JSON.parse(data)
      frames.push({ id, type: event, data: envelope.data })
    }
  })
  const reading = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) parser.feed(decoder.decode(chunk, { stream: true }))
  }
  let ended: string | undefined
  // A stream that breaks is what the test is about: the frames until then stay.
  reading().then(
    () => {
      ended = "The stream ended."
    },
    (cause: unknown) => {
      ended = `The stream broke: ${String(cause)}.`
    }
  )

  return {
    frames,
    close: () => abort.abort(),
    until: async (enough, what) => {
      const seen = () => `Seen: ${JSON.stringify(frames.map(({ data }) => data))}`
      await until(what, () => enough(frames) || ended !== undefined).catch((error: unknown) => {
        throw new Error(`${error instanceof Error ? error.message : String(error)} ${seen()}`)
      })
      if (!enough(frames)) throw new Error(`No ${what} came. ${ended} ${seen()}`)
    }
  }
}
