/** Development providers on free ports, with a data directory of their own, as long as the scope lasts. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { ConfigProvider, Context, Effect, Layer, References } from "effect"
import { type DevProvider, DevProviders, type DevProvidersOptions } from "../src/DevProviders.ts"
import { callback, clientId } from "./signIn.ts"

export const dataDir = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-providers-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

export const settings = (dataDir: string, more: Partial<DevProvidersOptions> = {}): DevProvidersOptions => ({
  ports: [0, 0],
  host: "127.0.0.1",
  clientId,
  redirectUris: [callback],
  dataDir,
  ...more
})

export const start = (options: DevProvidersOptions, env: Record<string, string> = {}) =>
  Effect.map(
    Layer.build(Layer.provide(DevProviders.layer(options), ConfigProvider.layer(ConfigProvider.fromUnknown(env)))),
    (context): readonly [DevProvider, DevProvider] => {
      const [one, two] = Context.get(context, DevProviders).providers
      if (one === undefined || two === undefined) throw new Error("two providers are promised")
      return [one, two]
    }
  ).pipe(Effect.provideService(References.MinimumLogLevel, "Error"))

/** The development providers, with options that differ from those of `settings`. */
export const running = (more: Partial<DevProvidersOptions> = {}) =>
  Effect.flatMap(dataDir, (path) => start(settings(path, more)))
