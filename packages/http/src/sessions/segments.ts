/** The segments of a compact JWS as text. Bytes that are no base64url or no UTF-8 are `undefined`, never mended. */
import { Result } from "effect"
import { Base64Url } from "effect/encoding"

/** Base64url has unused bits at the end, so the same bytes have several encodings; only the canonical one is accepted. */
export const isCanonical = (segment: string): boolean =>
  Result.match(Base64Url.decode(segment), {
    onFailure: () => false,
    onSuccess: (bytes) => Base64Url.encode(bytes) === segment
  })

export const textOf = (segment: string): string | undefined =>
  Result.match(Base64Url.decode(segment), { onFailure: () => undefined, onSuccess: utf8 })

/** `undefined` for bytes that are not UTF-8, which no schema accepts as JSON. */
export const utf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes)
  } catch {
    return undefined
  }
}
