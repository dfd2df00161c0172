/**
 * Id tokens for scripts: one POST, without a browser and without an authorization code.
 *
 * Each token has its own `jti`. Without it, two tokens that are requested in the same second would be identical, and
 * signing out of the first session would invalidate the second token as well.
 */
import { randomUUID, sign } from "node:crypto"
import { Clock, Effect, Schema } from "effect"
import { Address, DevAccount, nameFor, PersonName } from "./DevAccount.ts"
import type { SigningKey } from "./SigningKey.ts"

const day = 86_400

export class IdTokenRequest extends Schema.Class<IdTokenRequest>("IdTokenRequest")({
  email: Address,
  sub: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter(
        (text) => (text !== "" && text.length <= 255) || "must have 1 to 255 characters, or be left out"
      )
    )
  ),
  name: Schema.optionalKey(PersonName),
  email_verified: Schema.optionalKey(Schema.Boolean),
  nonce: Schema.optionalKey(
    Schema.String.check(
      Schema.makeFilter(
        (text) => (text !== "" && text.length <= 512) || "must have 1 to 512 characters, or be left out"
      )
    )
  ),
  expires_in: Schema.optionalKey(
    Schema.Int.check(
      Schema.makeFilter(
        (seconds) =>
          Math.abs(seconds) <= day || `must be within ${day} seconds; a negative value gives an expired token`
      )
    )
  )
}) {}

export interface Signer {
  readonly issuer: string
  readonly clientId: string
  readonly key: SigningKey
}

const segment = (value: object) => Buffer.from(JSON.stringify(value)).toString("base64url")

const jws = ({ alg, key, kid }: SigningKey, claims: object) => {
  const input = `${segment({ alg, kid, typ: "JWT" })}.${segment(claims)}`
  // JWS has the two integers of an ECDSA signature side by side, not in DER (RFC 7518 §3.4); RSA ignores the option.
  const signature = sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" })
  return `${input}.${signature.toString("base64url")}`
}

/** Signs an id token for the client of the signer. It expires after 300 seconds by default. */
export const mintIdToken = Effect.fn("mintIdToken")(function* (signer: Signer, request: IdTokenRequest) {
  const now = Math.floor((yield* Clock.currentTimeMillis) / 1000)
  const exp = now + (request.expires_in ?? 300)
  const account = new DevAccount({
    email: request.email,
    email_verified: request.email_verified ?? true,
    name: request.name ?? nameFor(request.email)
  })
  return jws(signer.key, {
    iss: signer.issuer,
    aud: signer.clientId,
    ...account.claims,
    ...(request.sub === undefined ? {} : { sub: request.sub }),
    ...(request.nonce === undefined ? {} : { nonce: request.nonce }),
    iat: Math.min(now, exp), // an expired token is invalid for that reason alone
    exp,
    jti: randomUUID()
  })
})
