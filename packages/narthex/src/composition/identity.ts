/** The identity providers of the options. */
import type { NarthexError } from "@narthex/api"
import type { IdentityProvider } from "@narthex/core"
import { OpenIdProvider, OpenIdProviders } from "@narthex/http/web"
import { Effect, Layer, Schema } from "effect"
import { invalidOptions } from "../failures/failures.ts"
import type { CoreOptions, Provider } from "../options/ControlPlaneOptions.ts"

const decode = Schema.decodeUnknownEffect(Schema.Array(OpenIdProvider), { errors: "all", onExcessProperty: "error" })

const isList = (identity: NonNullable<CoreOptions["identity"]>): identity is ReadonlyArray<Provider> =>
  Array.isArray(identity)

export const layerIdentity = ({ identity = [] }: CoreOptions): Layer.Layer<IdentityProvider, NarthexError> =>
  isList(identity)
    ? Layer.unwrap(
        decode(identity).pipe(
          Effect.map((providers) => OpenIdProviders.layer(providers)),
          Effect.mapError((error) => invalidOptions(`identity: ${error.message}`))
        )
      )
    : identity
