/** An OpenID Connect issuer in the test's process: discovery, its key, and ID tokens on request. */
import { generateKeyPairSync, randomUUID, sign } from "node:crypto"
import { createServer, type RequestListener } from "node:http"
import { Effect, type Scope } from "effect"
import { listening } from "./listening.ts"

export const clientId = "narthex-test"

const encoded = (part: unknown) => Buffer.from(JSON.stringify(part)).toString("base64url")

export interface Issuer {
  readonly url: string
  /** An ID token for the person with this address, like no other before it. */
  readonly idToken: (email: string) => string
}

/** An issuer that listens as the caller says. */
export const issuerThat = Effect.fnUntraced(function* (
  listens: (answer: RequestListener) => Effect.Effect<string, never, Scope.Scope>
) {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" })
  const key = { ...publicKey.export({ format: "jwk" }), kid: "one", alg: "ES256", use: "sig" }
  const url: string = yield* listens((request, response) => {
    const document = { issuer: url, jwks_uri: `${url}/jwks` }
    response.writeHead(200, { "content-type": "application/json" })
    response.end(JSON.stringify(request.url === "/jwks" ? { keys: [key] } : document))
  })
  const idToken = (email: string) => {
    const now = Math.floor(Date.now() / 1_000)
    const claims = { iss: url, aud: clientId, sub: email, email, email_verified: true, iat: now, exp: now + 300 }
    const text = `${encoded({ alg: "ES256", kid: "one", typ: "JWT" })}.${encoded({ ...claims, jti: randomUUID() })}`
    const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" })
    return `${text}.${signature.toString("base64url")}`
  }
  return { url, idToken } satisfies Issuer
})

/** An issuer on loopback, over plain HTTP. */
export const makeIssuer = issuerThat((answer) => listening(createServer(answer)))
