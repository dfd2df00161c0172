/**
 * Where a person wanted to go before we sent them elsewhere.
 *
 * Only a path of ours: `//host` and `/\host` are other hosts to a browser, and it drops tabs and line ends before it
 * looks. So anything but visible ASCII is refused, and a backslash with it.
 */
const path = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/

/** Longer ones would not fit into the sign-in cookie. */
const longest = 2000

/** The path if it is one of ours, else `undefined`. */
export const returnPath = (text: string | null | undefined): string | undefined =>
  text !== null && text !== undefined && text.length <= longest && path.test(text) ? text : undefined

/** `path?return_to=…`, for when the way back is worth keeping. */
export const withReturn = (path: string, to: string | undefined): string =>
  to === undefined ? path : `${path}?return_to=${encodeURIComponent(to)}`
