/** Questions to the other process of a channel that wait for their answers, each for a limited time. */
import { type Duration, Effect } from "effect"
import type { Answered, Asked, Questions } from "./messages.ts"

export class Inquiry<Q extends Questions> {
  readonly #send: (asked: Asked<Q>) => void
  readonly #waiting = new Map<number, (answer: unknown) => void>()
  #last = 0

  constructor(send: (asked: Asked<Q>) => void) {
    this.#send = send
  }

  /** The answer; `undefined` if none has come in time, or if the other process has ended. */
  ask<const About extends keyof Q>(
    about: About,
    asks: Q[About]["asks"],
    patience: Duration.Input
  ): Effect.Effect<Q[About]["gets"] | undefined> {
    return Effect.callback<Q[About]["gets"] | undefined>((resume) => {
      const question = ++this.#last
      this.#waiting.set(question, (answer) => resume(Effect.succeed(answer)))
      this.#send({ _tag: "Asked", question, about, asks })
      return Effect.sync(() => void this.#waiting.delete(question))
    }).pipe(Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.undefined }))
  }

  /** How many questions wait. */
  get size(): number {
    return this.#waiting.size
  }

  answered({ answer, question }: Answered): void {
    const waiting = this.#waiting.get(question)
    this.#waiting.delete(question)
    waiting?.(answer)
  }

  /** The other process has ended: no question gets an answer. */
  end(): void {
    for (const waiting of this.#waiting.values()) waiting(undefined)
    this.#waiting.clear()
  }
}
