/**
 * The client's end of a SCRAM-SHA-256 exchange, with a ClientKey in place of a password: what a proof of the user has shown
 * (RFC 5802, section 3). Pure, but for the nonce.
 */
import { timingSafeEqual } from "node:crypto"
import { attribute, hmac, makeNonce, sha256, xor } from "./signatures.ts"

export interface Keys {
  readonly clientKey: Buffer
  /** Of the verifier. A server that does not know it is another server. */
  readonly serverKey: Buffer
}

export class ScramClient {
  readonly #keys: Keys
  readonly #nonce = makeNonce()
  #signature: Buffer | undefined

  constructor(keys: Keys) {
    this.#keys = keys
  }

  /** The first message. Postgres takes the user of the startup packet and ignores the name here. */
  get first(): string {
    return `n,,${this.#bare}`
  }

  get #bare(): string {
    return `n=,r=${this.#nonce}`
  }

  /** The proof that answers the server's first message; `undefined` if it does not continue this exchange. */
  final(serverFirst: string): string | undefined {
    const nonce = attribute(serverFirst.split(",")[0], "r")
    if (nonce === undefined || nonce === this.#nonce || !nonce.startsWith(this.#nonce)) return undefined
    const { clientKey, serverKey } = this.#keys
    const withoutProof = `c=biws,r=${nonce}`
    const message = `${this.#bare},${serverFirst},${withoutProof}`
    this.#signature = hmac(serverKey, message)
    const proof = xor(clientKey, hmac(sha256(clientKey), message))
    return `${withoutProof},p=${proof.toString("base64")}`
  }

  /** Whether the server's final message shows that it has the verifier. */
  accepts(serverFinal: string): boolean {
    const signature = Buffer.from(attribute(serverFinal.split(",")[0], "v") ?? "", "base64")
    const expected = this.#signature
    return expected !== undefined && signature.length === expected.length && timingSafeEqual(signature, expected)
  }
}
