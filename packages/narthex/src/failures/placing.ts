/**
 * Stacks of the host's calls, which begin where the host called (docs/design/library.md N22).
 *
 * In memory a call costs less than a stack, so the stack is taken when the call has failed: V8 follows the promise to
 * the function that awaits it.
 */
import { place, siteOf } from "@narthex/api"

/** The call with errors that name it and begin at the function that awaits it. */
export const placing = <Args extends ReadonlyArray<unknown>, A>(name: string, call: (...args: Args) => Promise<A>) => {
  const placed = async (...args: Args): Promise<A> => {
    try {
      return await call(...args)
    } catch (error) {
      throw place(error, name, siteOf(placed))
    }
  }
  return placed
}
