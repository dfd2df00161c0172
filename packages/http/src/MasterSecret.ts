/**
 * The secret that an installation must keep: it wraps the signing keys, and the platform's other secrets are derived
 * from it (HKDF-SHA-256, a label per use, so that no derived secret reveals another).
 *
 * The secret comes from the settings or from a file (`masterSecretFile.ts`). For storage that ends with the process, it
 * is random.
 */
import { Entropy, type Pepper } from "@narthex/core"
import { Context, Effect, Layer, Redacted, Result } from "effect"
import { Base64Url } from "effect/encoding"

/** The uses of derived secrets. The labels are part of the derivation: another label is another secret. */
const purposes = ["signing-key-wrapping", "console-cookie", "console-token", "proxy-token", "webhook-secrets"] as const
export type SecretPurpose = (typeof purposes)[number]

/** The length of a master secret in bytes. */
export const masterSecretLength = 32

/** 32 bytes as base64url, the one spelling that encoding gives; `undefined` when the text is not that. */
export const readMasterSecret = (text: string): Redacted.Redacted | undefined => {
  const spelled = text.trim().replace(/=$/, "")
  const bytes = Result.getOrUndefined(Base64Url.decode(spelled))
  return bytes?.length === masterSecretLength && Base64Url.encode(bytes) === spelled
    ? Redacted.make(spelled, { label: "master secret" })
    : undefined
}

const utf8 = new TextEncoder()

/** HKDF by the platform's Web Crypto: 32 bytes for a label. */
const derivation = (master: Uint8Array<ArrayBuffer>) =>
  Effect.map(
    Effect.promise(() => globalThis.crypto.subtle.importKey("raw", master, "HKDF", false, ["deriveBits"])),
    (imported) => (label: string) =>
      Effect.promise(async () => {
        const algorithm = {
          name: "HKDF",
          hash: "SHA-256",
          salt: utf8.encode("narthex"),
          info: utf8.encode(`narthex/v1/${label}`)
        }
        const bits = await globalThis.crypto.subtle.deriveBits(algorithm, imported, 8 * masterSecretLength)
        return Redacted.make(new Uint8Array(bits), { label })
      })
  )

export class MasterSecret extends Context.Service<
  MasterSecret,
  {
    /** 32 bytes for this use only. */
    readonly key: (purpose: SecretPurpose) => Redacted.Redacted<Uint8Array<ArrayBuffer>>
    /** The same as base64url text, for headers. */
    readonly token: (purpose: SecretPurpose) => Redacted.Redacted
    /** The pepper of API keys; a rotation goes to the next generation. */
    readonly pepper: (generation: number) => Effect.Effect<Pepper>
  }
>()("@narthex/http/MasterSecret") {
  /** From the settings; the text has been read with `readMasterSecret`. */
  static readonly layerGiven = (secret: Redacted.Redacted): Layer.Layer<MasterSecret> =>
    Layer.effect(
      MasterSecret,
      Effect.gen(function* () {
        const master = Result.getOrThrow(Base64Url.decode(Redacted.value(secret)))
        const derive = yield* derivation(new Uint8Array(master))
        const keys = Object.fromEntries(
          yield* Effect.forEach(purposes, (purpose) => Effect.map(derive(purpose), (key) => [purpose, key] as const))
        ) as Record<SecretPurpose, Redacted.Redacted<Uint8Array<ArrayBuffer>>> // the entries are those of `purposes`
        return MasterSecret.of({
          key: (purpose) => keys[purpose],
          token: (purpose) => Redacted.make(Base64Url.encode(Redacted.value(keys[purpose])), { label: purpose }),
          pepper: (generation) =>
            Effect.map(derive(`api-key-pepper/${generation}`), (key) => ({ id: `p${generation}`, key }))
        })
      })
    )

  /** A random one, for storage that ends with the process. */
  static readonly layerRandom: Layer.Layer<MasterSecret> = Layer.unwrap(
    Effect.gen(function* () {
      const bytes = yield* (yield* Entropy).bytes(masterSecretLength)
      return MasterSecret.layerGiven(Redacted.make(Base64Url.encode(bytes), { label: "master secret" }))
    })
  )
}
