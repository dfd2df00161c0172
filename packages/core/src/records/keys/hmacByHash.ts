/**
 * HMAC-SHA-256 as two hashes (RFC 2104, section 2): of the padded key with the text, and of the padded key with the first
 * hash. A runtime that hashes at once, as Node's `crypto.hash` does, needs half the time of an object for each HMAC,
 * which costs more than what it computes.
 *
 * Pitfall: writing the text as Latin-1. Characters beyond it would lose bits, and two texts have one digest.
 */
import { Effect } from "effect"
import type { Hmac } from "./KeyDigester.ts"

/** The part of Node's byte arrays that is used: they write text in place. */
export interface Bytes extends Uint8Array<ArrayBuffer> {
  subarray(begin: number, end: number): Bytes
  /** Returns the number of bytes that were written. `binary`: one byte for each character. */
  write(text: string, offset: number, encoding: "utf8" | "binary"): number
}

/** The part of a runtime that is used: synchronous hashes, and buffers that are written in place. */
export interface Hashing {
  readonly hash: (algorithm: "sha256", data: Bytes, encoding: "binary" | "base64url") => string
  readonly alloc: (size: number, fill: number) => Bytes
}

const block = 64
const digestBytes = 32
/** Characters, of three bytes at most, that the shared buffer holds. An API key has 53. */
const usual = 256

/** HMAC-SHA-256 by a runtime's hash. A key is 64 bytes at most. */
export const hmacByHash =
  ({ alloc, hash }: Hashing): Hmac =>
  (key) =>
    Effect.sync(() => {
      if (key.length > block) throw new RangeError(`The key of an HMAC is longer than ${block} bytes.`)
      const padded = (size: number, pad: number) => {
        const bytes = alloc(block + size, pad)
        key.forEach((byte, at) => {
          bytes[at] = byte ^ pad
        })
        return bytes
      }
      // All calls share these buffers, because a call writes and reads them in one turn.
      const shared = padded(3 * usual, 0x36)
      const outer = padded(digestBytes, 0x5c)
      return (text) =>
        Effect.sync(() => {
          const inner = text.length > usual ? padded(3 * text.length, 0x36) : shared
          const end = block + inner.write(text, block, "utf8")
          outer.write(hash("sha256", inner.subarray(0, end), "binary"), block, "binary")
          inner.fill(0, block, end)
          return hash("sha256", outer, "base64url")
        })
    })
