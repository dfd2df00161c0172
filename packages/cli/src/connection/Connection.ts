/** Clients of the API: with the credential of the run, with another key, or without a credential. */
import { type ClientSettings, NarthexClient } from "@narthex/api"
import { Context, Effect, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { ContextFile } from "../contexts/ContextFile.ts"
import type { NeedsContext } from "../contexts/ContextFlag.ts"
import { Environment } from "../environment/Environment.ts"
import { version } from "../environment/version.ts"
import type { ContextFileUnusable, NotSignedIn, UsageMistake } from "../failures/LocalFailure.ts"
import { type Bearer, readBearer } from "./Bearer.ts"
import { LatestVersion } from "./LatestVersion.ts"

export interface AuthenticatedApi {
  readonly client: NarthexClient["Service"]
  readonly bearer: Bearer
  /** An HTTP client that adds the base URL and the credential to each request. */
  readonly raw: HttpClient.HttpClient
}

export class Connection extends Context.Service<
  Connection,
  {
    /** With the credential of the run. */
    readonly authenticated: Effect.Effect<
      AuthenticatedApi,
      NotSignedIn | UsageMistake | ContextFileUnusable,
      NeedsContext
    >
    readonly withKey: (url: string, secret: Redacted.Redacted) => Effect.Effect<NarthexClient["Service"]>
    readonly anonymous: (url: string) => Effect.Effect<NarthexClient["Service"]>
  }
>()("@narthex/cli/connection/Connection") {
  static readonly layer: Layer.Layer<
    Connection,
    never,
    Environment | ContextFile | HttpClient.HttpClient | LatestVersion
  > = Layer.effect(
    Connection,
    Effect.gen(function* () {
      const environment = yield* Environment
      const file = yield* ContextFile
      const latest = yield* LatestVersion
      const http = HttpClient.tap(yield* HttpClient.HttpClient, (response) =>
        Effect.sync(() => {
          const newest = response.headers["narthex-cli-latest"]
          if (newest !== undefined) latest.record(newest)
        })
      )
      const connect = (settings: ClientSettings) =>
        NarthexClient.pipe(
          Effect.provide(NarthexClient.layer({ ...settings, headers: { "user-agent": `narthex-cli/${version}` } })),
          Effect.provideService(HttpClient.HttpClient, http)
        )

      return Connection.of({
        authenticated: Effect.gen(function* () {
          const bearer = yield* readBearer(environment, file)
          const { secret, url } = bearer
          const raw = HttpClient.mapRequest(http, (request) =>
            request.pipe(
              HttpClientRequest.prependUrl(url),
              HttpClientRequest.bearerToken(secret),
              HttpClientRequest.setHeader("user-agent", `narthex-cli/${version}`)
            )
          )
          return { client: yield* connect({ baseUrl: url, credential: secret }), bearer, raw }
        }),
        withKey: (url, secret) => connect({ baseUrl: url, credential: secret }),
        anonymous: (url) => connect({ baseUrl: url })
      })
    })
  )
}
