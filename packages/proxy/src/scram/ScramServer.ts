/**
 * The server's end of a SCRAM-SHA-256 exchange (RFC 5802, RFC 7677), with and without channel binding, checked as Postgres
 * checks it. Pure, but for the nonce.
 *
 * 1. `begin`: the client's first message, and the challenge.
 * 2. `finish`: the client's proof. It yields the ClientKey, with which the proxy logs in to the compute: no password is known.
 *
 * Pitfall: taking the flag `y` over TLS. A client that supports channel binding sends it when it was offered none, so where it
 * was offered, a third party has removed the offer.
 */
import { timingSafeEqual } from "node:crypto"
import { attribute, hmac, makeNonce, sha256, xor } from "./signatures.ts"
import type { Verifier } from "./Verifier.ts"

export const [plain, plus] = ["SCRAM-SHA-256", "SCRAM-SHA-256-PLUS"] as const

/** Why an exchange ends before its proof: the client does not keep to the protocol. */
export type Violation = "malformed" | "unsupported" | "binding_mismatch"

export interface Challenge {
  /** The server's first message. */
  readonly text: string
  readonly finish: (clientFinal: string) => Proof | Violation | "wrong_password"
}

export interface Proof {
  readonly clientKey: Buffer
  /** The server's final message. */
  readonly text: string
}

/** The mechanisms that are offered. `binding` is the data of `tls-server-end-point`, if the channel has any. */
export const mechanismsOf = (binding: Buffer | undefined): ReadonlyArray<string> =>
  binding === undefined ? [plain] : [plus, plain]

/** The client's header (`n,,`, `y,,` or `p=…,,`), its name, which is ignored, and its nonce, which is printable. */
const firstForm = /^((n|y|p=([A-Za-z0-9.-]+)),(a=[^,]*)?,)((m=)?.*)$/s
const bareForm = /^n=([^,]*),r=([\x21-\x2b\x2d-\x7e]+)(?:,[A-Za-z]=.*)?$/s

/** Takes the first message of a client that has chosen one of `mechanismsOf`. */
export const begin = (
  verifier: Verifier,
  mechanism: string,
  clientFirst: string,
  binding: Buffer | undefined
): Challenge | Violation => {
  if (!mechanismsOf(binding).includes(mechanism)) return "malformed"
  const [, header, flag, bindingType, authorization, bare, extension] = firstForm.exec(clientFirst) ?? []
  if (header === undefined || flag === undefined || bare === undefined) return "malformed"
  if (authorization !== undefined || extension !== undefined) return "unsupported"
  const bound = bindingType !== undefined
  if (bound !== (mechanism === plus)) return "malformed"
  if (bound && bindingType !== "tls-server-end-point") return "unsupported"
  if (flag === "y" && binding !== undefined) return "binding_mismatch"
  const nonce = bareForm.exec(bare)?.[2]
  if (nonce === undefined) return "malformed"

  const combined = nonce + makeNonce()
  const text = `r=${combined},s=${verifier.salt},i=${verifier.iterations}`
  const expected = Buffer.concat([Buffer.from(header), bound && binding !== undefined ? binding : Buffer.alloc(0)])
  return { text, finish: (clientFinal) => finish(verifier, { bare, combined, expected, text }, clientFinal) }
}

interface Begun {
  readonly bare: string
  readonly combined: string
  /** The data that the client has to repeat: its header, and the channel binding. */
  readonly expected: Buffer
  readonly text: string
}

const finish = (
  { serverKey, storedKey }: Verifier,
  { bare, combined, expected, text }: Begun,
  clientFinal: string
): ReturnType<Challenge["finish"]> => {
  const at = clientFinal.lastIndexOf(",p=")
  if (at === -1) return "malformed"
  const withoutProof = clientFinal.slice(0, at)
  const [channel, nonce] = withoutProof.split(",")
  const proof = Buffer.from(clientFinal.slice(at + 3), "base64")
  const bindingSent = attribute(channel, "c")
  if (bindingSent === undefined || proof.length !== storedKey.length) return "malformed"
  if (bindingSent !== expected.toString("base64")) return "binding_mismatch"
  if (attribute(nonce, "r") !== combined) return "malformed"

  const message = `${bare},${text},${withoutProof}`
  const clientKey = xor(proof, hmac(storedKey, message))
  if (!timingSafeEqual(sha256(clientKey), storedKey)) return "wrong_password"
  return { clientKey, text: `v=${hmac(serverKey, message).toString("base64")}` }
}
