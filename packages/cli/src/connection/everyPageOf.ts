/** Every page of a list that is known by its response alone: `narthex api --paginate`. */
import { Effect } from "effect"
import { Stopped } from "../failures/LocalFailure.ts"
import { isRecord } from "./answers.ts"

/** A list of more pages is read in parts, with a cursor. */
const mostPages = 1000

/**
 * Reads pages until one has no `pagination.next_cursor`, and joins their lists under the members of the first page.
 * Ends at a cursor that the server repeats, and after a thousand pages.
 */
export const everyPageOf = <E, R>(page: (cursor: string | null) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const first = yield* page(null)
    if (!isRecord(first) || !isRecord(first["pagination"]))
      return yield* new Stopped({ message: "The answer is not a page of a list.", hint: "leave out --paginate" })
    const lists = new Map<string, Array<unknown>>()
    const seen = new Set<string>()
    for (let [body, pages]: [unknown, number] = [first, 1]; ; pages += 1) {
      for (const [name, list] of listsOf(body)) lists.set(name, [...(lists.get(name) ?? []), ...list])
      const cursor = nextCursor(body)
      if (cursor === undefined) return { ...first, ...Object.fromEntries(lists), pagination: { next_cursor: null } }
      if (seen.has(cursor) || pages >= mostPages)
        return yield* new Stopped({
          message: seen.has(cursor) ? "The server repeats a page." : `The list has more than ${mostPages} pages.`,
          hint: "read it in parts, with ?limit= and ?cursor="
        })
      seen.add(cursor)
      body = yield* page(cursor)
    }
  })

const listsOf = (body: unknown): ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> =>
  isRecord(body)
    ? Object.entries(body).flatMap(([name, value]) => (Array.isArray(value) ? [[name, value] as const] : []))
    : []

const nextCursor = (body: unknown): string | undefined => {
  const pagination = isRecord(body) ? body["pagination"] : undefined
  const cursor = isRecord(pagination) ? pagination["next_cursor"] : undefined
  return typeof cursor === "string" ? cursor : undefined
}
