import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { hostileProvider, keys } from "./HostileProvider.ts"
import { asking, idClaims, idHeader, idToken, judge, judging, providerAt } from "./idTokens.ts"
import { es256, type Json, jws, respelled, rs256, without } from "./jws.ts"
import { now, startOfTests } from "./signing.ts"

const byRsa = rs256(keys.rsa.privateKey)

describe("the identity", () => {
  const identity = (more: Json, settings: Parameters<typeof judge>[1] = {}) =>
    Effect.gen(function* () {
      yield* startOfTests
      const hostile = yield* hostileProvider
      const { verify } = yield* judge(hostile, settings)
      return yield* verify(asking(idToken(hostile.issuer, more)))
    })

  it.effect("an identity has the email address as written, verified if the provider says so", () =>
    Effect.gen(function* () {
      const { email, email_verified, name } = yield* identity({})
      assert.deepStrictEqual(
        { email, email_verified, name },
        { email: "Ada@Example.com", email_verified: true, name: "Ada" }
      )
    })
  )

  it.effect("an address is verified with email_verified as text", () =>
    Effect.gen(function* () {
      assert.isTrue((yield* identity({ email_verified: "true" })).email_verified)
    })
  )

  it.effect.each([["TRUE"], ["false"], [1], [null], [undefined], [false]] as const)(
    "an address is not verified with email_verified %j",
    ([email_verified]) =>
      Effect.gen(function* () {
        const found = yield* identity({ email_verified })
        assert.deepStrictEqual([found.email, found.email_verified], ["Ada@Example.com", false])
      })
  )

  it.effect("an email address of a provider that is not trusted with addresses is never verified", () =>
    Effect.gen(function* () {
      assert.isFalse((yield* identity({}, { email_trust: "never" })).email_verified)
    })
  )

  it.effect("an identity without a displayable address or name has none", () =>
    Effect.gen(function* () {
      const { email, email_verified, name } = yield* identity({ email: null, name: "Ada\0" })
      assert.deepStrictEqual({ email, email_verified, name }, { email: null, email_verified: false, name: null })
    })
  )

  it.effect("an identity is remembered until its token is refused for its age", () =>
    Effect.gen(function* () {
      const { expires_at } = yield* identity({})
      assert.strictEqual(expires_at.epochMilliseconds, (now + 300 + 60) * 1000)
    })
  )

  it.effect("tokens are distinguished by jti, or by content, but never by the encoding of a signature", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const hostile = yield* hostileProvider
      const { verify } = yield* judge(hostile)
      const digest = (token: string) => Effect.map(verify(asking(token)), ({ token_digest }) => token_digest)
      const { issuer } = hostile
      const nameless = jws({ alg: "ES256", kid: "ec-1" }, without(idClaims(issuer), "jti"), es256(keys.ec.privateKey))
      assert.notStrictEqual(respelled(nameless), nameless)

      const one = yield* digest(idToken(issuer))
      assert.strictEqual(yield* digest(idToken(issuer, { name: "Grace" })), one)
      assert.notStrictEqual(yield* digest(idToken(issuer, { jti: "token-2" })), one)
      const unnamed = yield* digest(nameless)
      assert.strictEqual(yield* digest(respelled(nameless)), unnamed)
      assert.notStrictEqual(unnamed, one)
      assert.notStrictEqual(
        yield* digest(jws(idHeader, { ...without(idClaims(issuer), "jti"), sub: "p" }, byRsa)),
        unnamed
      )
    })
  )
})

describe("the provider of a token", () => {
  it.effect("the provider of a token is the one with its issuer; the other is not contacted", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const [one, two] = [yield* hostileProvider, yield* hostileProvider]
      const { verify } = yield* judging(providerAt(one.issuer, { id: "one" }), providerAt(two.issuer, { id: "two" }))
      assert.strictEqual((yield* verify(asking(idToken(two.issuer)))).provider, "two")
      assert.deepStrictEqual([one.counts.discovery, two.counts.discovery], [0, 1])
    })
  )

  it.effect("the audience decides between two providers with one issuer, and they share its keys", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const { counts, issuer } = yield* hostileProvider
      const { verify } = yield* judging(
        providerAt(issuer, { id: "web", client_ids: ["web"] }),
        providerAt(issuer, { id: "mobile", client_ids: ["mobile"] })
      )
      assert.strictEqual((yield* verify(asking(idToken(issuer, { aud: "mobile" })))).provider, "mobile")
      assert.strictEqual((yield* verify(asking(idToken(issuer, { aud: "web" })))).provider, "web")
      assert.strictEqual(counts.jwks, 1)
    })
  )

  it.effect("the provider of a token must be the one that the request names", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const [one, two] = [yield* hostileProvider, yield* hostileProvider]
      const { verify } = yield* judging(providerAt(one.issuer, { id: "one" }), providerAt(two.issuer, { id: "two" }))
      const token = idToken(two.issuer)
      assert.strictEqual((yield* verify(asking(token, { provider: "two" }))).provider, "two")
      for (const provider of ["one", "nobody", ""]) {
        assert.strictEqual((yield* Effect.flip(verify(asking(token, { provider }))))._tag, "InvalidIdToken")
      }
      assert.strictEqual(one.counts.discovery, 0)
    })
  )

  it.effect("an id token needs no nonce when none was sent", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const hostile = yield* hostileProvider
      const { verify } = yield* judge(hostile)
      assert.strictEqual((yield* verify(asking(idToken(hostile.issuer), { nonce: null }))).subject, "person-1")
    })
  )

  it.effect("an id token needs one of the listed algorithms, and default ones do not count", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const hostile = yield* hostileProvider
      const { verify } = yield* judge(hostile, { algorithms: ["ES256"] })
      assert.strictEqual((yield* Effect.flip(verify(asking(idToken(hostile.issuer)))))._tag, "InvalidIdToken")
      const token = jws({ alg: "ES256", kid: "ec-1" }, idClaims(hostile.issuer), es256(keys.ec.privateKey))
      assert.strictEqual((yield* verify(asking(token))).subject, "person-1")
    })
  )
})
