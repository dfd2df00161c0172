/**
 * The PROXY protocol, version 2 (haproxy, proxy-protocol.txt §2.2): who the client is behind a load balancer.
 *
 * Pure. It is read from configured peers alone, and required of them: a header that anybody may send is no evidence,
 * and a missing one would judge the client by the load balancer's address.
 */
import { type Address, parsePeer } from "../networks/Address.ts"
import type { ByteQueue } from "./ByteQueue.ts"

export type ProxyHeader =
  | { readonly _tag: "Proxied"; readonly source: Address }
  /** The load balancer speaks for itself: a health check. */
  | { readonly _tag: "Local" }
  | { readonly _tag: "Refused" }

const signature = Buffer.from("\r\n\r\n\0\r\nQUIT\n", "latin1")
const largest = 4_096
const refused: ProxyHeader = { _tag: "Refused" }

/** Takes the header off the queue; `undefined` asks for more. */
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

/** TCP over IPv4 or IPv6; a family that names no address leaves nobody to judge. */
function sourceOf(header: Buffer): Address | undefined {
  if (header[13] === 0x11 && header.length >= 28) return parsePeer([...header.subarray(16, 20)].join("."))
  if (header[13] === 0x21 && header.length >= 52) {
    const groups = Array.from({ length: 8 }, (_, group) => header.readUInt16BE(16 + 2 * group).toString(16))
    return parsePeer(groups.join(":"))
  }
  return undefined
}
