/** Responses of the API for output: decoded for tables, and the unchanged body for json and yaml. */
import { pages } from "@narthex/api"
import { Effect, Stream } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { Stopped } from "../failures/LocalFailure.ts"

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

/** A list that would not end. */
export const repeated = new Stopped({
  message: "The server repeats a page.",
  hint: "read it in parts, with ?limit= and ?cursor="
})

/** Reads pages of a list and joins them, in the body, too. `next_cursor` is the end of the part, `null` at the end. */
export const everyPage = <Name extends string, Item, E, R>(
  name: Name,
  page: ListPage<Name, Item, E, R>,
  { cursor: first, limit = Number.POSITIVE_INFINITY }: Part = {}
) =>
  Effect.gen(function* () {
    const items: Array<Item> = []
    const bodies: Array<unknown> = []
    let end: string | null = first ?? null
    const read = (cursor: string | undefined) => {
      const size = Math.min(pageSize, limit - items.length)
      const query: PageQuery = cursor === undefined ? { limit: size } : { limit: size, cursor }
      return Effect.map(answered(page(query)), ({ body, value }) => ({ body, value, pagination: value.pagination }))
    }
    yield* pages(read, { first }).pipe(
      Stream.catchTag("PageRepeated", () => Stream.fail(repeated)),
      Stream.takeUntil(({ body, pagination, value }) => {
        items.push(...value[name])
        bodies.push(...listIn(body, name))
        end = pagination.next_cursor
        return items.length >= limit
      }),
      Stream.runDrain
    )
    return { value: items, body: { [name]: bodies, pagination: { next_cursor: end } } }
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
