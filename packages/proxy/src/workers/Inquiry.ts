/** Questions to the other process of a channel that wait for their answers, each for a limited time. */
import { Effect } from "effect"
import type { Cancel } from "../control-plane/Run.ts"
import type { Answered, Asked, Questions } from "./messages.ts"

export class Inquiry<Q extends Questions> {
  readonly #send: (asked: Asked<Q>) => void
  readonly #waiting = new Map<number, (answer: unknown) => void>()
  #last = 0

  constructor(send: (asked: Asked<Q>) => void) {
    this.#send = send
  }

  /**
   * `done` gets the answer; `undefined` if none has come in time, or if the other process has ended. `patience` in
   * milliseconds.
   */
  ask<const About extends keyof Q>(
    about: About,
    asks: Q[About]["asks"],
    patience: number,
    done: (answer: Q[About]["gets"] | undefined) => void
  ): Cancel {
    const question = ++this.#last
    const over = () => {
      clearTimeout(timer)
      this.#waiting.delete(question)
    }
    const timer = setTimeout(() => {
      over()
      done(undefined)
    }, patience)
    this.#waiting.set(question, (answer) => {
      over()
      done(answer)
    })
    this.#send({ _tag: "Asked", question, about, asks })
    return over
  }

  /** The same as an effect. */
  answerTo<const About extends keyof Q>(
    about: About,
    asks: Q[About]["asks"],
    patience: number
  ): Effect.Effect<Q[About]["gets"] | undefined> {
    return Effect.callback((resume) =>
      Effect.sync(this.ask(about, asks, patience, (answer) => resume(Effect.succeed(answer))))
    )
  }

  /** How many questions wait. */
  get size(): number {
    return this.#waiting.size
  }

  answered({ answer, question }: Answered): void {
    this.#waiting.get(question)?.(answer)
  }

  /** The other process has ended: no question gets an answer. */
  end(): void {
    for (const waiting of [...this.#waiting.values()]) waiting(undefined)
  }
}
