import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { type HostileProvider, hostileProvider, json, jwkOf, keys } from "./HostileProvider.ts"
import { asking, clientId, idClaims, idHeader, idToken, judge } from "./idTokens.ts"
import { eddsa, es256, hs256, type Json, jws, rs256, segment, unsigned, without } from "./jws.ts"
import { now, startOfTests } from "./signing.ts"

type Forge = (hostile: HostileProvider) => string

const pem = () => keys.rsa.publicKey.export({ format: "pem", type: "spki" })
const byRsa = rs256(keys.rsa.privateKey)
const byStranger = rs256(keys.stranger.privateKey)

const head =
  (more: Json): Forge =>
  ({ issuer }) =>
    idToken(issuer, {}, more)
const body =
  (more: Json): Forge =>
  ({ issuer }) =>
    idToken(issuer, more)
const lacking =
  (name: string): Forge =>
  ({ issuer }) =>
    jws(idHeader, without(idClaims(issuer), name), byRsa)
const strangerSays =
  (more: (hostile: HostileProvider) => Json): Forge =>
  (hostile) =>
    jws({ ...idHeader, ...more(hostile) }, idClaims(hostile.issuer), byStranger)

const attacks: ReadonlyArray<readonly [name: string, forge: Forge]> = [
  ["alg none", ({ issuer }) => jws({ ...idHeader, alg: "none" }, idClaims(issuer), unsigned)],
  ["alg none under a good signature", head({ alg: "none" })],
  ["alg nOnE", ({ issuer }) => jws({ ...idHeader, alg: "nOnE" }, idClaims(issuer), unsigned)],
  [
    "HS256 with the provider's public key",
    ({ issuer }) => jws({ ...idHeader, alg: "HS256" }, idClaims(issuer), hs256(pem()))
  ],
  [
    "HS256 with the client id as the secret",
    ({ issuer }) => jws({ ...idHeader, alg: "HS256" }, idClaims(issuer), hs256(clientId))
  ],
  ["a stranger's key under the provider's kid", strangerSays(() => ({}))],
  ["a stranger's key under a kid of its own", strangerSays(() => ({ kid: "stranger" }))],
  ["a kid that climbs directories", head({ kid: "../../etc/passwd" })],
  ["a kid that is an address", strangerSays(({ elsewhere }) => ({ kid: `${elsewhere}/jwks` }))],
  ["a kid that is a number", head({ kid: 1 })],
  [
    "no kid, where the set has several keys that fit",
    ({ issuer, published, answers }) => {
      answers.jwks = json({ keys: [...published.jwks.keys, jwkOf(keys.next, { kid: "rsa-2", alg: "RS256" })] })
      return jws(without(idHeader, "kid"), idClaims(issuer), byRsa)
    }
  ],
  ["the EC key's kid on an RSA signature", head({ kid: "ec-1" })],
  ["an algorithm that is not listed", head({ alg: "RS384" })],
  ["PS256 with an RS256 signature", head({ alg: "PS256" })],
  ["alg missing", ({ issuer }) => jws(without(idHeader, "alg"), idClaims(issuer), byRsa)],
  ["jwk in the header", strangerSays(() => ({ jwk: jwkOf(keys.stranger, {}) }))],
  ["jwk in the header, signed by the provider", head({ jwk: jwkOf(keys.rsa, {}) })],
  ["jku to elsewhere", strangerSays(({ elsewhere }) => ({ jku: `${elsewhere}/jwks` }))],
  ["jku to the provider itself", ({ issuer }) => idToken(issuer, {}, { jku: `${issuer}/jwks` })],
  ["x5u to elsewhere", strangerSays(({ elsewhere }) => ({ x5u: `${elsewhere}/cert.pem` }))],
  ["x5c", strangerSays(() => ({ x5c: ["MIIB"] }))],
  ["crit of something known", head({ crit: ["b64"], b64: true })],
  ["crit of something unknown", head({ crit: ["exp"] })],
  ["crit empty", head({ crit: [] })],
  ["b64 false", head({ b64: false })],
  ["an access token's typ", head({ typ: "at+jwt" })],
  ["a logout token's typ", head({ typ: "logout+jwt" })],
  ["our own session token's typ", head({ typ: "narthex-session+jwt" })],
  ["iss missing", lacking("iss")],
  ["iss elsewhere", ({ elsewhere }) => idToken(elsewhere)],
  ["iss with a slash more", ({ issuer }) => idToken(`${issuer}/`)],
  ["iss in capitals", ({ issuer }) => idToken(issuer.toUpperCase())],
  ["iss by another name of this machine", ({ issuer }) => idToken(issuer.replace("127.0.0.1", "localhost"))],
  ["iss a list", ({ issuer }) => idToken(issuer, { iss: [issuer] })],
  ["aud missing", lacking("aud")],
  ["aud of another client", body({ aud: "another-client" })],
  ["aud a list without us", body({ aud: ["another-client", `${clientId}-2`] })],
  ["aud empty", body({ aud: [] })],
  ["aud with a number in it", body({ aud: [clientId, 1] })],
  ["aud an object", body({ aud: { [clientId]: true } })],
  ["azp of another client", body({ aud: [clientId, "another-client"], azp: "another-client" })],
  ["several audiences and no azp", body({ aud: [clientId, "another-client"] })],
  ["azp that is not text", body({ azp: [clientId] })],
  ["exp missing", lacking("exp")],
  ["exp a minute ago", body({ iat: now - 300, exp: now - 60 })],
  ["exp in text", body({ exp: String(now + 300) })],
  ["exp 1e308", body({ exp: 1e308 })],
  [
    "exp 1e999",
    ({ issuer }) => jws(idHeader, JSON.stringify(idClaims(issuer)).replace(/"exp":\d+/, '"exp":1e999'), byRsa)
  ],
  ["exp null", body({ exp: null })],
  ["iat missing", lacking("iat")],
  ["iat more than a minute ahead", body({ iat: now + 61 })],
  ["iat in text", body({ iat: "now" })],
  ["nbf more than a minute ahead", body({ nbf: now + 61 })],
  ["sub missing", lacking("sub")],
  ["sub empty", body({ sub: "" })],
  ["sub a number", body({ sub: 7 })],
  ["sub null", body({ sub: null })],
  ["sub longer than the standard has it", body({ sub: "s".repeat(256) })],
  ["sub with a NUL, which no database takes", body({ sub: "person-1\0admin" })],
  ["sub with half a character", body({ sub: "person-\ud800" })],
  ["nonce missing", lacking("nonce")],
  ["nonce of another sign-in", body({ nonce: "nonce-2" })],
  ["nonce a list", body({ nonce: ["nonce-1"] })],
  ["email an object", body({ email: { address: "ada@example.com" } })],
  ["a payload that is a list", ({ issuer }) => jws(idHeader, JSON.stringify([idClaims(issuer)]), byRsa)],
  ["a payload that is not JSON", () => jws(idHeader, "person-1", byRsa)],
  ["a payload that is not UTF-8", () => jws(idHeader, Buffer.from([0x7b, 0xff, 0x7d]), byRsa)],
  ["a header that is not JSON", ({ issuer }) => jws("{", idClaims(issuer), byRsa)],
  [
    "another payload under the same signature",
    ({ issuer }) => {
      const [header = "", , signature = ""] = idToken(issuer).split(".")
      return `${header}.${segment({ ...idClaims(issuer), sub: "person-2" })}.${signature}`
    }
  ],
  ["no signature", ({ issuer }) => idToken(issuer).replace(/[^.]+$/, "")],
  ["two parts", ({ issuer }) => idToken(issuer).split(".").slice(0, 2).join(".")],
  ["five parts, like a JWE", ({ issuer }) => `${idToken(issuer)}.a.b`],
  ["padding", ({ issuer }) => `${idToken(issuer)}==`],
  ["a line feed behind it", ({ issuer }) => `${idToken(issuer)}\n`],
  ["a token of 20,000 characters", body({ padding: "x".repeat(20_000) })],
  ["nothing", () => ""]
]

const good: ReadonlyArray<readonly [name: string, forge: Forge]> = [
  ["the plain token", body({})],
  ["a list of audiences with us in it", body({ aud: ["another-client", clientId], azp: clientId })],
  ["no typ", ({ issuer }) => jws(without(idHeader, "typ"), idClaims(issuer), byRsa)],
  ["an exp just less than a minute ago", body({ exp: now - 59 })],
  ["an iat a minute ahead", body({ iat: now + 60 })],
  ["no jti", lacking("jti")],
  [
    "an ES256 signature",
    ({ issuer }) => jws({ alg: "ES256", kid: "ec-1" }, idClaims(issuer), es256(keys.ec.privateKey))
  ],
  [
    "an EdDSA signature",
    ({ issuer }) => jws({ alg: "EdDSA", kid: "ed-1" }, idClaims(issuer), eddsa(keys.ed.privateKey))
  ],
  ["no kid, where one key alone fits", ({ issuer }) => jws(without(idHeader, "kid"), idClaims(issuer), byRsa)]
]

describe("a valid id token", () => {
  it.effect.each(good)("an id token is accepted with %s", ([, forge]) =>
    Effect.gen(function* () {
      yield* startOfTests
      const hostile = yield* hostileProvider
      const { verify } = yield* judge(hostile)
      const { issuer, provider, subject } = yield* verify(asking(forge(hostile)))
      assert.deepStrictEqual(
        { issuer, provider, subject },
        { issuer: hostile.issuer, provider: "hostile", subject: "person-1" }
      )
    })
  )
})

describe("a forged id token", () => {
  it.effect.each(attacks)("an id token is refused with %s", ([, forge]) =>
    Effect.gen(function* () {
      yield* startOfTests
      const hostile = yield* hostileProvider
      const { verify } = yield* judge(hostile)
      const refusal = yield* Effect.flip(verify(asking(forge(hostile))))
      assert.strictEqual(refusal._tag, "InvalidIdToken")
      assert.strictEqual(refusal.message, "The id token is not valid.")
      assert.strictEqual(hostile.counts.elsewhere, 0)
    })
  )
})
