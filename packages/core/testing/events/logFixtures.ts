/** How the contract of `EventLog` fills and reads a log, for any adapter. */
import { DateTime, Effect } from "effect"
import { makeOrgId, makeProjectId, type OrgId, type ProjectId } from "../../src/Ids.ts"
import type { LoggedEvent, NewEvent } from "../../src/records/events/Envelope.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { Transaction } from "../../src/Transaction.ts"

export class Refused extends Error {
  readonly _tag = "Refused"
}

export const fresh = Effect.gen(function* () {
  return { org: yield* makeOrgId, project: yield* makeProjectId, other: yield* makeProjectId }
})

export const event = (org: OrgId, project: ProjectId | null, n: number, more: Partial<NewEvent> = {}): NewEvent => ({
  org_id: org,
  project_id: project,
  type: "operation.updated.v1",
  source: "operations",
  internal: false,
  data: { n },
  ...more
})

export const commit = (...events: ReadonlyArray<NewEvent>) =>
  Effect.gen(function* () {
    const { emit, run } = yield* Transaction
    yield* run(Effect.forEach(events, emit, { discard: true }))
  })

/** Commits events one by one. */
const commitEach = (events: ReadonlyArray<NewEvent>) => Effect.forEach(events, (it) => commit(it), { discard: true })

/** Repeats a step until it returns `true`. No adapter needs nearly as many rounds, however busy the machine is. */
export const repeatedly = <E, R>(what: string, step: Effect.Effect<boolean, E, R>) =>
  Effect.gen(function* () {
    for (let round = 0; round < 100_000; round++) {
      if (yield* step) return
      yield* Effect.yieldNow
    }
    return yield* Effect.die(new Error(`Repeated 100,000 times without ${what}.`))
  })

/** Sequences until the outbox is empty, even if other instances are sequencing. */
export const settle = Effect.gen(function* () {
  const { sequence } = yield* EventLog
  yield* repeatedly(
    "an empty outbox",
    Effect.map(sequence, (state) => state === "idle")
  )
})

/** Everything after a position, read in small batches. */
const readFrom = (pos: number, limit = 3) =>
  Effect.gen(function* () {
    const log = yield* EventLog
    const all: Array<LoggedEvent> = []
    for (;;) {
      const batch = yield* log.tail(all.at(-1)?.pos ?? pos, limit)
      all.push(...batch)
      if (batch.length < limit) return all
    }
  })

export const numbers = (events: ReadonlyArray<LoggedEvent>) => events.map((it) => it.data["n"])
export const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index)

/** The events that `work` added to the log. */
export const added = <A, E, R>(work: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const { pos } = yield* (yield* EventLog).head
    yield* work
    yield* settle
    return yield* readFrom(pos)
  })

export const logged = (events: ReadonlyArray<NewEvent>) => added(commitEach(events))

export const longAgo = DateTime.makeUnsafe("2001-01-01T00:00:00Z")
export const farAhead = DateTime.makeUnsafe("2999-01-01T00:00:00Z")
