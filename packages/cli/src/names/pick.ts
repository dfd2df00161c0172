/** Chooses an object by its name or a shortened id. A name need not be unique, and a wrong one gets suggestions. Pure. */
import { isShortFor } from "../input/shortId.ts"

export interface Nameable {
  readonly id: string
  /** The names that a user may type for the object, the best one first. */
  readonly names: ReadonlyArray<string>
}

export type Picked<A> =
  | { readonly _tag: "Found"; readonly found: A }
  | { readonly _tag: "Ambiguous"; readonly by: "name" | "id"; readonly candidates: ReadonlyArray<A> }
  /** `near`: names of existing objects that resemble the wanted one, at most three. */
  | { readonly _tag: "Unknown"; readonly near: ReadonlyArray<string> }

/**
 * The object with exactly this name, else the one whose id is shortened to this. Letter case counts, because names that
 * differ in case alone are different.
 */
export const pick = <A extends Nameable>(wanted: string, objects: ReadonlyArray<A>): Picked<A> => {
  const named = objects.filter(({ names }) => names.includes(wanted))
  const by = named.length > 0 ? "name" : "id"
  const candidates = by === "name" ? named : objects.filter(({ id }) => isShortFor(wanted, id))
  const [found, ...others] = candidates
  if (found === undefined) return { _tag: "Unknown", near: near(wanted, objects) }
  return others.length === 0 ? { _tag: "Found", found } : { _tag: "Ambiguous", by, candidates }
}

const mostSuggestions = 3

const near = (wanted: string, objects: ReadonlyArray<Nameable>): ReadonlyArray<string> => {
  const names = [...new Set(objects.flatMap((object) => object.names))]
  const ranked = names.flatMap((name) => {
    const distance = difference(wanted.toLowerCase(), name.toLowerCase())
    return distance === undefined ? [] : [{ name, distance }]
  })
  return ranked
    .toSorted((one, other) => one.distance - other.distance)
    .slice(0, mostSuggestions)
    .map(({ name }) => name)
}

/** How much two names differ without their case; `undefined`: too much for a suggestion. A beginning differs by one. */
const difference = (wanted: string, name: string): number | undefined => {
  if (wanted === name) return 0
  if (wanted.length >= 2 && name.startsWith(wanted)) return 1
  const allowed = Math.max(1, Math.floor(wanted.length / 3))
  if (Math.abs(wanted.length - name.length) > allowed) return undefined
  const distance = edits(wanted, name)
  return distance <= allowed ? distance : undefined
}

/** The least number of inserted, deleted, replaced and swapped characters. */
const edits = (from: string, to: string): number => {
  let before: ReadonlyArray<number> = []
  let above: ReadonlyArray<number> = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let row = 1; row <= from.length; row++) {
    const line = [row]
    for (let column = 1; column <= to.length; column++) {
      const same = from[row - 1] === to[column - 1]
      const swapped = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      line[column] = Math.min(
        (above[column] ?? 0) + 1,
        (line[column - 1] ?? 0) + 1,
        (above[column - 1] ?? 0) + (same ? 0 : 1),
        swapped ? (before[column - 2] ?? 0) + 1 : Number.POSITIVE_INFINITY
      )
    }
    before = above
    above = line
  }
  return above[to.length] ?? 0
}
