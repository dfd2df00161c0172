/** A signer with a store and a master secret of its own, and a look at what it keeps. */
import { createPrivateKey } from "node:crypto"
import { MemoryStorage, OrgId, SessionId, type SigningKey, SigningKeyStore, TokenSigner, UserId } from "@narthex/core"
import { Context, DateTime, Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { compactDecrypt } from "jose"
import { MasterSecret } from "../../src/MasterSecret.ts"
import { JoseTokenSigner } from "../../src/sessions/JoseTokenSigner.ts"

export const issuer = "https://api.narthex.example"
/** The tests begin here, since the test clock begins in 1970, before everything. */
export const now = 1_790_000_000

export const startOfTests = TestClock.setTime(now * 1000)

export const masterOf = (letter: string) =>
  MasterSecret.layerGiven(Redacted.make(Buffer.alloc(32, letter).toString("base64url")))

/** A store in memory, shared by the signers that are built on it. */
export const storage = SigningKeyStore.layerMemory.pipe(Layer.provide(MemoryStorage.layer))

export const claims = {
  sub: UserId.make("user-1"),
  sid: SessionId.make("session-1"),
  org_id: OrgId.make("org-1"),
  role: "owner",
  auth_time: now,
  iat: now,
  exp: now + 900,
  jti: "jti-1",
  gen: 1
}

/** Builds a signer as one more instance of the server would. */
export const instance = (master: Layer.Layer<MasterSecret> = masterOf("m")) =>
  Effect.gen(function* () {
    const store = Layer.succeed(SigningKeyStore, yield* SigningKeyStore)
    const signer = JoseTokenSigner.layer({ issuer }).pipe(Layer.provide(Layer.merge(store, master)))
    return Context.get(yield* Layer.build(signer), TokenSigner)
  })

export const stored = Effect.gen(function* () {
  return yield* (yield* SigningKeyStore).published(yield* DateTime.now)
})

/** The private part of a stored key, which only the signer may unwrap. */
export const privateKeyOf = (row: SigningKey) =>
  Effect.gen(function* () {
    const secret = Redacted.value((yield* MasterSecret).key("signing-key-wrapping"))
    const { plaintext } = yield* Effect.promise(() => compactDecrypt(row.wrapped_private, secret))
    return createPrivateKey({ key: JSON.parse(Buffer.from(plaintext).toString()), format: "jwk" })
  }).pipe(Effect.provide(masterOf("m")))

/** Counts the reads of a store, and can make them fail. */
export const watched = (inner: SigningKeyStore["Service"]) => {
  const seen = { reads: 0 }
  const store = SigningKeyStore.of({
    ...inner,
    published: (at) =>
      Effect.suspend(() => {
        seen.reads++
        return inner.published(at)
      })
  })
  return { seen, store }
}
