/**
 * Lists in pages, newest first unless said. Ids sort by creation time, so a position in a list is an id, and a page is
 * read from there by an index: it costs the same at the end of a long list as at its start.
 *
 * The cursor on the wire is opaque to clients; any other text is refused (`malformed_request`).
 */
import { Option, Result, Schema } from "effect"
import { Base64Url } from "effect/encoding"

export const defaultPageSize = 200
export const maxPageSize = 1000

export interface PageRequest {
  /** 1 to 1,000. */
  readonly limit: number
  /** Only rows beyond this id, in the order of the list. */
  readonly after: string | null
}

export interface Page<Item> {
  readonly items: ReadonlyArray<Item>
  readonly next_cursor: string | null
}

/** The text is not a cursor of this API. */
export class MalformedCursor extends Schema.TaggedError<MalformedCursor>()("MalformedCursor", {}) {
  override get message() {
    return "The cursor is not one that this API gave out. Start again without one."
  }
}

export const encodeCursor = (id: string): string => Base64Url.encode(`v1 ${id}`)

export const decodeCursor = (cursor: string): Result.Result<string, MalformedCursor> => {
  const text = Option.getOrUndefined(Result.getSuccess(Base64Url.decodeString(cursor)))
  return text !== undefined && /^v1 [\w-]{1,64}$/.test(text)
    ? Result.succeed(text.slice(3))
    : Result.fail(new MalformedCursor({}))
}

/** The page from rows that were read in the order of the list, up to one more than the limit. */
export const pageOf = <Item extends { readonly id: string }>(
  rows: ReadonlyArray<Item>,
  page: PageRequest
): Page<Item> => pageBy(rows, page, ({ id }) => id)

/** The same for rows whose position is another member. */
export const pageBy = <Item>(
  rows: ReadonlyArray<Item>,
  { limit }: PageRequest,
  idOf: (item: Item) => string
): Page<Item> => {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next_cursor: rows.length > limit && last !== undefined ? encodeCursor(idOf(last)) : null }
}

/** The same for rows in memory, in any order. */
export const pageOfAll = <Item extends { readonly id: string }>(
  rows: ReadonlyArray<Item>,
  page: PageRequest
): Page<Item> =>
  pageOf(
    rows.filter((row) => page.after === null || row.id < page.after).toSorted((a, b) => (a.id < b.id ? 1 : -1)),
    page
  )
