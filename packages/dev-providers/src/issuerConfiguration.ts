/**
 * The library's configuration for one development issuer: authorization code with PKCE for one client, nothing else.
 *
 * Browsers do not separate cookies by port (RFC 6265 §8.5): both issuers and the console share those of 127.0.0.1, so
 * the cookies of each issuer have distinct names. Every default that the library warns about is set.
 */
import { randomBytes } from "node:crypto"
import { Redacted } from "effect"
import { type ClientMetadata, type Configuration, interactionPolicy } from "oidc-provider"
import { signInPath } from "./answerSignIn.ts"
import type { RecentAccounts } from "./DevAccount.ts"
import type { DevClient } from "./DevClient.ts"
import { memoryAdapter } from "./MemoryAdapter.ts"
import { errorPage, sendPage } from "./pages.ts"
import type { SigningKey } from "./SigningKey.ts"

const { Check, Prompt } = interactionPolicy

/** Always asks for the account, even after an earlier sign-in in this browser. Consent is implied. */
const askAlways = [
  new Prompt(
    { name: "login", requestable: true },
    new Check("ask_always", "a development provider always asks who signs in", "login_required", (ctx) =>
      ctx.oidc.result?.login === undefined ? Check.REQUEST_PROMPT : Check.NO_NEED_TO_PROMPT
    )
  ),
  new Prompt({ name: "consent", requestable: true })
]

const clientMetadata = (client: DevClient, { alg }: SigningKey): ClientMetadata => ({
  client_id: client.clientId,
  redirect_uris: client.redirectUris,
  grant_types: ["authorization_code"],
  response_types: ["code"],
  id_token_signed_response_alg: alg,
  // The library accepts the secret in the header and in the body.
  ...(client.clientSecret === undefined
    ? { token_endpoint_auth_method: "none" }
    : { token_endpoint_auth_method: "client_secret_basic", client_secret: Redacted.value(client.clientSecret) })
})

export const issuerConfiguration = (
  id: string,
  client: DevClient,
  signing: SigningKey,
  accounts: RecentAccounts
): Configuration => ({
  adapter: memoryAdapter(),
  clients: [clientMetadata(client, signing)],
  clientAuthMethods: ["none", "client_secret_basic", "client_secret_post"],
  jwks: { keys: [{ ...signing.key.export({ format: "jwk" }), kid: signing.kid, alg: signing.alg, use: "sig" }] },
  responseTypes: ["code"],
  subjectTypes: ["public"],
  scopes: ["openid"],
  claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"] },
  conformIdTokenClaims: false, // the id token has the claims itself, as with Google and Entra
  pkce: { required: () => true },
  routes: { authorization: "/authorize", token: "/token", jwks: "/jwks", userinfo: "/userinfo" },
  features: { devInteractions: { enabled: false }, rpInitiatedLogout: { enabled: false } },
  interactions: { policy: askAlways, url: (_ctx, interaction) => `${signInPath}/${interaction.uid}` },
  cookies: {
    keys: [randomBytes(32)],
    names: { session: `${id}-session`, interaction: `${id}-sign-in`, resume: `${id}-resume` }
  },
  expiresWithSession: () => false, // no session is stored, so nothing expires with one
  ttl: { AccessToken: 300, AuthorizationCode: 60, Grant: 3600, IdToken: 300, Interaction: 3600, Session: 3600 },
  clientBasedCORS: () => false,
  findAccount: (_ctx, sub) => {
    const account = accounts.get(sub)
    return account === undefined ? undefined : { accountId: sub, claims: () => account.claims }
  },
  renderError: (ctx, { error, error_description }) => {
    const { status } = ctx
    ctx.respond = false
    sendPage(ctx.res, status, errorPage(`The request was refused: ${error_description ?? error}.`))
  }
})
