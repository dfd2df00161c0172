/** What is done to open streams from time to time: their rights are looked up again, and at the end they are closed. */
import { Clock, Deferred, Duration, Effect, Exit, Random, Schedule } from "effect"
import type { EventBroker } from "./EventBroker.ts"
import type { EventSettings } from "../EventSettings.ts"
import type { StreamAuthority } from "./StreamAuthority.ts"
import type { EventStream } from "./EventStream.ts"

const lookups = 4
const closingStep = 50
const closingRate = 200

/** When a client is to come back to an instance that takes this long to stop. */
export const comeBackAfter = (over: Duration.Duration) =>
  Random.nextBetween(1_000, Math.max(1_001, Duration.toMillis(over)))

/**
 * Looks up the rights that are due, once for all streams with the same; ends those that may not go on.
 * A store that does not answer ends none: deadlines stand, and revocations wait in the log like the events.
 */
export const revalidate = (
  broker: EventBroker["Service"],
  authority: StreamAuthority["Service"],
  settings: EventSettings
) => {
  const interval = Duration.toMillis(settings.revalidate)
  const round = Effect.gen(function* () {
    const now = yield* Clock.currentTimeMillis
    const groups = new Map<string, Array<EventStream>>()
    for (const stream of broker.streams()) {
      if (stream.validateAt > now) continue
      const key = JSON.stringify(stream.access)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [stream])
      else group.push(stream)
    }
    const lookUp = (streams: ReadonlyArray<EventStream>) =>
      Effect.gen(function* () {
        const access = streams[0]?.access
        if (access === undefined || (yield* authority.permits(access))) {
          const next = now + interval * (yield* Random.nextBetween(0.8, 1.2))
          for (const stream of streams) stream.validateAt = next
        } else for (const stream of streams) broker.end(stream, "revoked")
      }).pipe(Effect.catch((error) => Effect.logWarning("A live stream's right could not be looked up.", error)))
    yield* Effect.forEach(groups.values(), lookUp, { concurrency: lookups, discard: true })
  })
  return Effect.repeat(round, Schedule.spaced(Math.min(1_000, interval / 10)))
}

/** Ends all streams in random order, evenly over this time or faster, and waits until their connections are gone. */
export const closeGradually = (broker: EventBroker["Service"], over: Duration.Duration): Effect.Effect<void> =>
  Effect.gen(function* () {
    const streams = yield* Random.shuffle(broker.streams())
    const perSecond = Math.max(closingRate, (streams.length * 1_000) / Math.max(1, Duration.toMillis(over)))
    const perStep = Math.ceil((perSecond * closingStep) / 1_000)
    for (let at = 0; at < streams.length; at += perStep) {
      for (const stream of streams.slice(at, at + perStep)) broker.end(stream, "draining", yield* comeBackAfter(over))
      if (at + perStep < streams.length) yield* Effect.sleep(closingStep)
    }
    yield* Effect.forEach(streams, gone, { discard: true })
  })

const gone = (stream: EventStream) =>
  Effect.suspend(() => {
    const done = Deferred.makeUnsafe<void>()
    stream.onGone(() => Deferred.doneUnsafe(done, Exit.void))
    return Deferred.await(done)
  })
