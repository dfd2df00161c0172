/** SHA-256 and HMAC-SHA-256 by the platform's Web Crypto, as base64url text. */
import { Effect } from "effect"
import { Base64Url } from "effect/encoding"

const utf8 = new TextEncoder()

/** The digest of a text, for comparing secrets that are random already (codes, states, tokens). */
export const sha256 = (text: string): Effect.Effect<string> =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", utf8.encode(text))),
    (bytes) => Base64Url.encode(new Uint8Array(bytes))
  )

/** HMAC-SHA-256 with one key. Importing the key is a third of the cost, so it is imported once. */
export const hmacSha256With = (
  key: Uint8Array<ArrayBuffer>
): Effect.Effect<(data: Uint8Array<ArrayBuffer>) => Effect.Effect<Uint8Array<ArrayBuffer>>> =>
  Effect.map(
    Effect.promise(() =>
      globalThis.crypto.subtle.importKey("raw", key, { name: "HMAC", hash: "SHA-256" }, false, ["sign"])
    ),
    (imported) => (data) =>
      Effect.promise(async () => new Uint8Array(await globalThis.crypto.subtle.sign("HMAC", imported, data)))
  )

export const hmacSha256 = (
  key: Uint8Array<ArrayBuffer>,
  data: Uint8Array<ArrayBuffer>
): Effect.Effect<Uint8Array<ArrayBuffer>> => Effect.flatMap(hmacSha256With(key), (sign) => sign(data))

/** Compares in a time that depends only on the lengths. */
export const equalInConstantTime = (a: string, b: string): boolean => {
  let difference = a.length ^ b.length
  for (let index = 0; index < a.length; index++)
    difference |= a.charCodeAt(index) ^ b.charCodeAt(index % (b.length || 1))
  return difference === 0
}
