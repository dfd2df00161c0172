/**
 * Finds the object that a name or a shortened id means, in the lists of the API (docs/design/cli.md C21). The search is bounded: in an
 * organization with more objects, only an id is certain.
 */
import { Effect } from "effect"
import { firstPages, type ListPage } from "../connection/answers.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { type Nameable, pick } from "./pick.ts"

/** How messages speak of objects of a kind. */
export interface Kind {
  readonly one: string
  readonly many: string
  /** The command that lists them. */
  readonly list: string
}

/** `from` is the source of the name where it is not the command line, for example a file. */
export interface Wanted {
  readonly name: string
  readonly from?: string
}

/** Reads the list, at most twenty pages of a thousand. */
export const objectsOf = <Name extends string, Item, A extends Nameable, E, R>(
  list: Name,
  page: ListPage<Name, Item, E, R>,
  nameable: (item: Item) => A
) => Effect.map(firstPages(list, page), ({ complete, items }) => ({ complete, objects: items.map(nameable) }))

export interface Objects<A> {
  readonly objects: ReadonlyArray<A>
  /** There are no others. */
  readonly complete: boolean
}

const mostCandidates = 10

const listed = (ids: ReadonlyArray<string>): string => {
  const more = ids.length - mostCandidates
  return more > 0 ? `${ids.slice(0, mostCandidates).join(", ")} and ${more} more` : ids.join(", ")
}

/** Fails with the candidates of an ambiguous name, and with suggestions for an unknown one. */
export const resolve = <A extends Nameable>(
  kind: Kind,
  { from, name }: Wanted,
  { complete, objects }: Objects<A>
): Effect.Effect<A, Stopped> => {
  const source = from === undefined ? "" : ` (from ${from})`
  const picked = pick(name, objects)
  if (picked._tag === "Ambiguous") {
    const what = picked.by === "name" ? "are called" : "have an id that fits"
    return Effect.fail(
      new Stopped({
        message: `Several ${kind.many} ${what} "${name}"${source}: ${listed(picked.candidates.map(({ id }) => id))}.`,
        hint: `name the ${kind.one} by its ${picked.by === "name" ? "id" : "whole id"}; ${kind.list} shows more about each`
      })
    )
  }
  if (!complete)
    return Effect.fail(
      new Stopped({
        message: `There are too many ${kind.many} to look for the name "${name}"${source}.`,
        hint: `name the ${kind.one} by its id`
      })
    )
  if (picked._tag === "Found") return Effect.succeed(picked.found)
  const [first, ...others] = picked.near.map((near) => `"${near}"`)
  const suggestion = first === undefined ? "" : ` Did you mean ${[first, ...others].join(" or ")}?`
  return Effect.fail(
    new Stopped({ message: `There is no ${kind.one} "${name}"${source}.${suggestion}`, hint: kind.list })
  )
}
