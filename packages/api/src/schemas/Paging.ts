/** Pages of lists, newest first. A cursor is opaque; one that the API did not issue is 400. */
import { decodeCursor, defaultPageSize, type MalformedCursor, maxPageSize, type PageRequest } from "@narthex/core"
import { Result, Schema } from "effect"

export const Limit = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxPageSize }))

/** The query of a list. */
export const pageQuery = { limit: Schema.optionalKey(Limit), cursor: Schema.optionalKey(Schema.String) }

export interface PageQuery {
  readonly limit?: number
  readonly cursor?: string
}

export const Pagination = Schema.Struct({ next_cursor: Schema.NullOr(Schema.String) })

/** The query as a request to a store, with the default page size. */
export const pageRequest = ({
  cursor,
  limit = defaultPageSize
}: PageQuery): Result.Result<PageRequest, MalformedCursor> =>
  cursor === undefined
    ? Result.succeed({ limit, after: null })
    : Result.map(decodeCursor(cursor), (after) => ({ limit, after }))
