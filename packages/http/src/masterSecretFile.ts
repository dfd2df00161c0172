/**
 * The master secret in a file of the data directory: generated once, read at every start.
 *
 * Pitfall: generating a new one because the file is missing. No signing key in the store could be opened and every API
 * key would be unknown. A missing file while keys exist is an error.
 */
import { randomBytes } from "node:crypto"
import { join } from "node:path"
import { Effect, Layer, Schema } from "effect"
import { MasterSecret, masterSecretLength, readMasterSecret } from "./MasterSecret.ts"
import { codeOf, readPrivateFile, writePrivateFile } from "./privateFile.ts"

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
    text = yield* onDisk(() => writePrivateFile(path, `${randomBytes(masterSecretLength).toString("base64url")}\n`))
  }
  const secret = readMasterSecret(text)
  if (secret === undefined) {
    return yield* new MasterSecretUnusable({
      path,
      reason: `It does not hold ${masterSecretLength} bytes as base64url.`
    })
  }
  return secret
})

/**
 * From the data directory. `keysExist` answers whether the store holds signing keys; it is asked when the file is not
 * there.
 */
export const layerMasterSecretFile = <E, R>(
  dataDir: string,
  keysExist: Effect.Effect<boolean, E, R>
): Layer.Layer<MasterSecret, MasterSecretMissing | MasterSecretUnusable | E, R> =>
  Layer.unwrap(Effect.map(loadMasterSecret(dataDir, keysExist), MasterSecret.layerGiven))
