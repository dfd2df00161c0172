/**
 * FIRST and STARTUP: from an accepted socket to a startup packet or a cancel request, with or without TLS.
 *
 * A client may send one SSLRequest and one GSSENCRequest in plaintext before the packet itself.
 *
 * Pitfall: accepting bytes after an SSLRequest. They arrived in plaintext; read after the TLS handshake they would be
 * taken for encrypted (CVE-2021-23214). So such a connection is closed.
 */
import type { Socket } from "node:net"
import { TLSSocket } from "node:tls"
import { badPacket, Hangup, tlsRequired, unsupportedProtocol } from "../outcomes/Refusal.ts"
import type { ByteQueue } from "../wire/ByteQueue.ts"
import { type FirstPacket, type Startup, takeFirstPacket } from "../wire/startup.ts"
import type { OpeningConnection } from "./OpeningConnection.ts"
import { SocketReader } from "./SocketReader.ts"
import { type Tls, upgrade } from "./Tls.ts"

/** The request of a client after the handshake: a session or a cancel. */
export type ClientRequest = Startup | (FirstPacket & { readonly _tag: "CancelRequest" })

/** The requests before the startup packet, and whether they came without TLS. */
interface Before {
  readonly plain: boolean
  readonly asked: ReadonlyArray<FirstPacket["_tag"]>
}

const tlsHandshake = 0x16

/** The server name (SNI) that the client sent in TLS; `undefined` without one. */
export const servernameOf = (socket: Socket): string | undefined =>
  socket instanceof TLSSocket && typeof socket.servername === "string" ? socket.servername : undefined

const garbage = () => new Hangup({ event: "garbage" })

/** Reads the client. A client that leaves ends the connection. */
export const read = <A>(
  client: OpeningConnection,
  parse: (queue: ByteQueue) => A | undefined,
  then: (parsed: A) => void
): void =>
  client.wait<A | undefined>(
    (done) => client.reader.read(parse, done),
    (parsed) => (parsed === undefined ? client.end(new Hangup({ event: "client_left" })) : then(parsed))
  )

const firstByte = (queue: ByteQueue) => queue.peek(1)?.[0]

const secure = (client: OpeningConnection, tls: Tls, then: () => void): void => {
  const plain = client.socket
  plain.pause()
  const ahead = client.reader.detach()
  if (ahead.length > 0) plain.unshift(ahead)
  const { binding, context } = tls.identity()
  client.wait<TLSSocket | undefined>(
    (done) => upgrade(plain, context, done),
    (socket) => {
      if (socket === undefined) return client.end(new Hangup({ event: "tls_failed" }))
      client.socket = socket
      client.binding = binding
      client.reader = new SocketReader(socket)
      return then()
    }
  )
}

/** Reads until the startup packet or the cancel request, and begins TLS if the client asks for it. */
export const handshake = (
  client: OpeningConnection,
  tls: Tls | undefined,
  then: (request: ClientRequest) => void
): void =>
  read(client, firstByte, (first) => {
    if (first === 0) return startup(client, tls, { plain: true, asked: [] }, then)
    if (first !== tlsHandshake || tls === undefined) return client.end(garbage())
    return secure(client, tls, () => {
      if (client.socket instanceof TLSSocket && client.socket.alpnProtocol !== "postgresql")
        return client.end(new Hangup({ event: "alpn_missing" }))
      return startup(client, tls, { plain: false, asked: [] }, then)
    })
  })

const startup = (
  client: OpeningConnection,
  tls: Tls | undefined,
  { asked, plain }: Before,
  then: (request: ClientRequest) => void
): void =>
  read(client, takeFirstPacket, (packet) => {
    switch (packet._tag) {
      case "SslRequest":
      case "GssEncRequest": {
        if (!plain || asked.includes(packet._tag) || client.reader.ahead) return client.end(garbage())
        const next = (plain: boolean) => startup(client, tls, { plain, asked: [...asked, packet._tag] }, then)
        if (packet._tag === "SslRequest" && tls !== undefined) {
          client.socket.write("S")
          return secure(client, tls, () => next(false))
        }
        client.socket.write("N")
        return next(true)
      }
      case "Garbage":
        return client.end(garbage())
      case "CancelRequest":
        return then(packet)
      default: {
        client.answerable = true
        if (packet._tag === "UnsupportedProtocol") return client.end(unsupportedProtocol(packet.major, packet.minor))
        if (packet._tag === "Malformed") return client.end(badPacket(packet.reason))
        return plain && tls?.required ? client.end(tlsRequired()) : then(packet)
      }
    }
  })
