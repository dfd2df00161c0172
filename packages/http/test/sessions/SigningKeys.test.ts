/** Holds docs/design/identity.md I28. */
import { assert, describe, it } from "@effect/vitest"
import { SigningKeyStore, StorageError } from "@narthex/core"
import { DateTime, Duration, Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { rotateSigningKeys } from "../../src/sessions/rotateSigningKeys.ts"
import { signingKeysExist } from "../../src/sessions/SigningKeyRing.ts"
import { makeSigningKey } from "../../src/sessions/WrappedKey.ts"
import { ed25519Pair, eddsa, jws } from "./jws.ts"
import { claims, instance, issuer, masterOf, now, startOfTests, storage, stored, watched } from "./signing.ts"

const kidOf = (token: Redacted.Redacted) =>
  String(JSON.parse(Buffer.from(Redacted.value(token).split(".")[0] ?? "", "base64url").toString())["kid"])

const seconds = Effect.map(DateTime.now, (at) => Math.floor(at.epochMilliseconds / 1000))

/** A token of this moment. */
const fresh = Effect.map(seconds, (iat) => ({ ...claims, iat, exp: iat + 900, auth_time: iat }))

const rotate = rotateSigningKeys().pipe(Effect.provide(masterOf("m")))

const forged = (n: number) =>
  Redacted.make(
    jws(
      { alg: "EdDSA", kid: String(n).padStart(43, "x"), typ: "narthex-session+jwt" },
      { iss: issuer, aud: issuer, ...claims },
      eddsa(stranger)
    )
  )
const stranger = ed25519Pair().privateKey

describe("the first key", () => {
  it.effect("instances that start together make one first signing key", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const signers = yield* Effect.all([instance(), instance(), instance(), instance()], { concurrency: "unbounded" })
      assert.lengthOf(yield* stored, 1)
      for (const signer of signers) {
        const token = yield* signer.sign(claims)
        for (const other of signers) assert.deepStrictEqual(yield* other.verify(token), claims)
      }
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("a master secret is generated only while there is no signing key", () =>
    Effect.gen(function* () {
      yield* startOfTests
      assert.isFalse(yield* signingKeysExist)
      yield* instance()
      assert.isTrue(yield* signingKeysExist)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("a signing key is there after a restart, and the store does not reveal it", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const token = yield* (yield* instance()).sign(claims)
      assert.deepStrictEqual(yield* (yield* instance()).verify(token), claims)
      const [row] = yield* stored
      assert.notInclude(JSON.stringify(row), '"d"')
      assert.notProperty(JSON.parse(row?.public_jwk ?? "{}"), "d")
      assert.strictEqual(row?.wrapped_private.split(".").length, 5)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("another master secret fails at the start with a plain error", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const kid = kidOf(yield* (yield* instance()).sign(claims))
      const refusal = yield* Effect.flip(instance(masterOf("x")))
      assert.strictEqual(refusal._tag, "SigningKeysUnreadable")
      assert.include(refusal.message, kid)
      assert.include(refusal.message, "NARTHEX_MASTER_SECRET")
      assert.lengthOf(yield* stored, 1)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("a signing key under another key's id is refused: what was wrapped counts, not the row", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const store = yield* SigningKeyStore
      const key = yield* makeSigningKey(yield* DateTime.now).pipe(Effect.provide(masterOf("m")))
      const planted = ed25519Pair()
      yield* store.addFirst({
        ...key,
        kid: "A".repeat(43),
        public_jwk: JSON.stringify(planted.publicKey.export({ format: "jwk" }))
      })
      assert.strictEqual((yield* Effect.flip(instance()))._tag, "SigningKeysUnreadable")
    }).pipe(Effect.provide(storage), Effect.scoped)
  )
})

describe("rotation", () => {
  it.effect("a rotation makes the first signing key if there is none", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const { kid, old_published_until } = yield* rotate
      assert.isNull(old_published_until)
      assert.strictEqual(kidOf(yield* (yield* instance()).sign(claims)), kid)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("a rotation with another master secret is refused and changes nothing", () =>
    Effect.gen(function* () {
      yield* startOfTests
      yield* instance()
      const before = yield* stored
      const refusal = yield* Effect.flip(rotateSigningKeys().pipe(Effect.provide(masterOf("x"))))
      assert.strictEqual(refusal._tag, "SigningKeysUnreadable")
      assert.deepStrictEqual(yield* stored, before)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect(
    "a rotation publishes the new key at once, signs with it ten minutes later, and keeps the old one for 12 h 15 min more",
    () =>
      Effect.gen(function* () {
        yield* startOfTests
        const signer = yield* instance()
        const old = yield* signer.sign(yield* fresh)
        const { active_from, kid, old_published_until } = yield* rotate
        assert.strictEqual(active_from.epochMilliseconds, (now + 600) * 1000)
        const published = Effect.map(signer.keys, ({ keys }) => keys.map((key) => key["kid"]))

        yield* TestClock.adjust("1 minute")
        assert.includeMembers(yield* published, [kid, kidOf(old)])
        assert.strictEqual(kidOf(yield* signer.sign(yield* fresh)), kidOf(old))

        yield* TestClock.adjust(Duration.seconds(539))
        const last = yield* signer.sign(yield* fresh)
        assert.strictEqual(kidOf(last), kidOf(old))

        yield* TestClock.adjust("1 second")
        const first = yield* signer.sign(yield* fresh)
        assert.strictEqual(kidOf(first), kid)
        assert.isAtLeast((old_published_until?.epochMilliseconds ?? 0) - active_from.epochMilliseconds, 44_100_000)

        yield* TestClock.adjust(Duration.seconds(44_099))
        assert.strictEqual((yield* signer.verify(last)).sid, claims.sid)

        yield* TestClock.adjust("1 second")
        assert.strictEqual((yield* Effect.flip(signer.verify(last)))._tag, "ForgedToken")
        assert.deepStrictEqual(yield* published, [kid])
        assert.strictEqual((yield* signer.verify(first)).sid, claims.sid)
      }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("two rotations in a row leave every key that signed valid", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const signer = yield* instance()
      const tokens = [yield* signer.sign(yield* fresh)]
      yield* rotate
      yield* TestClock.adjust("5 minutes")
      yield* rotate
      for (const _ of [1, 2]) {
        yield* TestClock.adjust("6 minutes")
        tokens.push(yield* signer.sign(yield* fresh))
      }
      assert.strictEqual(new Set(tokens.map(kidOf)).size, 3)
      for (const token of tokens) assert.strictEqual((yield* signer.verify(token)).sid, claims.sid)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )
})

describe("the ring", () => {
  const observed = Effect.gen(function* () {
    yield* startOfTests
    const inner = yield* SigningKeyStore
    const { seen, store } = watched(inner)
    const signer = yield* instance().pipe(Effect.provideService(SigningKeyStore, store))
    return { inner, seen, signer }
  })

  it.effect("the key ring reads the store once in five seconds for any number of forged kids", () =>
    Effect.gen(function* () {
      const { seen, signer } = yield* observed
      const storm = Effect.forEach(
        Array.from({ length: 200 }, (_, n) => forged(n)),
        (token) => Effect.flip(signer.verify(token)),
        { concurrency: 50, discard: true }
      )
      const before = seen.reads
      yield* storm
      assert.strictEqual(seen.reads, before)
      yield* TestClock.adjust("5 seconds")
      yield* storm
      assert.strictEqual(seen.reads, before + 1)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("the key ring learns a key that another instance signs with", () =>
    Effect.gen(function* () {
      const { signer } = yield* observed
      const { kid } = yield* rotate
      yield* TestClock.adjust("10 seconds")
      const ahead = yield* instance()
      assert.includeMembers(
        (yield* ahead.keys).keys.map((key) => key["kid"]),
        [kid]
      )
      yield* TestClock.adjust("10 minutes")
      const token = yield* ahead.sign(yield* fresh)
      assert.strictEqual(kidOf(token), kid)
      assert.strictEqual((yield* signer.verify(token)).sid, claims.sid)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("the key ring keeps its keys while the store is down", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const inner = yield* SigningKeyStore
      let down = false
      const broken = new StorageError({ operation: "published", cause: new Error("down") })
      const store = SigningKeyStore.of({
        ...inner,
        published: (at) => Effect.suspend(() => (down ? Effect.fail(broken) : inner.published(at)))
      })
      const signer = yield* instance().pipe(Effect.provideService(SigningKeyStore, store))
      const token = yield* signer.sign(claims)
      down = true
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* signer.verify(token)).sid, claims.sid)
      assert.strictEqual((yield* signer.verify(yield* signer.sign(yield* fresh))).sid, claims.sid)
      yield* TestClock.adjust("10 seconds")
      assert.strictEqual((yield* Effect.flip(signer.verify(forged(1))))._tag, "StorageError")
    }).pipe(Effect.provide(storage), Effect.scoped)
  )

  it.effect("the key ring skips a key that appears later and does not open", () =>
    Effect.gen(function* () {
      const { inner, signer } = yield* observed
      const alien = yield* makeSigningKey(yield* DateTime.now).pipe(Effect.provide(masterOf("x")))
      yield* inner.rotate(alien, DateTime.add(yield* DateTime.now, { hours: 13 }))
      yield* TestClock.adjust("2 minutes")
      const token = yield* signer.sign(yield* fresh)
      assert.notStrictEqual(kidOf(token), alien.kid)
      assert.notInclude(
        (yield* signer.keys).keys.map((key) => key["kid"]),
        alien.kid
      )
      assert.strictEqual((yield* signer.verify(token)).sid, claims.sid)
    }).pipe(Effect.provide(storage), Effect.scoped)
  )
})
