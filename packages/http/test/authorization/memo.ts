/** Effects that run once, so that each part of a world is made once. */
import { Effect } from "effect"

/** Runs once; later calls return the first result. */
export const once = <A>(make: Effect.Effect<A>): Effect.Effect<A> => Effect.runSync(Effect.cached(make))

export const many = <Key extends string, A>(make: (key: Key) => Effect.Effect<A>) => {
  const made = new Map<Key, Effect.Effect<A>>()
  return (key: Key): Effect.Effect<A> => {
    const found = made.get(key) ?? once(make(key))
    made.set(key, found)
    return found
  }
}
