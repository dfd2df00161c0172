/**
 * The signing key of one development issuer, kept in a private file (PKCS#8) so that tokens stay valid over a restart.
 *
 * Pitfall: overwriting a file that holds no such key. It may be a key of another program, so it is reported and left
 * unchanged.
 */
import { createHash, createPrivateKey, createPublicKey, generateKeyPair, type KeyObject } from "node:crypto"
import { promisify } from "node:util"
import { codeOf, readPrivateFile, writePrivateFile } from "@narthex/http"
import { Effect, Schema } from "effect"

export type SigningAlgorithm = "RS256" | "ES256"

export interface SigningKey {
  readonly alg: SigningAlgorithm
  /** RFC 7638 thumbprint: the same key has the same id after a restart. */
  readonly kid: string
  readonly key: KeyObject
}

/** The signing key can be neither read nor generated. `reason` is a sentence for the operator. */
export class SigningKeyUnusable extends Schema.TaggedError<SigningKeyUnusable>()("SigningKeyUnusable", {
  path: Schema.String,
  reason: Schema.String
}) {
  override get message() {
    return `The development provider's signing key ${this.path} cannot be used. ${this.reason}`
  }
}

const generate = promisify(generateKeyPair)

const newPem = async (alg: SigningAlgorithm): Promise<string> => {
  const { privateKey } =
    alg === "RS256" ? await generate("rsa", { modulusLength: 2048 }) : await generate("ec", { namedCurve: "P-256" })
  return privateKey.export({ format: "pem", type: "pkcs8" }).toString()
}

const fits = (key: KeyObject, alg: SigningAlgorithm) =>
  alg === "RS256"
    ? key.asymmetricKeyType === "rsa" && (key.asymmetricKeyDetails?.modulusLength ?? 0) >= 2048
    : key.asymmetricKeyType === "ec" && key.asymmetricKeyDetails?.namedCurve === "prime256v1"

const thumbprint = (key: KeyObject) => {
  const { crv, e, kty, n, x, y } = createPublicKey(key).export({ format: "jwk" })
  // The members of RFC 7638 §3.2 in its order; those that the key type lacks are undefined and left out.
  return createHash("sha256").update(JSON.stringify({ crv, e, kty, n, x, y })).digest("base64url")
}

/** The key in `path`, generated at the first start. */
export const loadSigningKey = Effect.fn("loadSigningKey")(function* (path: string, alg: SigningAlgorithm) {
  const pem = yield* Effect.tryPromise({
    try: async () => (await readPrivateFile(path)) ?? (await writePrivateFile(path, await newPem(alg))),
    catch: (cause) => new SigningKeyUnusable({ path, reason: `The file system answered ${codeOf(cause)}.` })
  })
  const unfit = new SigningKeyUnusable({
    path,
    reason: `It holds no private key for ${alg}. Remove the file; the next start generates a new key.`
  })
  const key = yield* Effect.try({ try: () => createPrivateKey(pem), catch: () => unfit })
  if (!fits(key, alg)) return yield* unfit
  const signing: SigningKey = { alg, kid: thumbprint(key), key }
  return signing
})
