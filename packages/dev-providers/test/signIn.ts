/** The application's part at a development provider: sends the browser off, redeems the code, verifies the token. */
import { createHash, randomBytes } from "node:crypto"
import { createLocalJWKSet, type JSONWebKeySet, jwtVerify } from "jose"
import { Browser, type Landing } from "./Browser.ts"

export const clientId = "narthex-console"
export const callback = "http://127.0.0.1:4401/callback"

export const json = async (url: string, init?: RequestInit) => {
  const response = await fetch(url, init)
  // Every answer that is read here is an object; the assertions check its members.
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Record<string, unknown>
  }
}

export const post = (url: string, body: unknown) =>
  json(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })

/** Verifies an id token by the keys that the issuer publishes, as a relying party does. */
export const verify = async (issuer: string, token: unknown, algorithm: string) => {
  const configuration = await json(`${issuer}/.well-known/openid-configuration`)
  const jwks = await json(String(configuration.body["jwks_uri"]))
  const keys = createLocalJWKSet({ keys: jwks.body["keys"] } as JSONWebKeySet) // jose checks what it is given
  return jwtVerify(String(token), keys, { issuer, audience: clientId, algorithms: [algorithm] })
}

export interface Authorization {
  readonly url: URL
  readonly verifier: string
}

export const authorization = (issuer: string, more: Record<string, string> = {}): Authorization => {
  const verifier = randomBytes(32).toString("base64url")
  const url = new URL(`${issuer}/authorize`)
  url.search = new URLSearchParams({
    client_id: clientId,
    redirect_uri: callback,
    response_type: "code",
    scope: "openid email profile",
    state: "state-1",
    nonce: "nonce-1",
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
    ...more
  }).toString()
  return { url, verifier }
}

export const redeem = (issuer: string, landing: Landing, verifier: string, more: Record<string, string> = {}) =>
  json(`${issuer}/token`, {
    method: "POST",
    body: new URLSearchParams({
      grant_type: "authorization_code",
      client_id: clientId,
      redirect_uri: callback,
      code: landing.url.searchParams.get("code") ?? "",
      code_verifier: verifier,
      ...more
    })
  })

/** A whole sign-in as `email`, in a browser of its own unless one is given. */
export const signIn = async (issuer: string, email: string, browser = new Browser()) => {
  const { url, verifier } = authorization(issuer)
  const page = await browser.go(url)
  const landing = await browser.submit(page, { email, name: "Ada Lovelace" })
  return { page, landing, verifier, tokens: await redeem(issuer, landing, verifier) }
}
