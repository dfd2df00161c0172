/**
 * The pages of a list, each read when the one before has been used (docs/design/client.md L32).
 *
 * Pitfall: trusting that a list ends. A server that repeats a cursor would be asked forever.
 */
import { Effect, Option, Schema, Stream } from "effect"

/** The server answered with a cursor that it had answered before: the list would not end. */
export class PageRepeated extends Schema.TaggedError<PageRepeated>()("PageRepeated", { cursor: Schema.String }) {
  override get message() {
    return "The server repeats a page of the list."
  }
}

/** An answer that has a part of a list, and the cursor of the next part. */
export interface Page {
  readonly pagination: { readonly next_cursor: string | null }
}

/** The pages from `first` on, or from the beginning. `page` reads the page at a cursor, with the same query each time. */
export const pages = <A extends Page, E, R>(
  page: (cursor: string | undefined) => Effect.Effect<A, E, R>,
  { first }: { readonly first?: string | undefined } = {}
): Stream.Stream<A, E | PageRepeated, R> =>
  Stream.suspend(() => {
    const seen = new Set<string>()
    return Stream.paginate(first, (cursor) =>
      Effect.gen(function* () {
        const answer = yield* page(cursor)
        const next = answer.pagination.next_cursor
        if (next === null) return [[answer], Option.none<string>()] as const
        if (seen.has(next)) return yield* new PageRepeated({ cursor: next })
        seen.add(next)
        return [[answer], Option.some(next)] as const
      })
    )
  })
