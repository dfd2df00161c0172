import { createPublicKey, type KeyObject } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import {
  ecPair,
  ed25519Pair,
  eddsa,
  es256,
  hs256,
  type Json,
  jws,
  respelled,
  rs256,
  rsaPair,
  segment,
  unsigned,
  without
} from "./jws.ts"
import { claims, instance, issuer, now, privateKeyOf, startOfTests, storage, stored } from "./signing.ts"

interface Kit {
  readonly header: Json
  readonly payload: Json
  /** The server's key. It signs most forgeries, so that one change alone is the reason of the refusal. */
  readonly key: KeyObject
  readonly token: string
}

const stranger = ed25519Pair()
const publicJwk = (key: KeyObject) => createPublicKey(key).export({ format: "jwk" })
const jwkOf = () => publicJwk(stranger.privateKey)

const head =
  (more: Json) =>
  ({ header, key, payload }: Kit) =>
    jws({ ...header, ...more }, payload, eddsa(key))
const body =
  (more: Json) =>
  ({ header, key, payload }: Kit) =>
    jws(header, { ...payload, ...more }, eddsa(key))
const lacking =
  (name: string) =>
  ({ header, key, payload }: Kit) =>
    jws(header, without(payload, name), eddsa(key))

const forgeries: ReadonlyArray<readonly [name: string, forge: (kit: Kit) => string]> = [
  ["alg none", ({ header, payload }) => jws({ ...header, alg: "none" }, payload, unsigned)],
  ["alg None with our signature", head({ alg: "None" })],
  ["alg NONE and an empty signature part", ({ header, payload }) => jws({ ...header, alg: "NONE" }, payload, unsigned)],
  [
    "HS256 with our public key as the secret",
    ({ header, key, payload }) =>
      jws({ ...header, alg: "HS256" }, payload, hs256(Buffer.from(String(publicJwk(key).x), "base64url")))
  ],
  [
    "HS256 with our public PEM as the secret",
    ({ header, key, payload }) =>
      jws({ ...header, alg: "HS256" }, payload, hs256(createPublicKey(key).export({ format: "pem", type: "spki" })))
  ],
  ["HS256 with an empty secret", ({ header, payload }) => jws({ ...header, alg: "HS256" }, payload, hs256(""))],
  ["EdDSA by another key under our kid", ({ header, payload }) => jws(header, payload, eddsa(stranger.privateKey))],
  [
    "RS256 under our kid",
    ({ header, payload }) => jws({ ...header, alg: "RS256" }, payload, rs256(rsaPair().privateKey))
  ],
  [
    "ES256 under our kid",
    ({ header, payload }) => jws({ ...header, alg: "ES256" }, payload, es256(ecPair().privateKey))
  ],
  ["alg Ed25519, which we do not write", head({ alg: "Ed25519" })],
  ["alg eddsa in small letters", head({ alg: "eddsa" })],
  ["alg as a list", head({ alg: ["EdDSA"] })],
  ["alg missing", ({ header, key, payload }) => jws(without(header, "alg"), payload, eddsa(key))],
  ["typ missing", ({ header, key, payload }) => jws(without(header, "typ"), payload, eddsa(key))],
  ["typ JWT", head({ typ: "JWT" })],
  ["typ in capitals", head({ typ: "NARTHEX-SESSION+JWT" })],
  ["typ with its media type prefix", head({ typ: "application/narthex-session+jwt" })],
  ["typ at+jwt", head({ typ: "at+jwt" })],
  ["kid missing, with one key", ({ header, key, payload }) => jws(without(header, "kid"), payload, eddsa(key))],
  ["kid empty", head({ kid: "" })],
  ["kid null", head({ kid: null })],
  ["kid a number", head({ kid: 1 })],
  ["kid that climbs directories", head({ kid: "../../../../dev/null" })],
  ["kid with SQL in it", head({ kid: "' OR 1=1 --" })],
  ["kid __proto__", head({ kid: "__proto__" })],
  ["an unknown kid", head({ kid: "A".repeat(43) })],
  [
    "kid with something behind it",
    ({ header, key, payload }) => jws({ ...header, kid: `${header["kid"]}=` }, payload, eddsa(key))
  ],
  ["jwk in the header", ({ header, payload }) => jws({ ...header, jwk: jwkOf() }, payload, eddsa(stranger.privateKey))],
  ["jwk in the header, signed by us", head({ jwk: jwkOf() })],
  ["jku in the header", head({ jku: "https://evil.example/jwks.json" })],
  ["x5u in the header", head({ x5u: "https://evil.example/cert.pem" })],
  ["x5c in the header", head({ x5c: ["MIIB"] })],
  ["crit that names b64", head({ crit: ["b64"], b64: true })],
  ["crit empty", head({ crit: [] })],
  ["crit of something unknown", head({ crit: ["exp"], exp: now })],
  ["b64 false without crit", head({ b64: false })],
  ["zip", head({ zip: "DEF" })],
  ["cty, a token in a token", head({ cty: "JWT" })],
  ["exp missing", lacking("exp")],
  ["exp 1e308", body({ exp: 1e308 })],
  [
    "exp Infinity, as JSON reads 1e999",
    ({ header, key, payload }) => jws(header, JSON.stringify(payload).replace(/"exp":\d+/, '"exp":1e999'), eddsa(key))
  ],
  ["exp in text", body({ exp: String(now + 900) })],
  ["exp not whole", body({ exp: now + 899.5 })],
  ["exp a second past fifteen minutes", body({ exp: now + 901 })],
  ["exp before iat", body({ exp: now - 1 })],
  ["exp null", body({ exp: null })],
  ["iat missing", lacking("iat")],
  ["iat 31 seconds ahead", body({ iat: now + 31, exp: now + 900 })],
  ["iat in the far future, with an exp to match", body({ iat: now + 1e9, exp: now + 1e9 + 900 })],
  ["iat in text", body({ iat: String(now) })],
  ["iat negative and exp far", body({ iat: -1 })],
  ["auth_time missing", lacking("auth_time")],
  ["auth_time not whole", body({ auth_time: now - 0.5 })],
  ["gen in text", body({ gen: "1" })],
  ["gen missing", lacking("gen")],
  ["sub empty", body({ sub: "" })],
  ["sub a number", body({ sub: 1 })],
  ["sub missing", lacking("sub")],
  ["sub a list", body({ sub: ["user-1"] })],
  ["sid missing", lacking("sid")],
  ["sid an object", body({ sid: { $ne: "" } })],
  ["org_id missing", lacking("org_id")],
  ["role a list", body({ role: ["owner"] })],
  ["jti empty", body({ jti: "" })],
  ["aud missing", lacking("aud")],
  ["another aud", body({ aud: "https://elsewhere.example" })],
  ["aud a list of us alone", body({ aud: [issuer] })],
  ["aud with an extra audience", body({ aud: [issuer, "https://elsewhere.example"] })],
  ["aud with a slash more", body({ aud: `${issuer}/` })],
  ["iss missing", lacking("iss")],
  ["another iss", body({ iss: "https://elsewhere.example" })],
  ["iss in capitals", body({ iss: issuer.toUpperCase() })],
  ["a claim that we do not write", body({ admin: true })],
  ["a payload that is a list", ({ header, key }) => jws(header, "[]", eddsa(key))],
  ["a payload that is not JSON", ({ header, key }) => jws(header, "owner", eddsa(key))],
  ["a payload that is null", ({ header, key }) => jws(header, "null", eddsa(key))],
  ["a payload that is not UTF-8", ({ header, key }) => jws(header, Buffer.from([0x7b, 0xff, 0x7d]), eddsa(key))],
  ["a header that is not JSON", ({ key, payload }) => jws("{", payload, eddsa(key))],
  ["another spelling of the same signature", ({ token }) => respelled(token)],
  ["a signature with padding", ({ token }) => `${token}==`],
  ["a signature cut short", ({ token }) => token.slice(0, -4)],
  ["no signature", ({ token }) => token.replace(/[^.]+$/, "")],
  [
    "another payload under the same signature",
    ({ payload, token }) => {
      const [head = "", , signature = ""] = token.split(".")
      return `${head}.${segment({ ...payload, role: "admin" })}.${signature}`
    }
  ],
  ["two parts", ({ token }) => token.split(".").slice(0, 2).join(".")],
  ["four parts", ({ token }) => `${token}.${token.split(".")[2]}`],
  ["five parts, like a JWE", ({ token }) => `${token}.a.b`],
  ["a space before it", ({ token }) => ` ${token}`],
  ["a line feed behind it", ({ token }) => `${token}\n`],
  ["a NUL inside", ({ token }) => token.replace(".", "\0.")],
  [
    "the JSON serialization",
    ({ token }) => {
      const [head = "", payload = "", signature = ""] = token.split(".")
      return JSON.stringify({ protected: head, payload, signature })
    }
  ],
  ["more than 4096 characters, well signed", body({ role: "r".repeat(4096) })],
  ["nothing", () => ""],
  ["an API key", () => `nsk_${"a".repeat(49)}`]
]

const accepted: ReadonlyArray<readonly [name: string, make: (kit: Kit) => string]> = [
  ["the very token", ({ token }) => token],
  ["what our key signs by hand", ({ header, key, payload }) => jws(header, payload, eddsa(key))],
  ["one that expired long ago, for it still refreshes", body({ iat: now - 9000, exp: now - 8100 })],
  ["an iat five seconds ahead, for clocks differ", body({ iat: now + 5, exp: now + 905 })]
]

const kit = Effect.gen(function* () {
  yield* startOfTests
  const signer = yield* instance()
  const [row] = yield* stored
  if (row === undefined) throw new Error("the signer makes a key")
  const made: Kit = {
    header: { alg: "EdDSA", kid: row.kid, typ: "narthex-session+jwt" },
    payload: { iss: issuer, aud: issuer, ...claims },
    key: yield* privateKeyOf(row),
    token: Redacted.value(yield* signer.sign(claims))
  }
  return { made, signer }
})

describe("JoseTokenSigner", () => {
  it.effect("the token signer verifies what it signs, with its kid and typ", () =>
    Effect.gen(function* () {
      const { made, signer } = yield* kit
      assert.deepStrictEqual(yield* signer.verify(Redacted.make(made.token)), claims)
      const [head = "", payload = ""] = made.token.split(".")
      assert.deepStrictEqual(JSON.parse(Buffer.from(head, "base64url").toString()), made.header)
      assert.deepStrictEqual(JSON.parse(Buffer.from(payload, "base64url").toString()), made.payload)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("the token signer refuses a token from the future, also one that it has verified before", () =>
    Effect.gen(function* () {
      const { made, signer } = yield* kit
      const token = Redacted.make(made.token)
      yield* signer.verify(token)
      yield* TestClock.setTime((now - 60) * 1_000)
      assert.strictEqual((yield* Effect.flip(signer.verify(token)))._tag, "ForgedToken")
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("the token signer accepts a token of an instance whose clock is half a minute ahead", () =>
    Effect.gen(function* () {
      const { made, signer } = yield* kit
      yield* TestClock.setTime((now - 30) * 1_000)
      assert.deepStrictEqual(yield* signer.verify(Redacted.make(made.token)), claims)
      yield* TestClock.setTime((now - 31) * 1_000)
      assert.strictEqual((yield* Effect.flip(signer.verify(Redacted.make(made.token))))._tag, "ForgedToken")
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("the token signer publishes public keys only", () =>
    Effect.gen(function* () {
      const { made, signer } = yield* kit
      const { x } = publicJwk(made.key)
      assert.deepStrictEqual(JSON.parse(JSON.stringify(yield* signer.keys)), {
        keys: [{ kty: "OKP", crv: "Ed25519", x, kid: made.header["kid"], alg: "EdDSA", use: "sig" }]
      })
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect.each(accepted)("the token signer accepts %s", ([, make]) =>
    Effect.gen(function* () {
      const { made, signer } = yield* kit
      const { sub } = yield* signer.verify(Redacted.make(make(made)))
      assert.strictEqual(sub, claims.sub)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect.each(forgeries)("the token signer refuses %s", ([, forge]) =>
    Effect.gen(function* () {
      const { made, signer } = yield* kit
      const forged = forge(made)
      assert.notStrictEqual(forged, made.token)
      const refusal = Effect.flip(signer.verify(Redacted.make(forged)))
      assert.strictEqual((yield* refusal)._tag, "ForgedToken")
      yield* signer.verify(Redacted.make(made.token))
      assert.strictEqual((yield* refusal)._tag, "ForgedToken", "also when the token that it resembles is remembered")
    }).pipe(Effect.provide(storage), Effect.scoped)
  )
})
