/** An event stream as a test sees it, however its bytes arrive. */
import { Effect } from "effect"

export interface Block {
  readonly id: string | undefined
  readonly event: string | undefined
  readonly data: string | undefined
  readonly comments: ReadonlyArray<string>
  readonly lines: ReadonlyArray<string>
}

const member = (lines: ReadonlyArray<string>, name: string) =>
  lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2)

/** The whole blocks of a stream's text. */
export const blocksOf = (text: string): ReadonlyArray<Block> =>
  text
    .split("\n\n")
    .slice(0, -1)
    .map((block) => {
      const lines = block.split("\n")
      const comments = lines.filter((line) => line.startsWith(":"))
      return { id: member(lines, "id"), event: member(lines, "event"), data: member(lines, "data"), comments, lines }
    })

export abstract class SeenStream {
  closed = false
  #changed: () => void = () => {}

  /** 0 until the head of the response is there. */
  abstract get status(): number
  abstract header(name: string): string | undefined
  abstract get text(): string
  /** The head of the response, for messages. */
  abstract get head(): string

  /** Reads nothing until `resume`, but what is on its way. */
  abstract pause(): void
  abstract resume(): void

  /** Bytes have arrived, or the stream is closed. */
  protected changed(): void {
    this.#changed()
  }

  get blocks(): ReadonlyArray<Block> {
    return blocksOf(this.text)
  }

  get events(): ReadonlyArray<Block> {
    return this.blocks.filter((block) => block.event !== undefined)
  }

  /** Waits until the connection shows it. */
  until(what: string, shown: (stream: SeenStream) => boolean): Effect.Effect<void> {
    return Effect.callback<void>((resume) => {
      const look = () => {
        if (shown(this)) resume(Effect.void)
        else if (this.closed) resume(Effect.die(new Error(`Closed before ${what}:\n${this.head}\n\n${this.text}`)))
      }
      this.#changed = look
      look()
    }).pipe(
      Effect.timeoutOrElse({
        duration: "45 seconds",
        orElse: () => Effect.die(new Error(`Waited 45 s for ${what}:\n${this.head}\n\n${this.text.slice(-2_000)}`))
      })
    )
  }
}
