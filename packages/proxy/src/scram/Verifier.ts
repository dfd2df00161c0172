/** The SCRAM-SHA-256 verifier, which a server stores in place of a password (RFC 5802, RFC 7677). Pure. */
import { createHmac } from "node:crypto"

export interface Verifier {
  /** base64, as it is sent. */
  readonly salt: string
  readonly iterations: number
  readonly storedKey: Buffer
  readonly serverKey: Buffer
}

const form = /^SCRAM-SHA-256\$(\d{1,9}):([A-Za-z0-9+/]+={0,2})\$([A-Za-z0-9+/]+={0,2}):([A-Za-z0-9+/]+={0,2})$/
const keyLength = 32

/** Reads the text that Postgres stores, `SCRAM-SHA-256$iterations:salt$StoredKey:ServerKey`; `undefined` for any other. */
export const parseVerifier = (text: string): Verifier | undefined => {
  const [, iterations, salt, stored, server] = form.exec(text) ?? []
  if (iterations === undefined || salt === undefined || stored === undefined || server === undefined) return undefined
  const [storedKey, serverKey] = [Buffer.from(stored, "base64"), Buffer.from(server, "base64")]
  if (storedKey.length !== keyLength || serverKey.length !== keyLength) return undefined
  return { salt, iterations: Number(iterations), storedKey, serverKey }
}

/** The iterations and the bytes of salt of minted roles (`makeRoleSecret` of the core). */
const [usualIterations, saltBytes] = [4096, 16]

/**
 * The verifier of a name that has none: always the same for the name, and no password fits it. So the exchange with an
 * unknown role looks like that with a known role and a wrong password.
 */
export const decoyOf = (secret: Buffer, name: string): Verifier => {
  const derived = (label: string) => createHmac("sha256", secret).update(`${label} ${name}`).digest()
  return {
    salt: derived("salt").subarray(0, saltBytes).toString("base64"),
    iterations: usualIterations,
    storedKey: derived("stored key"),
    serverKey: derived("server key")
  }
}
