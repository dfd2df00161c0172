/**
 * Typed messages (one type byte, four length bytes, a body) of authentication: those that a proxy reads whole and those that
 * it writes (PostgreSQL protocol, "SASL Authentication").
 */
import type { ByteQueue } from "./ByteQueue.ts"

export interface Message {
  readonly type: number
  readonly body: Buffer
  /** The message with its type and its length. */
  readonly whole: Buffer
}

/** The type byte of a message. */
export const typeOf = (letter: string): number => letter.charCodeAt(0)

/** A message that cannot be read whole: it is too long, or has an impossible length. */
export type Taken = Message | "unreadable"

/** Takes one message of at most `largest` bytes; `undefined` if it is incomplete. */
export const takeMessage = (queue: ByteQueue, largest: number): Taken | undefined => {
  const head = queue.peek(5)
  if (head === undefined) return undefined
  const size = 1 + head.readUInt32BE(1)
  if (size < 5 || size > largest) return "unreadable"
  const whole = queue.take(size)
  return whole === undefined ? undefined : { type: whole[0] ?? 0, body: whole.subarray(5), whole }
}

export const encodeMessage = (letter: string, ...parts: ReadonlyArray<Buffer | string>): Buffer => {
  const body = Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part) : part)))
  const head = Buffer.allocUnsafe(5)
  head[0] = typeOf(letter)
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

const int32 = (value: number): Buffer => {
  const bytes = Buffer.allocUnsafe(4)
  bytes.writeInt32BE(value)
  return bytes
}

/** The codes with which the body of an Authentication message begins. */
export const authentication = { ok: 0, sasl: 10, saslContinue: 11, saslFinal: 12 } as const

export const authenticationOk = encodeMessage("R", int32(authentication.ok))

/** Asks for an exchange of one of these mechanisms, the preferred one first. */
export const authenticationSasl = (mechanisms: ReadonlyArray<string>): Buffer =>
  encodeMessage("R", int32(authentication.sasl), `${mechanisms.join("\0")}\0\0`)

export const saslContinue = (text: string): Buffer => encodeMessage("R", int32(authentication.saslContinue), text)

export const saslFinal = (text: string): Buffer => encodeMessage("R", int32(authentication.saslFinal), text)

export const saslInitialResponse = (mechanism: string, text: string): Buffer =>
  encodeMessage("p", `${mechanism}\0`, int32(Buffer.byteLength(text)), text)

export const saslResponse = (text: string): Buffer => encodeMessage("p", text)

/** The mechanism and the text of a SASLInitialResponse; `undefined` if it is malformed or has no text. */
export const readInitialResponse = (
  body: Buffer
): { readonly mechanism: string; readonly text: string } | undefined => {
  const end = body.indexOf(0)
  if (end === -1 || body.length < end + 5 || body.readInt32BE(end + 1) !== body.length - end - 5) return undefined
  return { mechanism: body.toString("latin1", 0, end), text: body.toString("latin1", end + 5) }
}

/** The code of an Authentication message, and the text after it. */
export const readAuthentication = (body: Buffer): { readonly code: number; readonly text: string } =>
  body.length < 4
    ? { code: authentication.ok, text: "" }
    : { code: body.readInt32BE(0), text: body.toString("latin1", 4) }

/** The newest minor version of the protocol that this proxy speaks: 3.2 differs from 3.0 in the length of cancel keys. */
export const newestMinor = 2

/** Tells a client that asked for more which minor version is spoken, and which of its options are unknown. */
export const negotiateProtocolVersion = (options: ReadonlyArray<string>): Buffer =>
  encodeMessage(
    "v",
    int32(0x30000 + newestMinor),
    int32(options.length),
    Buffer.from(options.map((name) => `${name}\0`).join(""), "latin1")
  )

/** BackendKeyData, whose body is a process id and a secret. */
export const backendKeyData = (key: Buffer): Buffer => encodeMessage("K", key)
