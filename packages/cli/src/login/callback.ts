/**
 * Parses the redirect of a login, for the loopback listener and for a pasted URL.
 *
 * Pitfall: failing the login on a wrong state. Every process of this machine can call the port, so a redirect with a
 * wrong state is ignored.
 */
import { createHash, timingSafeEqual } from "node:crypto"

export type Callback =
  | { readonly _tag: "Code"; readonly code: string }
  /** `error` is the code of RFC 6749, section 4.1.2.1: `access_denied` if the user cancelled. */
  | { readonly _tag: "Refused"; readonly error: string }

export const callbackPath = "/callback"

/** `target` is the path with its query. Returns `undefined` if it is not the redirect of this login. */
export const readCallback = (target: string, state: string): Callback | undefined => {
  const [path, query, ...rest] = target.split("?")
  if (path !== callbackPath || query === undefined || rest.length > 0) return undefined
  const members = new URLSearchParams(query)
  const only = (name: string) => {
    const [value, ...others] = members.getAll(name)
    return others.length === 0 ? value : undefined
  }
  const given = only("state")
  if (given === undefined || !sameText(given, state)) return undefined
  const error = only("error")
  if (error !== undefined) return { _tag: "Refused", error }
  const code = only("code")
  return code === undefined || code === "" ? undefined : { _tag: "Code", code }
}

/** `text` is the whole redirect URL, as the browser shows it. */
export const readPasted = (text: string, redirect: string, state: string): Callback | undefined => {
  const origin = redirect.slice(0, -callbackPath.length)
  const pasted = text.trim().replace(/#.*$/, "")
  return pasted.startsWith(`${origin}/`) ? readCallback(pasted.slice(origin.length), state) : undefined
}

/** Compares in constant time. */
const sameText = (a: string, b: string) =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest())
