/**
 * LOG IN: two ways to open a session at a compute. In both a session begins only after a proof: a server that sends
 * AuthenticationOk without a request for a proof trusts an account, and the login fails.
 *
 * - With the ClientKey that the client's proof has shown, for minted roles. The server has to show that it has the verifier too.
 * - Relayed, for roles of an operator's own: the server asks, and the client answers it.
 */
import type { Refusal } from "../outcomes/Refusal.ts"
import { foreignServer, ServerError, unproven } from "../outcomes/Refusal.ts"
import { type Keys, ScramClient } from "../scram/ScramClient.ts"
import { plain } from "../scram/ScramServer.ts"
import {
  authentication,
  authenticationOk,
  type Message,
  readAuthentication,
  saslFinal,
  saslInitialResponse,
  saslResponse,
  typeOf
} from "../wire/messages.ts"
import type { Greeted, Login } from "./dial.ts"
import { Greeting } from "./Greeting.ts"

const [authenticationRequest, errorResponse, negotiation] = [typeOf("R"), typeOf("E"), typeOf("v")]

type Outcome = Greeted | Refusal | ServerError | undefined

export interface KeyLogin {
  readonly startup: Buffer
  readonly keys: Keys
  /** The server's final message of the client's own exchange. */
  readonly serverFinal: string
  /** Messages for the client before the compute's greeting. */
  readonly notices: ReadonlyArray<Buffer>
}

/** A login that has begun, and whether the server has proved itself. */
class ScramLogin implements Login {
  readonly startup: Buffer
  readonly #client: ScramClient
  readonly #greeting: Greeting
  #proven = false
  #open = false

  constructor({ keys, notices, serverFinal, startup }: KeyLogin) {
    this.startup = startup
    this.#client = new ScramClient(keys)
    this.#greeting = new Greeting(saslFinal(serverFinal), authenticationOk, ...notices)
  }

  repeatable(): boolean {
    return true
  }

  take(message: Message, send: (bytes: Buffer) => void): Outcome {
    if (message.type === errorResponse) return new ServerError({ bytes: message.whole })
    if (message.type === authenticationRequest && !this.#open) return this.#authenticate(message.body, send)
    return this.#open ? this.#greeting.take(message) : undefined
  }

  #authenticate(body: Buffer, send: (bytes: Buffer) => void): Outcome {
    const { code, text } = readAuthentication(body)
    if (code === authentication.sasl && text.split("\0").includes(plain))
      send(saslInitialResponse(plain, this.#client.first))
    else if (code === authentication.saslContinue) {
      const final = this.#client.final(text)
      if (final === undefined) return foreignServer()
      send(saslResponse(final))
    } else if (code === authentication.saslFinal) {
      if (!this.#client.accepts(text)) return foreignServer()
      this.#proven = true
    } else if (code === authentication.ok && this.#proven) this.#open = true
    else return unproven()
    return undefined
  }
}

/** Each attempt is an exchange of its own. */
export const withKeys = (login: KeyLogin) => (): Login => new ScramLogin(login)

/** The client of a relayed login. */
export interface Answering {
  /** Sends a request of the server to the client. */
  readonly ask: (request: Buffer) => void
  /** The client's next message, for the server. */
  readonly answer: (send: (bytes: Buffer) => void) => void
  /** The server has accepted the client's proof. */
  readonly proved: () => void
}

class RelayedLogin implements Login {
  readonly startup: Buffer
  readonly #client: Answering
  readonly #greeting = new Greeting(authenticationOk)
  #asked = false
  #open = false

  constructor(startup: Buffer, client: Answering) {
    this.startup = startup
    this.#client = client
  }

  repeatable(): boolean {
    return !this.#asked
  }

  take(message: Message, send: (bytes: Buffer) => void): Outcome {
    if (message.type === errorResponse) return new ServerError({ bytes: message.whole })
    if (message.type === negotiation) return undefined
    if (this.#open) return this.#greeting.take(message)
    if (message.type !== authenticationRequest) return undefined
    const { code } = readAuthentication(message.body)
    if (code !== authentication.ok) {
      this.#asked = true
      this.#client.ask(message.whole)
      if (code !== authentication.saslFinal) this.#client.answer(send)
      return undefined
    }
    if (!this.#asked) return unproven()
    this.#open = true
    this.#client.proved()
    return undefined
  }
}

export const relayed = (startup: Buffer, client: Answering) => (): Login => new RelayedLogin(startup, client)
