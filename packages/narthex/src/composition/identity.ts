/** The identity providers of the options. */
import type { IdentityProvider } from "@narthex/core"
import { OpenIdProvider, OpenIdProviders } from "@narthex/http/web"
import { Effect, Layer, Schema } from "effect"
import type { CoreOptions, Provider } from "../options/ControlPlaneOptions.ts"
import { InvalidOptions } from "../options/InvalidOptions.ts"

const decode = Schema.decodeUnknownEffect(Schema.Array(OpenIdProvider), { errors: "all", onExcessProperty: "error" })

const isList = (identity: NonNullable<CoreOptions["identity"]>): identity is ReadonlyArray<Provider> =>
  Array.isArray(identity)

export const layerIdentity = ({ identity = [] }: CoreOptions): Layer.Layer<IdentityProvider, InvalidOptions> =>
  isList(identity)
    ? Layer.unwrap(
        decode(identity).pipe(
          Effect.map((providers) => OpenIdProviders.layer(providers)),
          Effect.mapError((error) => new InvalidOptions(`identity: ${error.message}`))
        )
      )
    : identity
