/**
 * The development identity providers, loaded only when the settings ask for them: a production server does not install
 * `@narthex/dev-providers`, an optional peer dependency.
 *
 * Pitfall: a static import. The server would not start without the package, although nothing asked for it.
 */
import type { OpenIdProvider } from "@narthex/http"
import { Context, Effect, Layer, Schema } from "effect"

/** The settings ask for development providers, and their package is not installed. */
export class DevProvidersMissing extends Schema.TaggedError<DevProvidersMissing>()("DevProvidersMissing", {}) {
  override get message() {
    return "NARTHEX_DEV_PROVIDERS is on, but the package @narthex/dev-providers is not installed. Install it (npm install @narthex/dev-providers), or set NARTHEX_DEV_PROVIDERS=false."
  }
}

/** The client id of the platform at the development providers. */
const devClientId = "narthex"

export interface DevProvidersPlan {
  /** One port for each provider. */
  readonly ports: readonly [number, number]
  readonly dataDir: string
  /** The console's own URL: sign-ins return there. */
  readonly consoleUrl: string
}

/**
 * Whether the package itself is missing, and not one of its dependencies. In the bundle of the server its code is there
 * in any case, and what is missing is `oidc-provider`, imported from elsewhere than from the package.
 */
const isMissing = (cause: unknown) => {
  if (!(cause instanceof Error)) return false
  const [named = "", importer = ""] = cause.message.split(" imported from ")
  if (named === "Cannot find package '@narthex/dev-providers'") return true
  return named === "Cannot find package 'oidc-provider'" && !importer.includes("dev-providers")
}

const installed = () => import("@narthex/dev-providers")

/** Starts both providers for as long as the scope lasts. `load` imports their package. */
export const startDevProviders = Effect.fnUntraced(function* (
  { consoleUrl, dataDir, ports }: DevProvidersPlan,
  load: typeof installed = installed
) {
  const { DevProviders } = yield* Effect.promise(load).pipe(
    Effect.catchDefect((cause) => (isMissing(cause) ? Effect.fail(new DevProvidersMissing()) : Effect.die(cause)))
  )
  const layer = DevProviders.layer({
    ports,
    host: "127.0.0.1",
    dataDir,
    clientId: devClientId,
    redirectUris: [new URL("/sign-in/callback", consoleUrl).href]
  })
  const running: ReadonlyArray<OpenIdProvider> = Context.get(yield* Layer.build(layer), DevProviders).providers
  return running
})
