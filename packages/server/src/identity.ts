/** Identity in one process: the master secret, signing keys, peppers of API keys, and identity providers. */
import type { SignInProvider } from "@narthex/console"
import { KeyDigester, layerSecretSealer } from "@narthex/core"
import {
  JoseTokenSigner,
  layerMasterSecretFile,
  MasterSecret,
  nodeHmacSha256,
  type OpenIdProvider,
  OpenIdProviders,
  signingKeysExist
} from "@narthex/http"
import { Effect, Layer } from "effect"
import type { Addresses } from "./addresses.ts"
import { startDevProviders } from "./devProviders.ts"
import type { Settings } from "./settings/Settings.ts"

export const layerMasterSecret = (settings: Settings) =>
  settings.master_secret === null
    ? layerMasterSecretFile(settings.data_dir, signingKeysExist)
    : MasterSecret.layerGiven(settings.master_secret)

export const layerSigner = (issuer: string, [present, ...others]: Settings["key_peppers"]) =>
  Layer.mergeAll(
    JoseTokenSigner.layer({ issuer }),
    Layer.unwrap(Effect.map(MasterSecret, ({ key }) => layerSecretSealer(key("webhook-secrets")))),
    Layer.unwrap(
      Effect.gen(function* () {
        const { pepper } = yield* MasterSecret
        const [now, before] = [yield* pepper(present), yield* Effect.forEach(others, pepper)]
        return KeyDigester.layerBy(nodeHmacSha256, now, ...before)
      })
    )
  )

/** The configured providers, and the development ones if the settings ask for them. */
export const startProviders = Effect.fnUntraced(function* (settings: Settings, addresses: Addresses) {
  const configured = settings.providers
  if (addresses.dev_providers === null) return configured
  const development = yield* startDevProviders({
    ports: addresses.dev_providers,
    dataDir: settings.data_dir,
    consoleUrl: addresses.console.url
  })
  return [...configured, ...development]
})

export const layerIdentityProviders = (providers: ReadonlyArray<OpenIdProvider>) => OpenIdProviders.layer(providers)

/** The providers in the form of the console, whose client id is the first of each. */
export const signInProviders = (providers: ReadonlyArray<OpenIdProvider>): ReadonlyArray<SignInProvider> =>
  providers.flatMap(({ client_ids: [client_id], client_secret, id, issuer, name, response_mode }) =>
    client_id === undefined ? [] : [{ id, name, issuer, client_id, client_secret, response_mode }]
  )
