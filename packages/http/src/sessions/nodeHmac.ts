/**
 * HMAC-SHA-256 by `node:crypto`, for `KeyDigester.layerBy`. Web Crypto hands each digest to another thread, which costs
 * twenty times as much as the digest.
 */
import { createHmac, createSecretKey } from "node:crypto"
import type { Hmac } from "@narthex/core"
import { Effect } from "effect"

export const nodeHmacSha256: Hmac = (key) =>
  Effect.sync(() => {
    const secret = createSecretKey(key)
    return (text) => Effect.sync(() => createHmac("sha256", secret).update(text).digest("base64url"))
  })
