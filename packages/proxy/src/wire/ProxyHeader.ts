/**
 * The PROXY protocol, version 2 (haproxy, proxy-protocol.txt §2.2): the address of a client behind a load balancer, or on
 * whose behalf another part of the platform connects.
 *
 * Pure. The header is accepted only from trusted peers, because any client could send one, and it is required of them,
 * because without it the load balancer's address would be checked instead of the client's.
 */
import { type Address, parsePeer } from "../networks/Address.ts"
import type { ByteQueue } from "./ByteQueue.ts"

export type ProxyHeader =
  | { readonly _tag: "Proxied"; readonly source: Address }
  /** A connection of the load balancer itself: a health check. */
  | { readonly _tag: "Local" }
  | { readonly _tag: "Refused" }

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1")
const largest = 4_096
const refused: ProxyHeader = { _tag: "Refused" }

/** Takes the header from the queue; `undefined` if it is incomplete. */
export const takeProxyHeader = (queue: ByteQueue): ProxyHeader | undefined => {
  const seen = queue.peek(Math.min(queue.length, signature.length))
  if (seen === undefined || !signature.subarray(0, seen.length).equals(seen)) return refused
  const head = queue.peek(16)
  if (head === undefined) return undefined
  const length = head.readUInt16BE(14)
  if (head[12] !== 0x20 && head[12] !== 0x21) return refused
  if (length > largest) return refused
  const header = queue.take(16 + length)
  if (header === undefined) return undefined
  if (header[12] === 0x20) return { _tag: "Local" }
  const source = sourceOf(header)
  return source === undefined ? refused : { _tag: "Proxied", source }
}

/** The header of a connection on behalf of the client with this address; `undefined` if it is none. */
export const proxyHeaderOf = (client: string): Buffer | undefined => {
  const source = parsePeer(client)
  if (source === undefined) return undefined
  // Where the client had connected to is not told, and neither are ports.
  const addresses = Buffer.concat([source.bytes, Buffer.alloc(source.bytes.length + 4)])
  const family = source.family === 4 ? 0x11 : 0x21
  return Buffer.concat([signature, Buffer.from([0x21, family, 0, addresses.length]), addresses])
}

/** The source address of TCP over IPv4 or IPv6; `undefined` for other families, which carry no address to check. */
function sourceOf(header: Buffer): Address | undefined {
  if (header[13] === 0x11 && header.length >= 28) return parsePeer([...header.subarray(16, 20)].join("."))
  if (header[13] === 0x21 && header.length >= 52) {
    const groups = Array.from({ length: 8 }, (_, group) => header.readUInt16BE(16 + 2 * group).toString(16))
    return parsePeer(groups.join(":"))
  }
  return undefined
}
