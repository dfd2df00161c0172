/**
 * The text of an API key: `nsk_`, 43 base62 digits (256 random bits), 6 base62 digits of CRC-32 (docs/design/api.md,
 * API keys).
 *
 * The checksum tells a typing error from an unknown key without asking the store, and gives secret scanners a
 * pattern with few false hits: `\bnsk_[0-9A-Za-z]{49}\b`.
 */
import { Effect, Redacted } from "effect"
import { Entropy } from "../../Entropy.ts"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
const pattern = /^nsk_[0-9A-Za-z]{49}$/

const base62 = (value: bigint, width: number): string => {
  let rest = value
  let digits = ""
  while (rest > 0n) {
    digits = alphabet.charAt(Number(rest % 62n)) + digits
    rest /= 62n
  }
  return digits.padStart(width, "0")
}

/** The lookup table of the CRC: the remainder of each byte. */
const remainders = Uint32Array.from({ length: 256 }, (_, byte) => {
  let crc = byte
  for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0xedb88320 : 0)
  return crc
})

/** CRC-32 (IEEE 802.3), reflected, of ASCII text, or of its first `length` characters. */
export const crc32 = (text: string, length = text.length): number => {
  let crc = 0xffffffff
  for (let at = 0; at < length; at++) crc = (crc >>> 8) ^ (remainders[(crc ^ text.charCodeAt(at)) & 0xff] ?? 0)
  return (crc ^ 0xffffffff) >>> 0
}

const withChecksum = (body: string) => body + base62(BigInt(crc32(body)), 6)

const bodyLength = 47

/** In plain numbers, without a new text: this runs for each request with a key. */
const hasChecksum = (text: string): boolean => {
  let rest = crc32(text, bodyLength)
  for (let at = bodyLength + 5; at >= bodyLength; at--) {
    if (alphabet.charCodeAt(rest % 62) !== text.charCodeAt(at)) return false
    rest = Math.floor(rest / 62)
  }
  return true
}

/** A fresh secret. It is shown once and stored only as a digest. */
export const makeKeySecret: Effect.Effect<Redacted.Redacted> = Effect.gen(function* () {
  const bytes = yield* (yield* Entropy).bytes(32)
  const value = bytes.reduce((sum, byte) => (sum << 8n) | BigInt(byte), 0n)
  return Redacted.make(withChecksum(`nsk_${base62(value, 43)}`), { label: "api key" })
})

/** Whether the text has the form and the checksum of a key. */
export const isKeySecret = (text: string): boolean => pattern.test(text) && hasChecksum(text)

/** Whether the text has the form of a key, whatever its checksum. With a wrong checksum, a character was changed. */
export const resemblesKeySecret = (text: string): boolean => pattern.test(text)

/** The part of a secret that listings show. */
export const hintOf = (secret: Redacted.Redacted): string => `…${Redacted.value(secret).slice(-4)}`
