/**
 * AUTHENTICATE: the proxy is the server of the SCRAM exchange with its client (docs/design/proxy.md, "Authentication"). An
 * unknown role has the same exchange with a verifier that no password fits.
 */
import { begin, mechanismsOf, type Proof, type Violation } from "../scram/ScramServer.ts"
import type { Verifier } from "../scram/Verifier.ts"
import {
  authenticationSasl,
  type Message,
  readInitialResponse,
  saslContinue,
  takeMessage,
  typeOf
} from "../wire/messages.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"

/** `left`: the client has closed the connection, or says that it will. */
export type Unproved = Violation | "wrong_password" | "left"

/** The longest answer of a client, in bytes: Postgres takes no longer SASL message either. */
const largest = 1_029
const [response, terminate] = [typeOf("p"), typeOf("X")]

/** Asks for a proof. `then` gets it, or why there is none. */
export const authenticate = (
  client: OpeningConnection,
  verifier: Verifier,
  then: (outcome: Proof | Unproved) => void
) => {
  const { binding } = client
  client.socket.write(authenticationSasl(mechanismsOf(binding)))
  answer(client, then, ({ body }) => {
    const initial = readInitialResponse(body)
    if (initial === undefined) return then("malformed")
    const challenge = begin(verifier, initial.mechanism, initial.text, binding)
    if (typeof challenge === "string") return then(challenge)
    client.socket.write(saslContinue(challenge.text))
    return answer(client, then, (message) => then(challenge.finish(message.body.toString("latin1"))))
  })
}

const answer = (client: OpeningConnection, failed: (why: Unproved) => void, then: (message: Message) => void): void =>
  client.wait<ReturnType<typeof takeMessage>>(
    (done) => client.reader.read((queue) => takeMessage(queue, largest), done),
    (message) => {
      if (message === undefined) return failed("left")
      if (message === "unreadable") return failed("malformed")
      if (message.type === response) return then(message)
      return failed(message.type === terminate ? "left" : "malformed")
    }
  )
