/**
 * HMAC-SHA-256 by `node:crypto`, for `KeyDigester.layerBy`. Web Crypto hands each digest to another thread, which costs
 * twenty times as much as the digest.
 */
import { createHmac, createSecretKey } from "node:crypto"
import { Effect } from "effect"

export const nodeHmacSha256 = (
  key: Uint8Array<ArrayBuffer>
): Effect.Effect<(data: Uint8Array<ArrayBuffer>) => Effect.Effect<Uint8Array<ArrayBuffer>>> =>
  Effect.sync(() => {
    const secret = createSecretKey(key)
    return (data) => Effect.sync(() => new Uint8Array(createHmac("sha256", secret).update(data).digest()))
  })
