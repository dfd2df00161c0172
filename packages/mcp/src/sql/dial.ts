/**
 * Opens the socket of a connection, with TLS where the target asks for it.
 *
 * Pitfall: writing the startup packet before TLS. Its bytes would be plaintext.
 */
import { connect, isIP, type Socket } from "node:net"
import type { Duplex } from "node:stream"
import { connect as connectTls } from "node:tls"
import { encodeSslRequest } from "@effect/sql-pg/PgProtocol"
import type { Target } from "./Target.ts"

/** How sockets are opened. */
export interface Dial {
  readonly socket: (target: Target) => Socket
  /** Whether the certificate of TLS is checked. A proxy in the same process needs no proof. */
  readonly verifies: boolean
}

/** Over the network, to where the connection string leads. */
export const network: Dial = {
  socket: ({ host, port }) => connect({ host, port, noDelay: true }),
  verifies: true
}

const supportsTls = 0x53

/** `ready` gets the socket once. `failed` may be called at any time after, with what happened to it. */
export const open = (
  target: Target,
  dial: Dial,
  ready: (socket: Duplex) => void,
  failed: (reason: string) => void
): { readonly destroy: () => void } => {
  const plain = dial.socket(target)
  const watch = (socket: Duplex) => {
    socket.on("error", () => failed("The connection to the database failed."))
    socket.once("close", () => failed("The connection to the database was closed."))
  }
  watch(plain)
  const begin = () => {
    if (!target.tls) return ready(plain)
    plain.once("data", (answer: Uint8Array) => {
      // More than one byte would have been sent in plaintext, and taken for encrypted.
      if (answer.length !== 1 || answer[0] !== supportsTls) {
        failed("The database does not accept TLS, and the connection string requires it.")
        plain.destroy()
        return
      }
      const secure = connectTls({
        socket: plain,
        host: target.host,
        ...(isIP(target.host) === 0 ? { servername: target.host } : {}),
        rejectUnauthorized: dial.verifies
      })
      secure.on("error", () => failed("The certificate of the database is not trusted, or TLS failed."))
      secure.once("secureConnect", () => ready(secure))
    })
    plain.write(encodeSslRequest())
  }
  if (plain.connecting) plain.once("connect", begin)
  else begin()
  return { destroy: () => plain.destroy() }
}
