/**
 * Two identity providers for development: plain OpenID Connect issuers on loopback that sign in anyone as anyone
 * (docs/design/settings.md S5, S9).
 *
 * Anyone who can reach them can sign in as anyone, so they refuse to start in production and on any address but
 * loopback. Their keys are kept in the data directory, so tokens stay valid over a restart.
 *
 * Pitfall: registering a console before its port is known. A redirect address must match exactly, so the port of the
 * console is decided first.
 */
import { join } from "node:path"
import { Config, Context, Effect, Layer, Option, Schema } from "effect"
import type { DevClient } from "./DevClient.ts"
import { makeIssuer } from "./Issuer.ts"
import { loadLibrary } from "./loadLater.ts"
import { isLoopback, type PortUnavailable, serveOnLoopback } from "./loopbackServer.ts"
import { loadSigningKey, type SigningAlgorithm, type SigningKeyUnusable } from "./SigningKey.ts"

/** Development providers may not run with these options. `reason` is a sentence for the operator. */
export class DevProvidersRefused extends Schema.TaggedError<DevProvidersRefused>()("DevProvidersRefused", {
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

/** A running issuer, in the form of an entry of `NARTHEX_PROVIDERS`. */
export interface DevProvider {
  readonly id: string
  readonly name: string
  readonly issuer: string
  readonly client_ids: ReadonlyArray<string>
  readonly algorithms: ReadonlyArray<SigningAlgorithm>
}

export interface DevProvidersOptions extends DevClient {
  /** One port for each issuer; 0 takes a free one. */
  readonly ports: readonly [number, number]
  readonly host: string
  /** The keys are kept in its subdirectory `dev-providers`. */
  readonly dataDir: string
}

// Two algorithms, so that development exercises the verification of both.
const issuers = [
  { id: "dev-one", name: "Development One", alg: "RS256" },
  { id: "dev-two", name: "Development Two", alg: "ES256" }
] as const

/** A platform on a quiet machine is ready before. On a busy one a sign-in has less time than the library may take then. */
const loadAfter = "1 second"

const isRedirect = (uri: string) => {
  const url = URL.parse(uri)
  return url !== null && ["http:", "https:"].includes(url.protocol) && !uri.includes("#")
}

const refuse = Effect.fnUntraced(function* ({ host, redirectUris }: DevProvidersOptions) {
  const mode = yield* Config.option(Config.String("NODE_ENV"))
  if (Option.contains(mode, "production")) {
    const reason = "Development providers sign anyone in and never run with NODE_ENV=production."
    return yield* new DevProvidersRefused({ reason })
  }
  if (!isLoopback(host)) {
    const reason = `Development providers sign anyone in and listen on loopback only (127.0.0.1 or ::1), not on ${host}.`
    return yield* new DevProvidersRefused({ reason })
  }
  if (redirectUris.length === 0 || !redirectUris.every(isRedirect)) {
    const reason =
      "Development providers need at least one redirect address, each http or https and without a fragment."
    return yield* new DevProvidersRefused({ reason })
  }
})

/**
 * Two issuers on loopback that sign anyone in.
 *
 * @example
 * import { DevProviders } from "@narthex/dev-providers"
 * export const providers = DevProviders.layer({
 *   ports: [4402, 4403],
 *   host: "127.0.0.1",
 *   dataDir: ".narthex",
 *   clientId: "narthex",
 *   redirectUris: ["http://127.0.0.1:4401/sign-in/callback"]
 * })
 */
export class DevProviders extends Context.Service<
  DevProviders,
  {
    /** The two issuers. They listen. */
    readonly providers: ReadonlyArray<DevProvider>
  }
>()("@narthex/dev-providers/DevProviders") {
  static readonly layer = (
    options: DevProvidersOptions
  ): Layer.Layer<DevProviders, DevProvidersRefused | PortUnavailable | SigningKeyUnusable> =>
    Layer.effect(
      DevProviders,
      Effect.gen(function* () {
        yield* refuse(options).pipe(
          Effect.catchTag("ConfigError", () =>
            Effect.fail(
              new DevProvidersRefused({ reason: "NODE_ENV cannot be read, so production cannot be ruled out." })
            )
          )
        )
        const fork = Effect.runForkWith(yield* Effect.context<never>())
        const start = Effect.fnUntraced(function* ({ alg, id, name }: (typeof issuers)[number], port: number) {
          const key = yield* loadSigningKey(join(options.dataDir, "dev-providers", `${id}.pem`), alg)
          const issuer = yield* serveOnLoopback(options.host, port, (url) =>
            makeIssuer({ id, name, client: options, key }, url, fork)
          )
          const provider: DevProvider = { id, name, issuer, client_ids: [options.clientId], algorithms: [alg] }
          return provider
        })
        const [first, second] = options.ports
        const providers = [yield* start(issuers[0], first), yield* start(issuers[1], second)]
        yield* Effect.logWarning(
          "Development providers are on: they sign anyone in",
          ...providers.map((it) => it.issuer)
        )
        // A failure is that of the first request, too, which reports it.
        yield* Effect.forkScoped(Effect.delay(Effect.ignore(Effect.tryPromise(loadLibrary)), loadAfter))
        return DevProviders.of({ providers })
      })
    )
}
