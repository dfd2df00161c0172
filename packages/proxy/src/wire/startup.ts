/**
 * The packets without a type byte with which a client begins a connection (PostgreSQL protocol, "Start-up").
 *
 * Pure. Parsers return `undefined` for an incomplete packet.
 *
 * Pitfall: decoding parameters as UTF-8. Their encoding is unknown, and decoding would change bytes; latin1 preserves
 * every byte.
 */
import type { ByteQueue } from "./ByteQueue.ts"

export type Parameter = readonly [name: string, value: string]

export interface Startup {
  readonly _tag: "Startup"
  /** As the client sent it, minor version included. */
  readonly version: number
  readonly parameters: ReadonlyArray<Parameter>
}

export type FirstPacket =
  | Startup
  | { readonly _tag: "SslRequest" }
  | { readonly _tag: "GssEncRequest" }
  /** `key` is the process id and the secret of the BackendKeyData message. */
  | { readonly _tag: "CancelRequest"; readonly key: Buffer; readonly packet: Buffer }
  /** Not a startup packet. Postgres closes the connection without an answer. */
  | { readonly _tag: "Garbage" }
  | { readonly _tag: "UnsupportedProtocol"; readonly major: number; readonly minor: number }
  | { readonly _tag: "Malformed"; readonly reason: string }

const special = 1234
const largest = 10_000
const once = ["user", "database", "options"]

/** Takes one packet from the queue; `undefined` if it is incomplete. */
export const takeFirstPacket = (queue: ByteQueue): FirstPacket | undefined => {
  const head = queue.peek(4)
  if (head === undefined) return undefined
  const size = head.readUInt32BE(0)
  if (size < 8 || size > largest) return { _tag: "Garbage" }
  const packet = queue.take(size)
  if (packet === undefined) return undefined
  const major = packet.readUInt16BE(4)
  const minor = packet.readUInt16BE(6)
  if (major === special) return request(packet, minor)
  if (major !== 3) return { _tag: "UnsupportedProtocol", major, minor }
  return parameters(packet)
}

function request(packet: Buffer, code: number): FirstPacket {
  if (code === 5678 && packet.length >= 16 && packet.length <= 268)
    return { _tag: "CancelRequest", key: packet.subarray(8), packet }
  if (code === 5679 && packet.length === 8) return { _tag: "SslRequest" }
  if (code === 5680 && packet.length === 8) return { _tag: "GssEncRequest" }
  return { _tag: "Garbage" }
}

function parameters(packet: Buffer): FirstPacket {
  const malformed = (reason: string): FirstPacket => ({ _tag: "Malformed", reason })
  const texts = packet.toString("latin1", 8).split("\0")
  // "k\0v\0k\0v\0\0" splits into its texts and two empty ones: the terminator of the list and the rest after it.
  if (texts.length < 2 || texts.at(-1) !== "" || texts.at(-2) !== "" || texts.length % 2 !== 0)
    return malformed("the parameter list does not end at the end of the packet")
  const found: Array<Parameter> = []
  const seen = new Set<string>()
  for (let at = 0; at < texts.length - 2; at += 2) {
    const name = texts[at] ?? ""
    if (name === "") return malformed("a parameter has no name")
    if (once.includes(name) && seen.has(name)) return malformed(`the parameter "${name}" is given twice`)
    seen.add(name)
    found.push([name, texts[at + 1] ?? ""])
  }
  return { _tag: "Startup", version: packet.readUInt32BE(4), parameters: found }
}

/** The value of a parameter. If it is repeated the last value counts, as in Postgres. */
export const parameter = (startup: Startup, name: string): string | undefined =>
  startup.parameters.findLast(([key]) => key === name)?.[1]

/** Encodes a startup packet. */
export const encodeStartup = (startup: Startup): Buffer => {
  const body = `${startup.parameters.map(([name, value]) => `${name}\0${value}\0`).join("")}\0`
  const packet = Buffer.alloc(8 + body.length)
  packet.writeUInt32BE(packet.length, 0)
  packet.writeUInt32BE(startup.version, 4)
  packet.write(body, 8, "latin1")
  return packet
}
