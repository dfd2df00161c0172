/**
 * Stacks that begin where a program called the library, instead of where the library found the failure
 * (docs/design/client.md L6).
 *
 * Pitfall: taking the stack after an `await`. It has the caller only where the caller awaits the call itself, so a call
 * that costs much more than a stack takes it first.
 */
import { NarthexError } from "./NarthexError.ts"

/** The place of a call; the platform turns it into text when it is read. */
interface Site {
  readonly stack?: string
}

/** Where `method`, which is running, was called. */
export const siteOf = (method: (...args: never) => unknown): Site => {
  const site: Site = {}
  // Older browsers have no such function. Errors keep their own stack there.
  Error.captureStackTrace?.(site, method)
  return site
}

/** The error, which names the call and begins at its place. An error that names a call already is not changed. */
export const place = <E>(error: E, call: string, { stack }: Site): E => {
  if (!(error instanceof NarthexError) || error.call !== undefined) return error
  const placed: { call: string | undefined; stack?: string } = error
  placed.call = call
  const frames = /\n {4}at .*/s.exec(stack ?? "")?.[0]
  if (frames !== undefined) placed.stack = `${error.name}: ${call}: ${error.message}${frames}`
  return error
}

/** The call with errors that are placed. */
export const placing = <Args extends ReadonlyArray<unknown>, A>(name: string, call: (...args: Args) => Promise<A>) => {
  const placed = async (...args: Args): Promise<A> => {
    const site = siteOf(placed)
    try {
      return await call(...args)
    } catch (error) {
      throw place(error, name, site)
    }
  }
  return placed
}
