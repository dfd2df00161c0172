/**
 * Digests of API keys by the runtime's own HMAC where it has one, else by Web Crypto, which hands each digest to another
 * thread and back. Nothing is imported for it: workers have no such module.
 */
import { KeyDigester, type Pepper } from "@narthex/core"
import { Effect, type Layer } from "effect"

/** What is used of `node:crypto`. */
interface NodeHmac {
  update(text: string): NodeHmac
  digest(encoding: "base64url"): string
}
interface NodeCrypto {
  createSecretKey(key: Uint8Array): object
  createHmac(algorithm: "sha256", key: object): NodeHmac
}

const nodeCrypto = (): NodeCrypto | undefined => {
  // The global of Node, and of what is compatible with it; other runtimes have none, or none of this form.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => NodeCrypto | undefined } }
  return process?.getBuiltinModule?.("node:crypto")
}

export const layerDigester = (pepper: Pepper): Layer.Layer<KeyDigester> => {
  const crypto = nodeCrypto()
  if (crypto === undefined) return KeyDigester.layer(pepper)
  return KeyDigester.layerBy(
    (key) =>
      Effect.sync(() => {
        const secret = crypto.createSecretKey(key)
        return (text) => Effect.sync(() => crypto.createHmac("sha256", secret).update(text).digest("base64url"))
      }),
    pepper
  )
}
