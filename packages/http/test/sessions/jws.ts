/** Tokens as an attacker writes them: any header, any payload, any key, no library that would refuse. */
import { createHmac, generateKeyPairSync, type KeyObject, sign } from "node:crypto"

export type Json = Readonly<Record<string, unknown>>
export type Sign = (input: string) => Buffer

/** Text is taken as it is: for payloads that are not JSON, or JSON with a twist. */
export const segment = (value: Json | string | Buffer): string =>
  Buffer.from(typeof value === "string" || Buffer.isBuffer(value) ? value : JSON.stringify(value)).toString("base64url")

export const jws = (header: Json | string, payload: Json | string | Buffer, signed: Sign): string => {
  const input = `${segment(header)}.${segment(payload)}`
  return `${input}.${signed(input).toString("base64url")}`
}

export const eddsa =
  (key: KeyObject): Sign =>
  (input) =>
    sign(null, Buffer.from(input), key)

export const rs256 =
  (key: KeyObject): Sign =>
  (input) =>
    sign("sha256", Buffer.from(input), key)

export const es256 =
  (key: KeyObject): Sign =>
  (input) =>
    sign("sha256", Buffer.from(input), { key, dsaEncoding: "ieee-p1363" })

export const hs256 =
  (secret: string | Buffer): Sign =>
  (input) =>
    createHmac("sha256", secret).update(input).digest()

export const unsigned: Sign = () => Buffer.alloc(0)

export const ed25519Pair = () => generateKeyPairSync("ed25519")
export const rsaPair = () => generateKeyPairSync("rsa", { modulusLength: 2048 })
export const ecPair = () => generateKeyPairSync("ec", { namedCurve: "P-256" })

/** Without the members named. */
export const without = (value: Json, ...names: ReadonlyArray<string>): Json =>
  Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))

const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"

/** The same bytes under another text: the last character's spare bits, which decoding drops, are set. */
export const respelled = (token: string): string => {
  const last = alphabet.indexOf(token.slice(-1))
  return token.slice(0, -1) + alphabet.charAt(last | 1)
}
