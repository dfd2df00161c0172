/**
 * Checks the rights of open streams against storage from time to time (docs/design/events.md E29). This is the backstop
 * behind revocations, which end streams at once.
 */
import { Clock, Duration, Effect, Random, Schedule, type Scope } from "effect"
import { becauseOf } from "../../../becauseOf.ts"
import type { EventFeed } from "../../../records/events/EventFeed.ts"
import type { EventSettings } from "../../../records/events/EventSettings.ts"
import type { EventStream } from "./EventStream.ts"
import type { StreamAuthority } from "./StreamAuthority.ts"

const lookups = 4

/**
 * Runs until interrupted. Each stream is due every `settings.revalidate`, with jitter, and all are due after an outage of
 * the log. Streams with the same access share one lookup. A storage failure ends no stream: the lookup is repeated, the
 * deadlines still hold, and revocations wait in the log like other events.
 */
export const revalidate = (
  streams: ReadonlySet<EventStream>,
  feed: EventFeed["Service"],
  authority: StreamAuthority["Service"],
  settings: EventSettings
): Effect.Effect<void, never, Scope.Scope> =>
  Effect.gen(function* () {
    const interval = Duration.toMillis(settings.revalidate)
    const jittered = Random.nextBetween(0.8 * interval, 1.2 * interval)
    /** When each stream is due, in milliseconds. */
    const due = new Map<EventStream, number>()
    let previous = yield* Clock.currentTimeMillis

    const revalidateAll = () => {
      for (const stream of streams) due.set(stream, Number.NEGATIVE_INFINITY)
    }
    yield* feed.subscribe({ resumed: revalidateAll })

    const lookUp = (group: ReadonlyArray<EventStream>, now: number) =>
      Effect.gen(function* () {
        const access = group[0]?.access
        if (access === undefined || (yield* authority.permits(access))) {
          const next = now + (yield* jittered)
          for (const stream of group) due.set(stream, next)
        } else for (const stream of group) stream.end("revoked")
      }).pipe(
        Effect.catch((error) =>
          Effect.logWarning("The right of an open stream could not be looked up.").pipe(becauseOf(error))
        )
      )

    const round = Effect.gen(function* () {
      const now = yield* Clock.currentTimeMillis
      const groups = new Map<string, Array<EventStream>>()
      for (const stream of streams) {
        const at = due.get(stream)
        if (at === undefined)
          due.set(stream, previous + (yield* jittered)) // opened since the previous round
        else if (at <= now) {
          const key = JSON.stringify(stream.access)
          const group = groups.get(key)
          if (group === undefined) groups.set(key, [stream])
          else group.push(stream)
        }
      }
      previous = now
      if (due.size > streams.size) for (const stream of due.keys()) if (!streams.has(stream)) due.delete(stream)
      yield* Effect.forEach(groups.values(), (group) => lookUp(group, now), { concurrency: lookups, discard: true })
    })
    yield* Effect.repeat(round, Schedule.spaced(Math.min(1_000, interval / 10)))
  })
