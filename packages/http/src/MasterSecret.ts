/**
 * The secret that an installation must keep: it wraps the signing keys, and the platform's other secrets are derived from
 * it (HKDF-SHA-256, a label per use, so that no derived secret reveals another).
 *
 * It comes from the settings, or is generated once in the data directory.
 *
 * Pitfall: generating a new one because the file is missing. No signing key in the store could be opened and every API
 * key would be unknown. A missing file while keys exist is an error.
 */
import { hkdfSync, randomBytes } from "node:crypto"
import { join } from "node:path"
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import { codeOf, readPrivateFile, writePrivateFile } from "./privateFile.ts"

/** The uses of derived secrets. The labels are part of the derivation: another label is another secret. */
export type SecretPurpose = "signing-key-wrapping" | "console-cookie" | "console-token" | "proxy-token"

/** The file of the master secret is missing, although the store holds keys that were wrapped with it. */
export class MasterSecretMissing extends Schema.TaggedError<MasterSecretMissing>()("MasterSecretMissing", {
  path: Schema.String
}) {
  override get message() {
    return `The master secret ${this.path} is missing, but the store holds signing keys that were wrapped with it. Restore the file, or set NARTHEX_MASTER_SECRET.`
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
    /** 32 bytes for this use only. */
    readonly key: (purpose: SecretPurpose) => Redacted.Redacted<Uint8Array<ArrayBuffer>>
    /** The same as base64url text, for headers. */
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
