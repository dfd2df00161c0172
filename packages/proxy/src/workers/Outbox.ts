/**
 * Messages to the other process of a channel. Those of one turn of the event loop are sent as one, because each costs a
 * write here and a read there.
 */
export class Outbox<Message> {
  readonly #send: (messages: ReadonlyArray<Message>) => void
  #waiting: Array<Message> = []

  constructor(send: (messages: ReadonlyArray<Message>) => void) {
    this.#send = send
  }

  readonly add = (message: Message): void => {
    if (this.#waiting.push(message) === 1) setImmediate(this.#flush)
  }

  readonly #flush = (): void => {
    const messages = this.#waiting
    this.#waiting = []
    this.#send(messages)
  }
}
