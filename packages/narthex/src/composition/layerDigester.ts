/**
 * Digests of API keys by the runtime's own SHA-256 where it answers at once, else by Web Crypto, which hands each digest to
 * another thread and back. Nothing is imported for it: workers have no such module.
 */
import { type Hashing, hmacByHash, KeyDigester, type Pepper } from "@narthex/core"
import type { Layer } from "effect"

/** The used members of `node:buffer` and `node:crypto`. */
interface NodeModule {
  readonly Buffer?: { readonly alloc: Hashing["alloc"] }
  readonly hash?: Hashing["hash"]
}

const nodeHashing = (): Hashing | undefined => {
  // The global of Node and of compatible runtimes. Other runtimes have no `process`, or one of another form.
  const { process } = globalThis as { process?: { getBuiltinModule?: (name: string) => NodeModule | undefined } }
  const hash = process?.getBuiltinModule?.("node:crypto")?.hash
  const alloc = process?.getBuiltinModule?.("node:buffer")?.Buffer?.alloc
  return hash === undefined || alloc === undefined ? undefined : { hash, alloc }
}

/** `former`: of a rotation, whose keys still work. */
export const layerDigester = (pepper: Pepper, ...former: ReadonlyArray<Pepper>): Layer.Layer<KeyDigester> => {
  const hashing = nodeHashing()
  return hashing === undefined
    ? KeyDigester.layer(pepper, ...former)
    : KeyDigester.layerBy(hmacByHash(hashing), pepper, ...former)
}
