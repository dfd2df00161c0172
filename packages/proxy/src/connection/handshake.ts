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
import { Effect } from "effect"
import { badPacket, Hangup, type Refusal, tlsRequired, unsupportedProtocol } from "../outcomes/Refusal.ts"
import { type FirstPacket, type Startup, takeFirstPacket } from "../wire/startup.ts"
import { SocketReader } from "./SocketReader.ts"
import { type Tls, upgrade } from "./Tls.ts"

/** The connection of a client. The socket and its reader are replaced when TLS begins. */
export interface Client {
  socket: Socket
  reader: SocketReader
  /** Whether an ErrorResponse may be sent. Before the startup packet libpq hides or misreads it. */
  answerable: boolean
}

/** What a client asks for after the handshake: a session or a cancel. */
export type ClientRequest = Startup | (FirstPacket & { readonly _tag: "CancelRequest" })

const tlsHandshake = 0x16

/** The server name (SNI) that the client sent in TLS; `undefined` without one. */
export const servernameOf = (socket: Socket): string | undefined =>
  socket instanceof TLSSocket && typeof socket.servername === "string" ? socket.servername : undefined

const garbage = () => new Hangup({ event: "garbage" })

const secure = Effect.fnUntraced(function* (client: Client, tls: Tls) {
  const plain = client.socket
  const ahead = client.reader.detach()
  if (ahead.length > 0) plain.unshift(ahead)
  client.socket = yield* upgrade(plain, yield* tls.context)
  client.reader = new SocketReader(client.socket)
})

/** Reads until the startup packet or the cancel request, and begins TLS if the client asks for it. */
export const handshake = Effect.fnUntraced(function* (
  client: Client,
  tls: Tls | undefined
): Effect.fn.Return<ClientRequest, Hangup | Refusal> {
  const first = yield* client.reader.read((queue) => queue.peek(1)?.[0])
  let plain = true
  if (first === tlsHandshake && tls !== undefined) {
    yield* secure(client, tls)
    if (client.socket instanceof TLSSocket && client.socket.alpnProtocol !== "postgresql")
      return yield* new Hangup({ event: "alpn_missing" })
    plain = false
  } else if (first !== 0) return yield* garbage()

  const asked = new Set<string>()
  while (true) {
    const packet = yield* client.reader.read(takeFirstPacket)
    switch (packet._tag) {
      case "SslRequest":
      case "GssEncRequest": {
        if (!plain || asked.has(packet._tag) || client.reader.ahead) return yield* garbage()
        asked.add(packet._tag)
        if (packet._tag === "SslRequest" && tls !== undefined) {
          client.socket.write("S")
          yield* secure(client, tls)
          plain = false
        } else client.socket.write("N")
        break
      }
      case "Garbage":
        return yield* garbage()
      case "CancelRequest":
        return packet
      default: {
        client.answerable = true
        if (packet._tag === "UnsupportedProtocol") return yield* unsupportedProtocol(packet.major, packet.minor)
        if (packet._tag === "Malformed") return yield* badPacket(packet.reason)
        return plain && tls?.required ? yield* tlsRequired() : packet
      }
    }
  }
})
