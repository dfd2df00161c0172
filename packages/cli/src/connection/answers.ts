/** Responses of the API for output: decoded for tables, and the unchanged body for json and yaml. */
import { Effect } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"

/** The request option that makes a client method return what `answered` takes. */
export const withBody = { responseMode: "decoded-and-response" } as const

export interface Answered<A> {
  readonly value: A
  readonly body: unknown
}

export const answered = <A, E, R>(
  call: Effect.Effect<readonly [A, HttpClientResponse.HttpClientResponse], E, R>
): Effect.Effect<Answered<A>, E | HttpClientError.HttpClientError, R> =>
  Effect.flatMap(call, ([value, response]) => Effect.map(response.json, (body) => ({ value, body })))

interface Page {
  readonly pagination: { readonly next_cursor: string | null }
}

interface PageQuery {
  readonly limit: number
  readonly cursor?: string
}

/** A call that returns a page of the list `Name`. */
export type ListPage<Name extends string, Item, E, R> = (
  query: PageQuery
) => Effect.Effect<
  readonly [Page & { readonly [K in Name]: ReadonlyArray<Item> }, HttpClientResponse.HttpClientResponse],
  E,
  R
>

/** The part of a list that a command prints. */
export interface Part {
  /** Default: everything. */
  readonly limit?: number
  /** Begin after the page that answered with this cursor. */
  readonly cursor?: string
}

const pageSize = 1000

/** Reads pages of a list and joins them, in the body, too. `next_cursor` is the end of the part, `null` at the end. */
export const everyPage = <Name extends string, Item, E, R>(
  name: Name,
  page: ListPage<Name, Item, E, R>,
  { cursor: first, limit = Number.POSITIVE_INFINITY }: Part = {}
) =>
  Effect.gen(function* () {
    const items: Array<Item> = []
    const bodies: Array<unknown> = []
    let cursor: string | null = first ?? null
    do {
      const size = Math.min(pageSize, limit - items.length)
      const query: PageQuery = cursor === null ? { limit: size } : { limit: size, cursor }
      const { body, value } = yield* answered(page(query))
      items.push(...value[name])
      bodies.push(...listIn(body, name))
      cursor = value.pagination.next_cursor
    } while (cursor !== null && items.length < limit)
    return { value: items, body: { [name]: bodies, pagination: { next_cursor: cursor } } }
  })

/** The bound of a search for a name. */
const searchedPages = 20

/** Reads the first pages of a list. `complete`: there are no further ones. */
export const firstPages = <Name extends string, Item, E, R>(name: Name, page: ListPage<Name, Item, E, R>) =>
  Effect.map(everyPage(name, page, { limit: searchedPages * pageSize }), ({ body, value }) => ({
    items: value,
    complete: body.pagination.next_cursor === null
  }))

const listIn = (body: unknown, name: string): ReadonlyArray<unknown> => {
  const list: unknown = isRecord(body) ? body[name] : undefined
  return Array.isArray(list) ? list : []
}

export const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)
