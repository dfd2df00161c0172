/** Generates a Postgres role: name, password, and the SCRAM-SHA-256 verifier that Postgres stores (RFC 5803). */
import { Effect, Redacted } from "effect"
import { Base64 } from "effect/encoding"
import { hmacSha256 } from "../../Digest.ts"
import { Entropy } from "../../Entropy.ts"

const iterations = 4096
const utf8 = new TextEncoder()
const alphabet = "abcdefghijklmnopqrstuvwxyz0123456789"

const text = (length: number) =>
  Effect.flatMap(Entropy, ({ bytes }) =>
    // 252 is the largest multiple of 36 in a byte: higher values would favour the first letters.
    Effect.map(bytes(length * 2), (random) =>
      Array.from(random.filter((byte) => byte < 252).slice(0, length), (byte) => alphabet.charAt(byte % 36)).join("")
    )
  ).pipe(Effect.repeat({ until: (made) => made.length === length }))

const sha256Bytes = (data: Uint8Array<ArrayBuffer>) =>
  Effect.promise(async () => new Uint8Array(await globalThis.crypto.subtle.digest("SHA-256", data)))

const saltedPassword = (password: string, salt: Uint8Array<ArrayBuffer>) =>
  Effect.promise(async () => {
    const key = await globalThis.crypto.subtle.importKey("raw", utf8.encode(password), "PBKDF2", false, ["deriveBits"])
    const bits = await globalThis.crypto.subtle.deriveBits(
      { name: "PBKDF2", hash: "SHA-256", salt, iterations },
      key,
      256
    )
    return new Uint8Array(bits)
  })

/** The verifier that Postgres stores instead of the password. The password must be ASCII, which needs no SASLprep. */
export const scramVerifier = Effect.fnUntraced(function* (password: string, salt: Uint8Array<ArrayBuffer>) {
  const salted = yield* saltedPassword(password, salt)
  const clientKey = yield* hmacSha256(salted, utf8.encode("Client Key"))
  const serverKey = yield* hmacSha256(salted, utf8.encode("Server Key"))
  const storedKey = yield* sha256Bytes(clientKey)
  return `SCRAM-SHA-256$${iterations}:${Base64.encode(salt)}$${Base64.encode(storedKey)}:${Base64.encode(serverKey)}`
})

export interface RoleSecret {
  readonly role: string
  readonly password: Redacted.Redacted
  readonly verifier: string
}

/** Generates a unique role: 80 bits of name, 165 bits of password. */
export const makeRoleSecret: Effect.Effect<RoleSecret> = Effect.gen(function* () {
  const role = `role_${yield* text(16)}`
  const password = yield* text(32)
  const salt = yield* (yield* Entropy).bytes(16)
  return {
    role,
    password: Redacted.make(password, { label: "password" }),
    verifier: yield* scramVerifier(password, salt)
  }
})
