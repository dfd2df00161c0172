/**
 * The one secret that an installation must keep: it wraps the signing keys, and every other secret of the platform's
 * own is derived from it (HKDF-SHA-256, one label for each use, so that none tells anything about another).
 *
 * It is given in the settings, or made once in the data directory.
 *
 * Pitfall: making a new one because the file is gone. The signing keys in the store could not be opened any more and
 * every API key would be unknown. A missing file while keys exist is an error, never a fresh start.
 */
import { hkdfSync, randomBytes } from "node:crypto"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { codeOf, readPrivateFile, writePrivateFile } from "./privateFile.ts"

/** What a derived secret is for. The words are part of the derivation: changing one changes the secret. */
export type SecretPurpose = "signing-key-wrapping" | "console-cookie" | "console-token" | "proxy-token"

/** The master secret was there once, and is not any more. */
export class MasterSecretMissing extends Schema.TaggedError<MasterSecretMissing>()("MasterSecretMissing", {
  path: Schema.String
}) {
  override get message() {
    return `The master secret ${this.path} is missing, but the store holds signing keys that were wrapped with it. Put the file back, or give NARTHEX_MASTER_SECRET.`
  }
}

/** The master secret cannot be read, written or understood. `reason` is a sentence for the operator. */
export class MasterSecretUnusable extends Schema.TaggedError<MasterSecretUnusable>()("MasterSecretUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The master secret ${this.path} cannot be used. ${this.reason}`
  }
}

const length = 32

/** 32 bytes as base64url, the one spelling that encoding gives; `undefined` when the text is not that. */
export const readMasterSecret = (text: string): Redacted.Redacted | undefined => {
  const spelled = text.trim().replace(/=$/, "")
  const bytes = Buffer.from(spelled, "base64url")
  return bytes.length === length && bytes.toString("base64url") === spelled
    ? Redacted.make(spelled, { label: "master secret" })
    : undefined
}

export class MasterSecret extends Context.Service<
  MasterSecret,
  {
    /** 32 bytes for this use alone. */
    readonly key: (purpose: SecretPurpose) => Redacted.Redacted<Uint8Array<ArrayBuffer>>
    /** The same as text that fits in a header. */
    readonly token: (purpose: SecretPurpose) => Redacted.Redacted
    /** The pepper of API keys, as the core's `KeyDigester` takes it; a rotation goes to the next generation. */
    readonly pepper: (generation: number) => {
      readonly id: string
      readonly key: Redacted.Redacted<Uint8Array<ArrayBuffer>>
    }
  }
>()("@narthex/http/MasterSecret") {
  /** From the settings; the text has been read with `readMasterSecret`. */
  static readonly layerGiven = (secret: Redacted.Redacted): Layer.Layer<MasterSecret> =>
    Layer.sync(MasterSecret, () => {
      const master = Buffer.from(Redacted.value(secret), "base64url")
      const derive = (label: string) =>
        Redacted.make(new Uint8Array(hkdfSync("sha256", master, "narthex", `narthex/v1/${label}`, 32)), { label })
      return {
        key: derive,
        token: (purpose) =>
          Redacted.make(Buffer.from(Redacted.value(derive(purpose))).toString("base64url"), { label: purpose }),
        pepper: (generation) => ({ id: `p${generation}`, key: derive(`api-key-pepper/${generation}`) })
      }
    })

  /** From the data directory. `keysExist` answers whether the store holds signing keys; it is asked when the file is not there. */
  static readonly layerEmbedded = <E, R>(
    dataDir: string,
    keysExist: Effect.Effect<boolean, E, R>
  ): Layer.Layer<MasterSecret, MasterSecretMissing | MasterSecretUnusable | E, R> =>
    Layer.unwrap(Effect.map(loadMasterSecret(dataDir, keysExist), MasterSecret.layerGiven))
}

/** The master secret in the data directory, made at the first start. */
export const loadMasterSecret = Effect.fn("loadMasterSecret")(function* <E, R>(
  dataDir: string,
  keysExist: Effect.Effect<boolean, E, R>
) {
  const path = join(dataDir, "master-secret")
  const onDisk = <A>(work: () => Promise<A>) =>
    Effect.tryPromise({
      try: work,
      catch: (cause) => new MasterSecretUnusable({ path, reason: `The file system answered ${codeOf(cause)}.` })
    })

  let text = yield* onDisk(() => readPrivateFile(path))
  if (text === undefined) {
    if (yield* keysExist) return yield* new MasterSecretMissing({ path })
    // On disk before any signing key is wrapped with it.
    text = yield* onDisk(() => writePrivateFile(path, `${randomBytes(length).toString("base64url")}\n`))
  }
  const secret = readMasterSecret(text)
  if (secret === undefined) {
    return yield* new MasterSecretUnusable({ path, reason: `It does not hold ${length} bytes as base64url.` })
  }
  return secret
})
