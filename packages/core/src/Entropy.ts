/**
 * Where unpredictable bytes come from. Every id, secret, code and password is made of these.
 *
 * By default the platform's Web Crypto, which browsers, Node, Deno and workers all have. Tests provide their own.
 */
import { Context, Effect } from "effect"

export interface EntropySource {
  /** `count` fresh bytes of cryptographic quality; the caller owns the array. */
  readonly bytes: (count: number) => Effect.Effect<Uint8Array<ArrayBuffer>>
}

export const Entropy = Context.Reference<EntropySource>("@narthex/core/Entropy", {
  defaultValue: () => ({
    bytes: (count) => Effect.sync(() => globalThis.crypto.getRandomValues(new Uint8Array(count)))
  })
})
