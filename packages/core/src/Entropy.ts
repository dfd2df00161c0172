/**
 * Port: where unpredictable bytes come from. Every id, secret, code and password is made of these.
 *
 * The layer here asks the platform's Web Crypto, which browsers, Node, Deno and workers all have.
 */
import { Context, Effect, Layer } from "effect"

export class Entropy extends Context.Service<
  Entropy,
  {
    /** `count` fresh bytes of cryptographic quality; the caller owns the array. */
    readonly bytes: (count: number) => Effect.Effect<Uint8Array<ArrayBuffer>>
  }
>()("@narthex/core/Entropy") {
  static readonly layer: Layer.Layer<Entropy> = Layer.succeed(Entropy, {
    bytes: (count) => Effect.sync(() => globalThis.crypto.getRandomValues(new Uint8Array(count)))
  })
}
