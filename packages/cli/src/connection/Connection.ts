/** The API, called with the credential of this run, with another key, or without any. */
import { type ClientSettings, NarthexClient } from "@narthex/api"
import { Context, Effect, Layer, type Redacted } from "effect"
import { HttpClient, HttpClientRequest } from "effect/http"
import { Credentials, type NeedsContext } from "../credentials/Credentials.ts"
import type { Credential } from "../credentials/resolveCredential.ts"
import type { CredentialsUnusable, NotSignedIn, UsageMistake } from "../failures.ts"
import { version } from "../version.ts"
import { LatestVersion } from "./LatestVersion.ts"

export interface SignedIn {
  readonly client: NarthexClient["Service"]
  readonly credential: Credential
  /** The same connection below the typed client: signed, and with the base URL before each path. */
  readonly raw: HttpClient.HttpClient
}

export class Connection extends Context.Service<
  Connection,
  {
    readonly signedIn: Effect.Effect<SignedIn, NotSignedIn | UsageMistake | CredentialsUnusable, NeedsContext>
    readonly withKey: (url: string, secret: Redacted.Redacted) => Effect.Effect<NarthexClient["Service"]>
    readonly anonymous: (url: string) => Effect.Effect<NarthexClient["Service"]>
  }
>()("@narthex/cli/connection/Connection") {
  static readonly layer: Layer.Layer<Connection, never, Credentials | HttpClient.HttpClient | LatestVersion> =
    Layer.effect(
      Connection,
      Effect.gen(function* () {
        const credentials = yield* Credentials
        const latest = yield* LatestVersion
        const http = HttpClient.tap(yield* HttpClient.HttpClient, (response) =>
          Effect.sync(() => {
            const said = response.headers["narthex-cli-latest"]
            if (said !== undefined) latest.heard(said)
          })
        )
        const connect = (settings: ClientSettings) =>
          NarthexClient.pipe(
            Effect.provide(NarthexClient.layer({ ...settings, headers: { "user-agent": `narthex-cli/${version}` } })),
            Effect.provideService(HttpClient.HttpClient, http)
          )

        return Connection.of({
          signedIn: Effect.gen(function* () {
            const credential = yield* credentials.resolve
            const { secret, url } = credential
            const raw = HttpClient.mapRequest(http, (request) =>
              request.pipe(
                HttpClientRequest.prependUrl(url),
                HttpClientRequest.bearerToken(secret),
                HttpClientRequest.setHeader("user-agent", `narthex-cli/${version}`)
              )
            )
            return { client: yield* connect({ baseUrl: url, credential: secret }), credential, raw }
          }),
          withKey: (url, secret) => connect({ baseUrl: url, credential: secret }),
          anonymous: (url) => connect({ baseUrl: url })
        })
      })
    )
}
