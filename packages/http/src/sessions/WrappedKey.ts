/**
 * A signing key between the store and the signer: generated, wrapped, unwrapped.
 *
 * The private JWK is a JWE (`dir`, A256GCM) under a key derived from the master secret.
 *
 * Pitfall: trusting the row's public key. Anyone who can write to the database could store a public key and sign with
 * its private part; so the public key is computed from what was wrapped, and the row's `kid` must be its thumbprint.
 */
import type { SigningKey } from "@narthex/core"
import { DateTime, Effect, Option, Redacted, Schema } from "effect"
import {
  CompactEncrypt,
  type CryptoKey,
  calculateJwkThumbprint,
  compactDecrypt,
  exportJWK,
  generateKeyPair,
  importJWK
} from "jose"
import { MasterSecret } from "../MasterSecret.ts"

const PrivateJwk = Schema.Struct({
  kty: Schema.Literal("OKP"),
  crv: Schema.Literal("Ed25519"),
  x: Schema.NonEmptyString,
  d: Schema.NonEmptyString
})
const PrivateJwkText = Schema.fromJsonString(PrivateJwk)
const encodeJwk = Schema.encodeSync(PrivateJwkText)
const decodeJwk = Schema.decodeUnknownSync(PrivateJwkText)

/** An unwrapped key: its private part, its public part, and the JWK that is published. */
export interface OpenedKey {
  readonly kid: string
  readonly private_key: CryptoKey
  readonly public_key: CryptoKey
  readonly public_jwk: Readonly<Record<string, string>>
  readonly active_from: DateTime.Utc
  readonly retired_until: DateTime.Utc | null
}

/** The store holds signing keys that this master secret does not open. */
export class SigningKeysUnreadable extends Schema.TaggedError<SigningKeysUnreadable>()("SigningKeysUnreadable", {
  kids: Schema.Array(Schema.String)
}) {
  override get message() {
    return `The master secret does not open the signing keys in the store (${this.kids.join(", ")}). Start with the NARTHEX_MASTER_SECRET, or the data directory, that they were made with.`
  }
}

const wrapping = Effect.map(MasterSecret, (secret) => secret.key("signing-key-wrapping"))

/** A new Ed25519 key pair, wrapped. It signs from `activeFrom` on. */
export const makeSigningKey = Effect.fn("makeSigningKey")(function* (activeFrom: DateTime.Utc) {
  const secret = yield* wrapping
  const created_at = yield* DateTime.now
  return yield* Effect.promise(async (): Promise<SigningKey> => {
    const { privateKey } = await generateKeyPair("EdDSA", { crv: "Ed25519", extractable: true })
    const { d = "", x = "" } = await exportJWK(privateKey)
    const pub = { kty: "OKP", crv: "Ed25519", x } as const
    const kid = await calculateJwkThumbprint(pub, "sha256")
    const wrapped_private = await new CompactEncrypt(new TextEncoder().encode(encodeJwk({ ...pub, d })))
      .setProtectedHeader({ alg: "dir", enc: "A256GCM", kid })
      .encrypt(Redacted.value(secret))
    return {
      kid,
      public_jwk: JSON.stringify(pub),
      wrapped_private,
      created_at,
      active_from: activeFrom,
      retired_until: null
    }
  })
})

/** `None` if the master secret does not open it, or it is not the key that its row names. */
export const openSigningKey = Effect.fnUntraced(function* (row: SigningKey) {
  const secret = yield* wrapping
  return yield* Effect.tryPromise(async (): Promise<OpenedKey | undefined> => {
    const { plaintext } = await compactDecrypt(row.wrapped_private, Redacted.value(secret), {
      keyManagementAlgorithms: ["dir"],
      contentEncryptionAlgorithms: ["A256GCM"]
    })
    const { d, ...pub } = decodeJwk(new TextDecoder().decode(plaintext))
    if ((await calculateJwkThumbprint(pub, "sha256")) !== row.kid) return undefined
    const { active_from, kid, retired_until } = row
    return {
      kid,
      // Web Crypto checks that the private and the public part belong together.
      private_key: await imported({ ...pub, d }),
      public_key: await imported(pub),
      public_jwk: { ...pub, kid, alg: "EdDSA", use: "sig" },
      active_from,
      retired_until
    }
  }).pipe(Effect.option, Effect.map(Option.flatMap(Option.fromUndefinedOr)))
})

const imported = async (jwk: Parameters<typeof importJWK>[0]) => {
  const key = await importJWK(jwk, "EdDSA")
  if (key instanceof Uint8Array) throw new TypeError("an OKP key is never a byte string")
  return key
}
