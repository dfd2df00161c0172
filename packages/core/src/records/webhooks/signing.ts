/** The signatures of Standard Webhooks, symmetric: `v1,` and the HMAC-SHA-256 of id, time and body (docs/design/webhooks.md H4). */
import { Effect, Redacted, Result } from "effect"
import { Base64 } from "effect/encoding"
import { hmacSha256 } from "../../Digest.ts"
import { Entropy } from "../../Entropy.ts"

const prefix = "whsec_"
const secretBytes = 32

/** A new secret: `whsec_` and 32 random bytes as base64. */
export const makeSigningSecret: Effect.Effect<Redacted.Redacted> = Effect.gen(function* () {
  const bytes = yield* (yield* Entropy).bytes(secretBytes)
  return Redacted.make(prefix + Base64.encode(bytes), { label: "signing secret" })
})

const utf8 = new TextEncoder()

const signature = Effect.fnUntraced(function* (secret: Redacted.Redacted, content: string) {
  const key = Result.getOrThrow(Base64.decode(Redacted.value(secret).slice(prefix.length)))
  return `v1,${Base64.encode(yield* hmacSha256(new Uint8Array(key), utf8.encode(content)))}`
})

export interface SignedMessage {
  readonly id: string
  /** Seconds since the epoch, of the attempt. */
  readonly timestamp: number
  readonly body: string
}

/** The headers of a message, with a signature by each of the secrets. */
export const signedHeaders = Effect.fnUntraced(function* (
  { body, id, timestamp }: SignedMessage,
  secrets: ReadonlyArray<Redacted.Redacted>
) {
  const signatures = yield* Effect.forEach(secrets, (secret) => signature(secret, `${id}.${timestamp}.${body}`))
  return {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signatures.join(" ")
  }
})
