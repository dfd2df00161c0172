/** Every page of a list that is known by its response alone: `narthex api --paginate`. */
import { pages } from "@narthex/api"
import { Effect, Stream } from "effect"
import { Stopped } from "../failures/LocalFailure.ts"
import { isRecord, repeated } from "./answers.ts"

/** A list of more pages is read in parts, with a cursor. */
const mostPages = 1000

/**
 * Reads pages until one has no `pagination.next_cursor`, and joins their lists under the members of the first page.
 * Ends at a cursor that the server repeats, and after a thousand pages.
 */
export const everyPageOf = <E, R>(page: (cursor: string | null) => Effect.Effect<unknown, E, R>) =>
  Effect.gen(function* () {
    const lists = new Map<string, Array<unknown>>()
    let first: Readonly<Record<string, unknown>> | undefined
    let read = 0
    const one = (cursor: string | undefined) =>
      Effect.gen(function* () {
        if (read === mostPages) return yield* endless
        const body = yield* page(cursor ?? null)
        read += 1
        if (first === undefined && !(isRecord(body) && isRecord(body["pagination"]))) return yield* noList
        return { body: isRecord(body) ? body : {}, pagination: { next_cursor: nextCursor(body) } }
      })
    yield* pages(one).pipe(
      Stream.catchTag("PageRepeated", () => Stream.fail(repeated)),
      Stream.runForEach(({ body }) =>
        Effect.sync(() => {
          first ??= body
          for (const [name, list] of listsOf(body)) lists.set(name, [...(lists.get(name) ?? []), ...list])
        })
      )
    )
    return { ...first, ...Object.fromEntries(lists), pagination: { next_cursor: null } }
  })

const noList = new Stopped({ message: "The answer is not a page of a list.", hint: "leave out --paginate" })

const endless = new Stopped({
  message: `The list has more than ${mostPages} pages.`,
  hint: "read it in parts, with ?limit= and ?cursor="
})

const listsOf = (body: Readonly<Record<string, unknown>>): ReadonlyArray<readonly [string, ReadonlyArray<unknown>]> =>
  Object.entries(body).flatMap(([name, value]) => (Array.isArray(value) ? [[name, value] as const] : []))

const nextCursor = (body: unknown): string | null => {
  const pagination = isRecord(body) ? body["pagination"] : undefined
  const cursor = isRecord(pagination) ? pagination["next_cursor"] : undefined
  return typeof cursor === "string" ? cursor : null
}
