/**
 * Compares what streams received with the log after their right has ended: events before the revocation's position must
 * have arrived, and events after it must not.
 */
import { eventIdFromUuid, noEvent } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Schedule } from "effect"
import { eventually } from "../../harness/eventually.ts"
import type { Mark, Right } from "./rights.ts"
import type { StreamClient } from "./StreamClient.ts"

/** The result for the rights of one turn. */
export interface Outcome {
  /** The rights that were ended, by their ways. */
  readonly ways: ReadonlyArray<string>
  readonly streams: number
  readonly events: number
  readonly late: number
  readonly wrong: ReadonlyArray<string>
}

/** A right, its end, and what its holder received. */
export interface Followed {
  readonly right: Right
  readonly clients: ReadonlyArray<StreamClient>
  readonly ended: boolean
  readonly cameBack: number
  /** The number of an event that was committed when the right was known to be gone. */
  readonly afterwards: number
}

export interface Verdict {
  /** Events that arrived although they came too late for them. */
  readonly late: number
  readonly wrong: ReadonlyArray<string>
}

interface Row {
  readonly id: string
  readonly internal: boolean
  readonly project_id: string | null
  readonly data: Readonly<Record<string, unknown>>
}

/** Repeats a request until it is answered. */
export const untilShown = <A, E, R>(what: string, ask: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.gen(function* () {
    let found: A | undefined
    yield* eventually(
      what,
      Effect.map(ask, (answer) => {
        found = answer
        return answer !== undefined
      })
    )
    if (found === undefined) return yield* Effect.die(new Error(`There was no ${what}.`))
    return found
  })

/** The last position of the log. */
export const headOfLog = Effect.gen(function* () {
  const { query } = yield* Database
  const [head] = yield* query<{ readonly pos: number; readonly id: string }>(
    "test",
    "select pos, narthex.event_id(ms, r40, c32) as id from narthex.event_head"
  )
  return { pos: head?.pos ?? 0, id: head === undefined ? noEvent : eventIdFromUuid(head.id) }
})

/** The events that an organization's streams may show, and every revocation of any organization. */
const rowsAfter = (pos: number, org: string) =>
  Effect.flatMap(Database, ({ query }) =>
    Effect.map(
      query<Row>(
        "test",
        `select id, internal, project_id, data from narthex.event_log
         where pos > $1 and (org_id = $2 or internal) and (not internal or type = 'internal.revoked.v1') order by pos`,
        [pos, org]
      ),
      (rows) => rows.map((row) => ({ ...row, id: eventIdFromUuid(row.id) }))
    )
  )

const isMark = (data: Row["data"], mark: Mark) =>
  Object.keys(data).length === Object.keys(mark).length &&
  Object.entries(mark).every(([member, value]) => data[member] === value)

const revocationOf = (rows: ReadonlyArray<Row>, { marks }: Right) =>
  rows.find(({ data, internal }) => internal && marks.some((mark) => isMark(data, mark)))

const judged = (rows: ReadonlyArray<Row>, from: string, followed: Followed): Verdict => {
  const { afterwards, cameBack, clients, ended, right } = followed
  const revoked = revocationOf(rows, right)
  if (revoked === undefined) return { late: 0, wrong: [`${right.way}: its end is not in the log`] }
  const wrong: Array<string> = []
  const stream = right.project === null ? "organization" : "project"
  const complain = (what: string) => wrong.push(`${right.way}, ${stream}: ${what}`)
  if (!ended) complain("a stream did not end")
  if (cameBack !== right.afterwards) complain(`came back to ${cameBack}`)
  const next = rows.find(({ data }) => data["n"] === afterwards)
  if (next === undefined || next.id < revoked.id) complain("what was committed afterwards stands before the revocation")

  const before = rows
    .filter(({ id, internal, project_id }) => {
      if (internal || id > revoked.id) return false
      return right.project === null || right.project === project_id
    })
    .map(({ id }) => id)
  let late = 0
  for (const { comments, connections, frames } of clients) {
    // A server that lags a little begins its streams a little earlier.
    const got = frames.map(({ id }) => id).filter((id) => id > from)
    late += got.filter((id) => id > revoked.id).length
    // All from where the stream began up to the revocation, and nothing else. A client that was late saw none.
    const due = before.slice(before.indexOf(got[0] ?? ""))
    if (got.length > 0 && got.join() !== due.join()) complain(`got ${got.length} of ${due.length}`)
    if (connections > 0 && !comments.some((comment) => comment.includes("closing reason=revoked")))
      complain(`the stream said ${comments.join("|")}`)
  }
  if (late > 0) complain(`${late} events came too late`)
  return { late, wrong }
}

const total = (clients: ReadonlyArray<StreamClient>, of: (client: StreamClient) => number) =>
  clients.reduce((sum, client) => sum + of(client), 0)

/** The sum of the results of single rights. */
export const outcomeOf = (
  ways: ReadonlyArray<string>,
  clients: ReadonlyArray<StreamClient>,
  verdicts: ReadonlyArray<Verdict>
): Outcome => ({
  ways,
  streams: total(clients, ({ connections }) => connections),
  events: total(clients, ({ frames }) => frames.length),
  late: verdicts.reduce((sum, { late }) => sum + late, 0),
  wrong: verdicts.flatMap(({ wrong }) => wrong)
})

/** Judges each right separately, once the log has the end of each and an event after it. */
export const judgeEnds = (
  head: { readonly pos: number; readonly id: string },
  org: string,
  all: ReadonlyArray<Followed>
) =>
  Effect.gen(function* () {
    const complete = (rows: ReadonlyArray<Row>) =>
      all.every(
        ({ afterwards, right }) =>
          revocationOf(rows, right) !== undefined && rows.some(({ data }) => data["n"] === afterwards)
      )
    const read = rowsAfter(head.pos, org)
    // A row that never comes is a verdict, not a failure to wait.
    const rows = yield* Effect.repeat(read, { until: complete, schedule: Schedule.spaced("5 millis") }).pipe(
      Effect.timeoutOrElse({ duration: "45 seconds", orElse: () => read })
    )
    return outcomeOf(
      all.map(({ right }) => right.way),
      all.flatMap(({ clients }) => clients),
      all.map((it) => judged(rows, head.id, it))
    )
  })
