/**
 * `return_to`: the page to open after sign-in or a switch (docs/design/console.md W9).
 *
 * Only a path on this origin is accepted. Browsers read `//host` and `/\host` as another host, and remove tabs and line
 * ends first, so everything but visible ASCII is refused, and so is the backslash.
 */
const path = /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/

/** Longer paths would not fit into the sign-in cookie. */
const maxLength = 2000

/** The path if it is acceptable, else `undefined`. */
export const returnPath = (text: string | null | undefined): string | undefined =>
  text !== null && text !== undefined && text.length <= maxLength && path.test(text) ? text : undefined

/** `path?return_to=…`, or `path` when there is nothing to return to. */
export const withReturn = (path: string, to: string | undefined): string =>
  to === undefined ? path : `${path}?return_to=${encodeURIComponent(to)}`
