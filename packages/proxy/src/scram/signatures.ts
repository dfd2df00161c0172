/** The computations of both ends of SCRAM-SHA-256 (RFC 5802, section 3). Pure. */
import { createHash, createHmac, randomBytes } from "node:crypto"

export const hmac = (key: Buffer, text: string): Buffer => createHmac("sha256", key).update(text).digest()

export const sha256 = (bytes: Buffer): Buffer => createHash("sha256").update(bytes).digest()

/** The operands have the same length. */
export const xor = (a: Buffer, b: Buffer): Buffer => Buffer.from(a.map((byte, at) => byte ^ (b[at] ?? 0)))

/** 144 random bits in printable characters, as many as Postgres uses. */
export const makeNonce = (): string => randomBytes(18).toString("base64")

/** The value of an attribute at this place of a message; `undefined` if another one is there. */
export const attribute = (text: string | undefined, name: string): string | undefined =>
  text?.startsWith(`${name}=`) ? text.slice(name.length + 1) : undefined
