/** Secrets that depend on the master secret: the pepper of API keys and the keys that sign session tokens. */
import type { NarthexError } from "@narthex/api"
import { layerSecretSealer } from "@narthex/core"
import { JoseTokenSigner, MasterSecret, readMasterSecret } from "@narthex/http/web"
import { Effect, Layer } from "effect"
import { invalidOptions } from "../failures/failures.ts"
import type { CoreOptions } from "../options/ControlPlaneOptions.ts"
import { layerDigester } from "./layerDigester.ts"

const howToMake = "Make one with `openssl rand -base64 32 | tr '+/' '-_' | tr -d '='` and keep it as long as the data."

/** The secret that the host's function reads. The host has to correct a failure, whose text may have the secret. */
const given = (read: () => Promise<unknown>) =>
  Effect.tryPromise({
    try: async () => read(),
    catch: (error) => invalidOptions("secret: the function that reads it failed. The cause says why.", error)
  })

const layerMaster = ({ secret, storage }: CoreOptions): Layer.Layer<MasterSecret, NarthexError> => {
  if (secret === undefined)
    return storage?.durable === true
      ? Layer.effectDiscard(
          Effect.fail(
            invalidOptions(`secret: storage that outlives the process needs a secret that does. ${howToMake}`)
          )
        ).pipe(Layer.provideMerge(MasterSecret.layerRandom))
      : MasterSecret.layerRandom
  return Layer.unwrap(
    Effect.gen(function* () {
      const text = yield* typeof secret === "string" ? Effect.succeed(secret) : given(secret)
      const read = typeof text === "string" ? readMasterSecret(text) : undefined
      if (read === undefined)
        return yield* Effect.fail(
          invalidOptions(`secret: expected 32 bytes as base64url (43 characters). ${howToMake}`)
        )
      return MasterSecret.layerGiven(read)
    })
  )
}

const layerPeppers = ({ peppers: [present = 1, ...others] = [] }: CoreOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { pepper } = yield* MasterSecret
      return layerDigester(yield* pepper(present), ...(yield* Effect.forEach(others, pepper)))
    })
  )

const layerSealer = Layer.unwrap(Effect.map(MasterSecret, ({ key }) => layerSecretSealer(key("webhook-secrets"))))

/** Token signer, key digester and the sealer of webhooks' secrets, over the store of signing keys. */
export const layerSecrets = (options: CoreOptions) =>
  Layer.mergeAll(
    JoseTokenSigner.layer({ issuer: options.issuer ?? "narthex" }),
    layerPeppers(options),
    layerSealer
  ).pipe(Layer.provide(layerMaster(options)))
