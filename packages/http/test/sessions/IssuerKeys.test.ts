import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { eventually } from "../../../../test/harness/eventually.ts"
import { type HostileProvider, hostileProvider, huge, json, jwkOf, keys, redirect, silent } from "./HostileProvider.ts"
import { asking, idClaims, idToken, judge, judging, providerAt } from "./idTokens.ts"
import { type Json, jws, rs256 } from "./jws.ts"
import { now, startOfTests } from "./signing.ts"

/** Good for as long as these tests reach. */
const lasting: Json = { exp: now + 400_000 }
const nextToken = ({ issuer }: HostileProvider, kid = "rsa-2") =>
  jws({ alg: "RS256", kid }, { ...idClaims(issuer), ...lasting }, rs256(keys.next.privateKey))
const rotated = { keys: [jwkOf(keys.next, { kid: "rsa-2", alg: "RS256" })] }

const started = Effect.gen(function* () {
  yield* startOfTests
  const hostile = yield* hostileProvider
  const { verify } = yield* judge(hostile)
  const presenting = (token: string) => verify(asking(token))
  return { hostile, presenting, token: idToken(hostile.issuer, lasting) }
})

describe("a provider's keys", () => {
  it.effect("a provider's keys are fetched once for concurrent requests", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      yield* Effect.all(
        Array.from({ length: 20 }, () => presenting(token)),
        { concurrency: "unbounded" }
      )
      yield* TestClock.adjust("9 minutes")
      yield* presenting(token)
      assert.deepStrictEqual(hostile.counts, { discovery: 1, jwks: 1, elsewhere: 0 })
    })
  )

  it.effect("a provider's keys are fetched again after ten minutes, and a removed key is refused", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      yield* presenting(token)
      hostile.answers.jwks = json(rotated)
      yield* TestClock.adjust("10 minutes")
      assert.strictEqual((yield* Effect.flip(presenting(token)))._tag, "InvalidIdToken")
      assert.strictEqual((yield* presenting(nextToken(hostile))).subject, "person-1")
      assert.strictEqual(hostile.counts.jwks, 2)
    })
  )

  it.effect("a provider's keys are fetched for a new kid once the cool-down is over", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      yield* presenting(token)
      hostile.answers.jwks = json({ keys: [...hostile.published.jwks.keys, ...rotated.keys] })
      assert.strictEqual((yield* Effect.flip(presenting(nextToken(hostile))))._tag, "InvalidIdToken")
      assert.strictEqual(hostile.counts.jwks, 1)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* presenting(nextToken(hostile))).subject, "person-1")
      assert.strictEqual((yield* presenting(token)).subject, "person-1")
      assert.strictEqual(hostile.counts.jwks, 2)
    })
  )

  it.effect("a provider's new key under the same kid is fetched once the cool-down is over", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      yield* presenting(token)
      const replaced = nextToken(hostile, "rsa-1")
      hostile.answers.jwks = json({ keys: [jwkOf(keys.next, { kid: "rsa-1", alg: "RS256" })] })
      assert.strictEqual((yield* Effect.flip(presenting(replaced)))._tag, "InvalidIdToken")
      assert.strictEqual(hostile.counts.jwks, 1)
      yield* TestClock.adjust("30 seconds")
      assert.strictEqual((yield* presenting(replaced)).subject, "person-1")
      assert.strictEqual((yield* Effect.flip(presenting(token)))._tag, "InvalidIdToken")
      assert.strictEqual(hostile.counts.jwks, 2)
    })
  )

  it.effect("a provider's keys are used beside odd members of its key set", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      const odd = [null, 7, "key", [], {}, { kty: "RSA", kid: 7 }, { kty: "unheard-of", kid: "x" }]
      hostile.answers.jwks = json({ keys: [...odd, ...hostile.published.jwks.keys] })
      assert.strictEqual((yield* presenting(token)).subject, "person-1")
    })
  )

  it.effect("a provider's keys are fetched once in thirty seconds, however many unknown kids are tried", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      yield* presenting(token)
      yield* TestClock.adjust("30 seconds")
      const tries = Array.from({ length: 40 }, (_, n) => Effect.flip(presenting(nextToken(hostile, `forged-${n}`))))
      yield* Effect.all(tries, { concurrency: "unbounded" })
      assert.strictEqual(hostile.counts.jwks, 2)
    })
  )

  it.effect("a provider's cached keys are used for a day while it is down, and not longer", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      yield* presenting(token)
      yield* hostile.down
      yield* TestClock.adjust("23 hours")
      assert.strictEqual((yield* presenting(token)).subject, "person-1")
      assert.strictEqual((yield* Effect.flip(presenting(nextToken(hostile))))._tag, "ProviderUnavailable")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual((yield* Effect.flip(presenting(token)))._tag, "ProviderUnavailable")
    })
  )

  it.effect("a provider's keys are fetched again when it is back", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      hostile.hangsUp(true)
      assert.strictEqual((yield* Effect.flip(presenting(token)))._tag, "ProviderUnavailable")
      hostile.hangsUp(false)
      assert.strictEqual((yield* Effect.flip(presenting(token)))._tag, "ProviderUnavailable")
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* presenting(token)).subject, "person-1")
    })
  )
})

describe("a provider that does not answer", () => {
  it.effect("a provider that does not answer is unavailable after five seconds, for every waiting request", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      hostile.answers.jwks = silent
      const waiting = yield* Effect.forkChild(
        Effect.forEach([1, 2, 3], () => Effect.flip(presenting(token)), { concurrency: 3 })
      )
      yield* hostile.asked
      yield* TestClock.adjust("5 seconds")
      for (const refusal of yield* Fiber.join(waiting)) {
        assert.strictEqual(refusal._tag, "ProviderUnavailable")
        assert.include(refusal.message, '"hostile"')
      }
      assert.isAtMost(hostile.counts.jwks, 1)
    })
  )

  it.effect("a provider that does not answer delays no other provider", () =>
    Effect.gen(function* () {
      yield* startOfTests
      const [dead, alive] = [yield* hostileProvider, yield* hostileProvider]
      dead.answers.discovery = silent
      const { verify } = yield* judging(
        providerAt(dead.issuer, { id: "dead" }),
        providerAt(alive.issuer, { id: "alive" })
      )
      const waiting = yield* Effect.forkChild(Effect.flip(verify(asking(idToken(dead.issuer)))))
      yield* dead.asked
      assert.strictEqual((yield* verify(asking(idToken(alive.issuer)))).provider, "alive")
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust("5 seconds")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "ProviderUnavailable")
    })
  )

  it.effect("the connection to a provider that does not answer is closed", () =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      const closed = yield* Deferred.make<void>()
      hostile.answers.discovery = (_, response) =>
        response.once("close", () => Deferred.doneUnsafe(closed, Effect.void))
      const waiting = yield* Effect.forkChild(Effect.flip(presenting(token)))
      yield* hostile.asked
      yield* TestClock.adjust("4999 millis")
      assert.isUndefined(waiting.pollUnsafe())
      assert.isFalse(yield* Deferred.isDone(closed))
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(waiting))._tag, "ProviderUnavailable")
      yield* eventually("the connection to close", Deferred.isDone(closed))
    })
  )
})

describe("a provider that answers wrongly", () => {
  const wrongs: ReadonlyArray<readonly [name: string, turn: (hostile: HostileProvider) => void]> = [
    [
      "its discovery redirects to elsewhere",
      ({ answers, elsewhere }) => {
        answers.discovery = redirect(`${elsewhere}/.well-known/openid-configuration`)
      }
    ],
    [
      "its key set redirects to elsewhere",
      ({ answers, elsewhere }) => {
        answers.jwks = redirect(`${elsewhere}/jwks`)
      }
    ],
    [
      "its key set redirects to itself",
      ({ answers, issuer }) => {
        answers.jwks = redirect(`${issuer}/jwks2`)
      }
    ],
    [
      "its discovery has 10 MB",
      ({ answers, published }) => {
        answers.discovery = huge(published.discovery, 10_000_000)
      }
    ],
    [
      "its key set has 10 MB",
      ({ answers, published }) => {
        answers.jwks = huge(published.jwks, 10_000_000)
      }
    ],
    [
      "its key set has more than 256 KiB",
      ({ answers, published }) => {
        answers.jwks = huge(published.jwks, 256 * 1024)
      }
    ],
    [
      "its discovery names another issuer",
      ({ answers, elsewhere, published }) => {
        answers.discovery = json({ ...published.discovery, issuer: elsewhere })
      }
    ],
    [
      "its keys are to be had over plain http from elsewhere",
      ({ answers, published }) => {
        answers.discovery = json({ ...published.discovery, jwks_uri: "http://keys.example/jwks" })
      }
    ],
    [
      "its keys are a local file",
      ({ answers, published }) => {
        answers.discovery = json({ ...published.discovery, jwks_uri: "file:///etc/passwd" })
      }
    ],
    [
      "its keys are data in an address",
      ({ answers, published }) => {
        answers.discovery = json({ ...published.discovery, jwks_uri: 'data:application/json,{"keys":[]}' })
      }
    ],
    [
      "its discovery names no key set",
      ({ answers, issuer }) => {
        answers.discovery = json({ issuer })
      }
    ],
    [
      "its discovery is not JSON",
      ({ answers }) => {
        answers.discovery = (_, response) => response.end("<html>")
      }
    ],
    [
      "its key set does not have the form of one",
      ({ answers }) => {
        answers.jwks = json({ keys: "rsa-1" })
      }
    ],
    [
      "it answers 500",
      ({ answers, published }) => {
        answers.jwks = json(published.jwks, 500)
      }
    ],
    [
      "it hangs up",
      ({ answers }) => {
        answers.jwks = (request) => request.socket.destroy()
      }
    ]
  ]

  it.effect.each(wrongs)("a provider is unavailable when %s", ([, turn]) =>
    Effect.gen(function* () {
      const { hostile, presenting, token } = yield* started
      turn(hostile)
      assert.strictEqual((yield* Effect.flip(presenting(token)))._tag, "ProviderUnavailable")
      assert.strictEqual(hostile.counts.elsewhere, 0)
    })
  )
})

describe("a key set that is refused", () => {
  const tricks: ReadonlyArray<readonly [name: string, keys: ReadonlyArray<object>, header: Json]> = [
    ["it holds a symmetric key under the kid", [{ kty: "oct", kid: "rsa-1", k: "c2VjcmV0" }], {}],
    ["its key is for encryption", [jwkOf(keys.rsa, { kid: "rsa-1", use: "enc" })], {}],
    ["its key is for another algorithm", [jwkOf(keys.rsa, { kid: "rsa-1", alg: "RS512" })], {}],
    ["its key speaks for another issuer", [jwkOf(keys.rsa, { kid: "rsa-1", issuer: "https://elsewhere.example" })], {}],
    ["it holds private keys", [{ ...keys.rsa.privateKey.export({ format: "jwk" }), kid: "rsa-1" }], {}]
  ]

  it.effect.each(tricks)("a key set is refused when %s", ([, published, header]) =>
    Effect.gen(function* () {
      const { hostile, presenting } = yield* started
      hostile.answers.jwks = json({ keys: published })
      const refusal = yield* Effect.flip(presenting(idToken(hostile.issuer, lasting, header)))
      assert.strictEqual(refusal._tag, "InvalidIdToken")
    })
  )
})
