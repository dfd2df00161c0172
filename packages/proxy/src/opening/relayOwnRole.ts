/** Roles of an operator's own, at a server that checks them: the proxy has no verifier of theirs. */
import { Exit } from "effect"
import { relayed } from "../compute/logIn.ts"
import type { Located, ResolveError } from "../control-plane/EndpointCache.ts"
import { disabledEndpoint, Hangup, malformedExchange, notAuthenticated, notStarted } from "../outcomes/Refusal.ts"
import { takeMessage } from "../wire/messages.ts"
import { encodeStartup } from "../wire/startup.ts"
import { type Asker, admit, failed, notFound } from "./locate.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"
import { entered, openSession } from "./openSession.ts"
import { upstream } from "./route.ts"

const left = new Hangup({ event: "client_left" })

/**
 * A role of the operator's own at a server that checks it: the exchange is relayed, and a session begins only after it. Such a
 * server is not started for a client that has proved nothing.
 */
export const relayOwnRole = (client: OpeningConnection, asker: Asker) => {
  const { endpoints } = client.shared
  client.wait<Exit.Exit<Located, ResolveError>>(
    (done) => endpoints.resolve(asker, done),
    (found) => {
      if (Exit.isFailure(found)) return failed(client, found, (why) => notFound(asker.endpoint_id, why))
      const { endpoint } = found.value
      return admit(client, asker, found.value, (allowed) => {
        if (endpoint.disabled) return client.end(disabledEndpoint(asker.endpoint_id))
        if (endpoint.address === null) return client.end(notStarted())
        if (!entered(client, asker, endpoint)) return
        client.late = notAuthenticated()
        const packet = encodeStartup(upstream(asker.startup, asker.user, false))
        return openSession(client, asker, allowed, relayed(packet, answering(client)))
      })
    }
  )
}

/** The longest answer of a client to its server, in bytes. */
const longestAnswer = 65_536

const answering = (client: OpeningConnection) => ({
  ask: (request: Buffer) => void client.socket.write(request),
  answer: (send: (bytes: Buffer) => void) => {
    client.reader.read(
      (queue) => takeMessage(queue, longestAnswer),
      (message) => {
        if (message === undefined) return client.end(left)
        if (message === "unreadable") return client.end(malformedExchange())
        if (client.watch()) send(message.whole)
      }
    )
  },
  proved: () => client.proved()
})
