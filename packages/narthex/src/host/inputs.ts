/**
 * The arguments of the host's calls, compared with their types (docs/design/library.md N38). A wrong argument rejects
 * the call with `invalid_input`, as in the client of the API, before anything runs.
 *
 * Pitfall: calling these functions outside of an `async` function. The call would throw instead of rejecting.
 */
import { clientFailure } from "@narthex/api"
import { type Form, nameOf, problemOf, reading } from "../failures/forms.ts"

export const invalidInput = (about: string) => clientFailure("invalid_input", { about })

const refuse = (problem: string | undefined) => {
  if (problem !== undefined) throw invalidInput(problem)
}

/** Throws unless the value has the form. `path`: the name of the parameter. */
export const requireForm = (path: string, value: unknown, form: Form): void => refuse(problemOf(path, value, form))

/** The id of an object, or the value itself if it is an id. Throws for any other value. */
export const idIn = (path: string, value: string | { readonly id: string }): string => {
  let id: unknown
  refuse(
    reading(path, () => {
      // A program without types may pass anything.
      const given: unknown = value
      id = typeof given === "object" && given !== null && "id" in given ? given.id : given
      return typeof id === "string"
        ? undefined
        : `${path}: expected an id, or an object with an id, not ${nameOf(given)}.`
    })
  )
  return String(id)
}
