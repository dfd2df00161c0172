/** SCRAM-SHA-256: client and server against each other, against the vectors of the RFC, and with each step changed. */
import { createHash, createHmac, pbkdf2Sync } from "node:crypto"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { ScramClient } from "../../src/scram/ScramClient.ts"
import { begin, type Challenge, mechanismsOf, plain, plus } from "../../src/scram/ScramServer.ts"
import { decoyOf, parseVerifier } from "../../src/scram/Verifier.ts"
import { role, verifierOf } from "../support/credentials.ts"

const verifier = parseVerifier(verifierOf(role)) ?? assert.fail("a verifier")
const binding = Buffer.from("the digest of a certificate")
const clientNonce = "rOprNGfwEbeRWgbNEkqO"

const keyOf = (password: string, salt: string, iterations: number) =>
  createHmac("sha256", pbkdf2Sync(password, Buffer.from(salt, "base64"), iterations, 32, "sha256"))
    .update("Client Key")
    .digest()

const begun = (header: string, mechanism: string, offered?: Buffer) =>
  begin(verifier, mechanism, `${header}n=,r=${clientNonce}`, offered)

const challenged = (header = "n,,", mechanism: string = plain, offered?: Buffer): Challenge => {
  const challenge = begun(header, mechanism, offered)
  return typeof challenge === "string" ? assert.fail(challenge) : challenge
}

/** The client's final message, with what it repeats of the channel and the nonce. */
const proofFor = (
  challenge: Challenge,
  {
    channel = Buffer.from("n,,"),
    nonce,
    secret = "correct horse"
  }: { channel?: Buffer; nonce?: string; secret?: string } = {}
) => {
  const combined = nonce ?? /^r=([^,]*)/.exec(challenge.text)?.[1] ?? ""
  const withoutProof = `c=${channel.toString("base64")},r=${combined}`
  const clientKey = keyOf(secret, verifier.salt, verifier.iterations)
  const storedKey = createHash("sha256").update(clientKey).digest()
  const signature = createHmac("sha256", storedKey)
    .update(`n=,r=${clientNonce},${challenge.text},${withoutProof}`)
    .digest()
  const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)))
  return `${withoutProof},p=${proof.toString("base64")}`
}

describe("the server of SCRAM-SHA-256", () => {
  it("accepts the password, and learns the ClientKey with which the compute accepts the proxy", () => {
    const challenge = challenged()
    const proof = challenge.finish(proofFor(challenge))
    if (typeof proof === "string") return assert.fail(proof)
    assert.isTrue(proof.clientKey.equals(keyOf("correct horse", verifier.salt, verifier.iterations)))

    const client = new ScramClient({ clientKey: proof.clientKey, serverKey: verifier.serverKey })
    const compute = begin(verifier, plain, client.first, undefined)
    if (typeof compute === "string") return assert.fail(compute)
    const answer = compute.finish(client.final(compute.text) ?? "")
    if (typeof answer === "string") return assert.fail(answer)
    assert.isTrue(client.accepts(answer.text))
    assert.isFalse(client.accepts(proof.text), "the signature of another exchange")
  })

  it("refuses another password, and a proof of another exchange", () => {
    const challenge = challenged()
    for (const secret of ["", "Correct horse", "correct horse "])
      assert.strictEqual(challenge.finish(proofFor(challenge, { secret })), "wrong_password")
    assert.strictEqual(challenge.finish(proofFor(challenge, { nonce: `${clientNonce}other` })), "malformed")
    assert.strictEqual(challenged().finish(proofFor(challenge)), "malformed")
  })

  it("offers channel binding where the channel has any, and checks it", () => {
    assert.deepStrictEqual(mechanismsOf(undefined), [plain])
    assert.deepStrictEqual(mechanismsOf(binding), [plus, plain])
    const header = "p=tls-server-end-point,,"
    const bound = challenged(header, plus, binding)
    const channel = (data: string) => Buffer.concat([Buffer.from(header), Buffer.from(data)])
    assert.strictEqual(bound.finish(proofFor(bound, { channel: channel("another certificate") })), "binding_mismatch")
    assert.strictEqual(bound.finish(proofFor(bound)), "binding_mismatch")
    assert.isObject(bound.finish(proofFor(bound, { channel: channel(binding.toString()) })))
    const unbound = challenged("n,,", plain, binding)
    assert.isObject(unbound.finish(proofFor(unbound)), "a client without channel binding is served")
  })

  it("notices that a third party has removed the offer of channel binding", () => {
    assert.strictEqual(begun("y,,", plain, binding), "binding_mismatch")
    const honest = challenged("y,,", plain)
    assert.isObject(honest.finish(proofFor(honest, { channel: Buffer.from("y,,") })))
  })

  it.each([
    ["n,,", plus, binding, "malformed"],
    ["p=tls-server-end-point,,", plain, binding, "malformed"],
    ["p=tls-server-end-point,,", plus, undefined, "malformed"],
    ["p=tls-unique,,", plus, binding, "unsupported"],
    ["n,a=narthex,", plain, undefined, "unsupported"],
    ["n,,m=1,", plain, undefined, "unsupported"],
    ["x,,", plain, undefined, "malformed"],
    ["", plain, undefined, "malformed"],
    ["n,,", "PLAIN", undefined, "malformed"],
    ["n,,", "", undefined, "malformed"]
  ] as const)("answers the header %j of %s as Postgres does", (header, mechanism, offered, expected) => {
    assert.strictEqual(begun(header, mechanism, offered), expected)
  })

  it.prop(
    "any change of a proof is refused",
    [
      Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 500 })),
      Schema.Int.check(Schema.isBetween({ minimum: 33, maximum: 126 }))
    ],
    ([at, code]) => {
      const challenge = challenged()
      const right = proofFor(challenge)
      const place = at % right.length
      const changed = right.slice(0, place) + String.fromCharCode(code) + right.slice(place + 1)
      const outcome = challenge.finish(changed)
      // base64 has unused bits in its last digit, so another text may be the same proof.
      const same =
        changed === right || Buffer.from(changed.slice(-44), "base64").equals(Buffer.from(right.slice(-44), "base64"))
      return same || typeof outcome === "string"
    },
    { arbitrary: { runs: 200 } }
  )

  it("computes what RFC 7677 computes", () => {
    // Section 3: user, pencil.
    const [salt, iterations] = ["W22ZaJ0SNY7soEsUEjb6gQ==", 4096]
    const salted = pbkdf2Sync("pencil", Buffer.from(salt, "base64"), iterations, 32, "sha256")
    const clientKey = createHmac("sha256", salted).update("Client Key").digest()
    const message =
      "n=user,r=rOprNGfwEbeRWgbNEkqO,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==," +
      "i=4096,c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0"
    const stored = createHash("sha256").update(clientKey).digest()
    const signature = createHmac("sha256", stored).update(message).digest()
    const proof = Buffer.from(clientKey.map((byte, at) => byte ^ (signature[at] ?? 0)))
    assert.strictEqual(proof.toString("base64"), "dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ=")
  })
})

describe("the client of SCRAM-SHA-256", () => {
  it("sends no proof to a server that does not continue its exchange", () => {
    const client = new ScramClient({ clientKey: Buffer.alloc(32), serverKey: Buffer.alloc(32) })
    for (const first of [
      "r=another,s=AAAA,i=4096",
      "",
      "s=AAAA,i=4096",
      `${client.first.replace("n,,n=,", "")},s=AAAA,i=4096`
    ])
      assert.isUndefined(client.final(first), first)
    assert.isFalse(client.accepts("v=AAAA"))
  })
})

describe("a verifier", () => {
  it.each([
    "",
    "md5d41d8cd98f00b204e9800998ecf8427e",
    "SCRAM-SHA-256$4096:AAAA$AAAA:AAAA",
    "SCRAM-SHA-1$4096:AAAA$AAAA:AAAA"
  ])("is not read from %j", (text) => {
    assert.isUndefined(parseVerifier(text))
  })

  it("the decoy of an unknown name is always the same, differs by name and secret, and looks like a verifier", () => {
    const secret = Buffer.from("secret")
    const decoy = decoyOf(secret, "role_a")
    assert.deepStrictEqual(decoyOf(secret, "role_a"), decoy)
    assert.notStrictEqual(decoyOf(secret, "role_b").salt, decoy.salt)
    assert.notStrictEqual(decoyOf(Buffer.from("other"), "role_a").salt, decoy.salt)
    assert.strictEqual(decoy.salt.length, verifier.salt.length)
    assert.strictEqual(decoy.iterations, verifier.iterations)
    assert.isFalse(decoy.storedKey.equals(decoy.serverKey))
  })
})

describe("an exchange", () => {
  it.effect("cannot be finished with the text that a verifier shows", () =>
    Effect.sync(() => {
      const challenge = challenged()
      const [channel, nonce] = ["c=biws", /^(r=[^,]*)/.exec(challenge.text)?.[1]]
      for (const key of [verifier.storedKey, verifier.serverKey])
        assert.strictEqual(challenge.finish(`${channel},${nonce},p=${key.toString("base64")}`), "wrong_password")
    })
  )
})
