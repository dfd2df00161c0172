import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted, Result } from "effect"
import { Base64 } from "effect/encoding"
import { hmacSha256 } from "../../src/Digest.ts"
import { Entropy } from "../../src/Entropy.ts"
import { makeRoleSecret, scramVerifier } from "../../src/records/projects/RoleSecret.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)
const bytesOf = (base64: string) => new Uint8Array(Result.getOrThrow(Base64.decode(base64)))
const partsOf = (verifier: string) => {
  const found = /^SCRAM-SHA-256\$4096:([^$]+)\$([^:]+):(.+)$/.exec(verifier)
  if (found === null) throw new Error(`${verifier} is no verifier.`)
  const [, salt = "", stored = "", server = ""] = found
  return { salt, stored: bytesOf(stored), server: bytesOf(server) }
}

describe("scramVerifier", () => {
  it.effect("the verifier completes the exchange of RFC 7677, §3", () =>
    Effect.gen(function* () {
      const salt = "W22ZaJ0SNY7soEsUEjb6gQ=="
      const nonce = "rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
      const message = utf8(`n=user,r=rOprNGfwEbeRWgbNEkqO,r=${nonce},s=${salt},i=4096,c=biws,r=${nonce}`)
      const verifier = partsOf(yield* scramVerifier("pencil", bytesOf(salt)))
      assert.strictEqual(verifier.salt, salt)

      const signature = yield* hmacSha256(verifier.stored, message)
      const proof = bytesOf("dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
      const clientKey = proof.map((byte, index) => byte ^ (signature[index] ?? 0))
      const digest = yield* Effect.promise(() => globalThis.crypto.subtle.digest("SHA-256", clientKey))
      assert.deepStrictEqual(new Uint8Array(digest), verifier.stored)
      assert.strictEqual(
        Base64.encode(yield* hmacSha256(verifier.server, message)),
        "6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="
      )
    })
  )
})

describe("makeRoleSecret", () => {
  it.effect("generated names need no quoting, passwords no escaping, and all differ", () =>
    Effect.gen(function* () {
      const made = yield* Effect.forEach(Array.from({ length: 50 }), () => makeRoleSecret)
      for (const { password, role, verifier } of made) {
        assert.match(role, /^role_[a-z0-9]{16}$/)
        assert.match(Redacted.value(password), /^[a-z0-9]{32}$/)
        assert.notInclude(verifier, Redacted.value(password))
      }
      for (const of of [
        made.map((it) => it.role),
        made.map((it) => Redacted.value(it.password)),
        made.map((it) => partsOf(it.verifier).salt)
      ])
        assert.strictEqual(new Set(of).size, 50)
    })
  )

  it.effect("text is drawn again when too many bytes are unusable, so that no letter is favoured", () =>
    Effect.gen(function* () {
      let asked = 0
      const bytes = (count: number) => Effect.sync(() => new Uint8Array(count).fill(asked++ === 0 ? 255 : 35))
      const { role } = yield* Effect.provideService(makeRoleSecret, Entropy, { bytes })
      assert.strictEqual(role, `role_${"9".repeat(16)}`)
      assert.strictEqual(asked, 4, "name twice, password, salt")
    })
  )
})
