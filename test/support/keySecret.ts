/** A key's secret in the server's form. Its checksum is valid, because the command line verifies it. */
import { crc32 } from "node:zlib"

const alphabet = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"

export const keySecret = (): string => {
  const random = crypto.getRandomValues(new Uint8Array(43))
  const body = `nsk_${Array.from(random, (byte) => alphabet[byte % 62]).join("")}`
  let rest = crc32(body)
  let checksum = ""
  for (let digit = 0; digit < 6; digit++) {
    checksum = alphabet.charAt(rest % 62) + checksum
    rest = Math.floor(rest / 62)
  }
  return body + checksum
}
