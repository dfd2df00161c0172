/**
 * Is this the browser coming back? One judge for what the loopback listener hears and what a person pastes.
 *
 * A state that is not ours is no answer at all, not a failed one: anything on this machine can call the port, and must
 * not be able to end the login.
 */
import { createHash, timingSafeEqual } from "node:crypto"

export type Callback =
  | { readonly _tag: "Code"; readonly code: string }
  /** The console said no; `error` is its word, `access_denied` when the person cancelled. */
  | { readonly _tag: "Refused"; readonly error: string }

export const callbackPath = "/callback"

/** `target` is the path with its query. `undefined`: not the answer to this login. */
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

/** What a person pastes: the whole address, as the browser shows it. */
export const readPasted = (text: string, redirect: string, state: string): Callback | undefined => {
  const origin = redirect.slice(0, -callbackPath.length)
  const pasted = text.trim().replace(/#.*$/, "")
  return pasted.startsWith(`${origin}/`) ? readCallback(pasted.slice(origin.length), state) : undefined
}

/** In a time that does not depend on where they differ. */
const sameText = (a: string, b: string) =>
  timingSafeEqual(createHash("sha256").update(a).digest(), createHash("sha256").update(b).digest())
