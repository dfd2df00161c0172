/**
 * HMAC-SHA-256 by `node:crypto`, for `KeyDigester.layerBy`. Web Crypto hands each digest to another thread, which costs
 * twenty times as much as the digest.
 */
import { hash } from "node:crypto"
import { hmacByHash } from "@narthex/core"

export const nodeHmacSha256 = hmacByHash({ hash, alloc: (size, fill) => Buffer.alloc(size, fill) })
