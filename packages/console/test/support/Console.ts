/** A console over real HTTP, with a control plane in memory and the development providers. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { DevProviders } from "@narthex/dev-providers"
import { ConfigProvider, Duration, Effect, Layer, Redacted, References } from "effect"
import type { ControlPlaneOptions } from "narthex"
import { type ConsoleConfig, ConsoleListener, callbackUrl, layerConsoleServer } from "../../src/index.ts"
import { Api, consoleToken } from "./Api.ts"

export const cookieKey = Redacted.make(new Uint8Array(32).fill(7))

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-console-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** Where the providers listen, and how they answer. */
export interface TestProviders {
  /** Default: the address of the console. With another one they are another site. */
  readonly host?: string
  readonly response_mode?: "form_post"
}

const providersAt = ({ host = "127.0.0.1" }: TestProviders) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { url } = yield* ConsoleListener
      const options = {
        ports: [0, 0] as const,
        host,
        clientId: "narthex-console",
        redirectUris: [callbackUrl(url)],
        dataDir: yield* directory
      }
      return DevProviders.layer(options).pipe(Layer.provide(ConfigProvider.layer(ConfigProvider.fromUnknown({}))))
    })
  )

const served = (more: Partial<ConsoleConfig>, { response_mode }: TestProviders) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { providers } = yield* DevProviders
      return layerConsoleServer({
        api_url: plane.url,
        console_url: null,
        console_token: Redacted.make(consoleToken),
        cookie_key: cookieKey,
        providers: providers.map(({ client_ids, id, issuer, name }) => ({
          id,
          name,
          issuer,
          client_id: client_ids[0] ?? "",
          response_mode
        })),
        trusted_hops: 0,
        ...more
      })
    })
  )

/** The console, the API and the providers, on free ports. */
export const layerTestConsole = (
  more: Partial<ConsoleConfig> = {},
  options: ControlPlaneOptions = {},
  shutdown_grace = Duration.seconds(10),
  providers: TestProviders = {}
) =>
  served(more, providers).pipe(
    Layer.provideMerge(Api.layer(options)),
    Layer.provideMerge(providersAt(providers)),
    Layer.provideMerge(ConsoleListener.layer({ host: "127.0.0.1", port: 0, shutdown_grace })),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "Fatal"))
  )

export const consoleUrl = Effect.map(ConsoleListener, ({ url }) => url)
