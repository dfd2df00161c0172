/**
 * Sign-in at an identity provider: authorization code with PKCE, state and nonce, through `openid-client`.
 *
 * 1. `begin` makes the three secrets of the attempt and the provider's address to redirect to; the caller stores
 *    the attempt in an encrypted cookie for ten minutes.
 * 2. The provider sends the browser to `/sign-in/callback`. With `response_mode=form_post` it posts a form there, which
 *    is answered with a redirect to the same address with a query.
 * 3. `finish` compares the answer with the attempt and exchanges the code for an id token. The library checks state,
 *    `iss` (RFC 9207), nonce and the token's claims; the API verifies the token again, independently.
 *
 * Pitfall: trusting `Host`. The answer's address is rebuilt from the console's configured URL.
 */
import { Context, Effect, Layer, Redacted, Schema } from "effect"
import * as openid from "openid-client"
import { ConsoleSettings, callbackUrl, type SignInProvider } from "../ConsoleConfig.ts"

/** The state of a sign-in, kept in an encrypted cookie while the browser is at the provider. */
export const SignInAttempt = Schema.Struct({
  provider: Schema.String,
  state: Schema.String,
  nonce: Schema.String,
  code_verifier: Schema.String,
  return_to: Schema.optionalKey(Schema.String)
})
export type SignInAttempt = typeof SignInAttempt.Type

export const attemptLifetimeMillis = 10 * 60_000

/** The provider could not be reached, refused, or sent an answer that does not match the attempt. */
export class SignInFailed extends Schema.TaggedError<SignInFailed>()("SignInFailed", {
  provider: Schema.String,
  step: Schema.Literals(["begin", "finish"]),
  /** The provider's OAuth error code: `access_denied` when the person cancelled. */
  code: Schema.optionalKey(Schema.String),
  cause: Schema.Defect()
}) {}

/** No provider with this id is configured. */
export class UnknownProvider extends Schema.TaggedError<UnknownProvider>()("UnknownProvider", {
  provider: Schema.String
}) {}

const isPlainHttp = (issuer: string) => new URL(issuer).protocol === "http:"

const discover = (provider: SignInProvider) =>
  openid.discovery(
    new URL(provider.issuer),
    provider.client_id,
    undefined,
    provider.client_secret === undefined
      ? openid.None()
      : openid.ClientSecretPost(Redacted.value(provider.client_secret)),
    // The settings accept plain http on loopback only.
    { timeout: 10, execute: isPlainHttp(provider.issuer) ? [openid.allowInsecureRequests] : [] }
  )

const codeOf = (cause: unknown) =>
  cause instanceof openid.AuthorizationResponseError || cause instanceof openid.ResponseBodyError
    ? { code: cause.error }
    : {}

export class SignIn extends Context.Service<
  SignIn,
  {
    readonly begin: (
      providerId: string,
      returnTo: string | undefined
    ) => Effect.Effect<{ readonly attempt: SignInAttempt; readonly location: string }, SignInFailed | UnknownProvider>
    /** `query`: the query of the callback, without `?`. Returns the id token. */
    readonly finish: (
      attempt: SignInAttempt,
      query: string
    ) => Effect.Effect<Redacted.Redacted, SignInFailed | UnknownProvider>
  }
>()("@narthex/console/SignIn") {
  static readonly layer = Layer.effect(
    SignIn,
    Effect.gen(function* () {
      const { console_url, providers } = yield* ConsoleSettings
      const configurations = new Map<string, openid.Configuration>()

      const attempting = <A>(provider: string, step: "begin" | "finish", run: () => Promise<A>) =>
        Effect.tryPromise({
          try: run,
          catch: (cause) => new SignInFailed({ provider, step, cause, ...codeOf(cause) })
        })

      /** A successful discovery is cached; a failed one is repeated at the next sign-in. */
      const configured = Effect.fnUntraced(function* (id: string, step: "begin" | "finish") {
        const provider = providers.find((it) => it.id === id)
        if (provider === undefined) return yield* new UnknownProvider({ provider: id })
        const configuration = configurations.get(id) ?? (yield* attempting(id, step, () => discover(provider)))
        configurations.set(id, configuration)
        return { configuration, provider }
      })

      return SignIn.of({
        begin: Effect.fn("SignIn.begin")(function* (id, returnTo) {
          const { configuration, provider } = yield* configured(id, "begin")
          const attempt: SignInAttempt = {
            provider: id,
            state: openid.randomState(),
            nonce: openid.randomNonce(),
            code_verifier: openid.randomPKCECodeVerifier(),
            ...(returnTo === undefined ? {} : { return_to: returnTo })
          }
          const challenge = yield* Effect.promise(() => openid.calculatePKCECodeChallenge(attempt.code_verifier))
          const location = openid.buildAuthorizationUrl(configuration, {
            redirect_uri: callbackUrl(console_url),
            scope: "openid email profile",
            state: attempt.state,
            nonce: attempt.nonce,
            code_challenge: challenge,
            code_challenge_method: "S256",
            ...(provider.response_mode === undefined ? {} : { response_mode: provider.response_mode })
          })
          return { attempt, location: location.href }
        }),
        finish: Effect.fn("SignIn.finish")(function* (attempt, query) {
          const id = attempt.provider
          const { configuration } = yield* configured(id, "finish")
          const returned = new URL(`${callbackUrl(console_url)}?${query}`)
          const tokens = yield* attempting(id, "finish", () =>
            openid.authorizationCodeGrant(configuration, returned, {
              pkceCodeVerifier: attempt.code_verifier,
              expectedState: attempt.state,
              expectedNonce: attempt.nonce,
              idTokenExpected: true
            })
          )
          const { id_token } = tokens
          if (id_token === undefined)
            return yield* new SignInFailed({ provider: id, step: "finish", cause: "The provider sent no id token." })
          return Redacted.make(id_token, { label: "id token" })
        })
      })
    })
  )
}
