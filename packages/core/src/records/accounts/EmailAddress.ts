/**
 * Mail addresses as keys: addresses that are certainly equal get one spelling, and no others do.
 *
 * The domain is lower-cased and loses the dot of the root, the local part is lower-cased as far as it is ASCII. No dots or
 * plus tags are folded and nothing is Unicode-normalized (NFC turns the Kelvin sign into K), because a false match admits
 * a stranger.
 */

/** Lower case within ASCII. */
export const asciiLower = (text: string) => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase())

/**
 * The key of an address; `undefined` when the text is not an address. The domain must be ASCII already, or convertible
 * by URL rules.
 */
export const normalizeEmail = (address: string): string | undefined => {
  const at = address.lastIndexOf("@")
  const local = address.slice(0, at)
  const domain = asciiDomain(address.slice(at + 1))
  return at > 0 && domain !== undefined && !/[\s\p{Cc}]/u.test(local) && local.isWellFormed() && address.length <= 320
    ? `${asciiLower(local)}@${domain}`
    : undefined
}

/**
 * Whether the address is on a list of `user@dom` and `@dom` entries. An entry `@dom` means that domain, not its
 * subdomains.
 */
export const isListed = (list: ReadonlyArray<string>, address: string): boolean => {
  const key = normalizeEmail(address)
  if (key === undefined) return false
  const domain = key.slice(key.lastIndexOf("@"))
  return list.some((entry) =>
    entry.startsWith("@") ? normalizeEmail(`x${entry}`)?.slice(1) === domain : normalizeEmail(entry) === key
  )
}

/**
 * Converts by URL rules. They also drop control characters, read `0x7f.1` as an address and keep empty labels, so all
 * three are refused. A dot at the end is allowed: it is the root, which every domain has.
 */
function asciiDomain(domain: string): string | undefined {
  if (domain === "" || /[\s\p{Cc}/\\?#@:%[\]]/u.test(domain)) return undefined
  const host = (URL.parse(`http://${domain}`)?.hostname ?? "").replace(/\.$/, "")
  return host.split(".").includes("") || /^[\d.]+$/.test(host) ? undefined : host
}
