/** The role of the tests, in the form of a minted one, and how its verifier is made. */
import { createHash, createHmac, pbkdf2Sync } from "node:crypto"

export const role = "role_0123456789abcdef"
export const password = "correct horse"

/** The verifier of a password (RFC 5803). The salt derives from the name, so that it is always the same. */
export const verifierOf = (name: string, secret = password): string => {
  const salt = createHash("sha256").update(name).digest().subarray(0, 16)
  const salted = pbkdf2Sync(secret, salt, 4096, 32, "sha256")
  const keyed = (label: string) => createHmac("sha256", salted).update(label).digest()
  const stored = createHash("sha256").update(keyed("Client Key")).digest("base64")
  return `SCRAM-SHA-256$4096:${salt.toString("base64")}$${stored}:${keyed("Server Key").toString("base64")}`
}
