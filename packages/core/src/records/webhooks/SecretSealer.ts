/**
 * Port: secrets that have to be read again, encrypted for storage (AES-256-GCM by the platform's Web Crypto).
 *
 * A sealed secret opens only for the object that it was sealed for, so a copy in another row opens nothing.
 */
import { Context, Effect, Layer, Redacted, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"
import { Entropy } from "../../Entropy.ts"

/** There is no key, or the key does not open this secret: another key sealed it, or it was changed. */
export class SecretUnreadable extends Schema.TaggedError<SecretUnreadable>()("SecretUnreadable", {}) {
  override get message() {
    return "The stored secret cannot be read with the present master secret."
  }
}

const utf8 = new TextEncoder()
const nonceBytes = 12

export interface Sealer {
  /** The secret as text that may be stored. `owner` is the id of the object that it belongs to. */
  readonly seal: (secret: Redacted.Redacted, owner: string) => Effect.Effect<string, SecretUnreadable>
  readonly open: (sealed: string, owner: string) => Effect.Effect<Redacted.Redacted, SecretUnreadable>
}

/** Left out: there is no key, so nothing can be sealed. */
export const SecretSealer = Context.Reference<Sealer>("@narthex/core/records/webhooks/SecretSealer", {
  defaultValue: () => ({ seal: () => new SecretUnreadable({}), open: () => new SecretUnreadable({}) })
})

/** `key`: 32 bytes, for this use alone. If it is lost, no sealed secret can be read. */
export const layerSecretSealer = (key: Redacted.Redacted<Uint8Array<ArrayBuffer>>): Layer.Layer<never> =>
  Layer.effect(
    SecretSealer,
    Effect.gen(function* () {
      const { bytes } = yield* Entropy
      const { subtle } = globalThis.crypto
      const imported = yield* Effect.promise(() =>
        subtle.importKey("raw", Redacted.value(key), "AES-GCM", false, ["encrypt", "decrypt"])
      )
      const algorithm = (iv: Uint8Array<ArrayBuffer>, owner: string) => ({
        name: "AES-GCM",
        iv,
        additionalData: utf8.encode(owner)
      })
      return {
        seal: Effect.fnUntraced(function* (secret, owner) {
          const nonce = yield* bytes(nonceBytes)
          const text = utf8.encode(Redacted.value(secret))
          const sealed = yield* Effect.promise(() => subtle.encrypt(algorithm(nonce, owner), imported, text))
          return `1.${Base64Url.encode(nonce)}.${Base64Url.encode(new Uint8Array(sealed))}`
        }),
        open: (sealed, owner) =>
          Effect.tryPromise({
            try: async () => {
              const [, nonce = "", text = ""] = sealed.split(".")
              const opened = await subtle.decrypt(algorithm(bytesOf(nonce), owner), imported, bytesOf(text))
              return Redacted.make(new TextDecoder().decode(opened), { label: "signing secret" })
            },
            catch: () => new SecretUnreadable({})
          })
      }
    })
  )

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => new Uint8Array(Result.getOrThrow(Base64Url.decode(text)))
