/** The host's own calls inside a transaction that the host has begun (docs/design/events.md E40 to E46). */
import { Transaction } from "@narthex/core"
import { Effect } from "effect"
import type { Services } from "../composition/layerControlPlane.ts"
import { aFunction, type Form } from "../failures/Form.ts"
import { hostFailure } from "../failures/failures.ts"
import { type Authenticate, makeAuthenticate } from "./Caller.ts"
import { requireForm } from "./inputs.ts"
import { makePeople, makeSessions, type People, type Sessions } from "./people.ts"
import { type IpAllowlist, makeIpAllowlist } from "./projects.ts"
import { makePublishing, type Publishing } from "./publish.ts"
import { makeRun, type Run } from "./Run.ts"

/** What can be done in the transaction. It ends with the callback. */
export interface Inside {
  readonly people: People
  readonly sessions: Sessions
  readonly authenticate: Authenticate
  readonly ipAllowlist: IpAllowlist
  readonly events: Publishing
}

/**
 * Runs calls inside the host's transaction: what they change and publish commits or rolls back with the host's rows.
 * `tx` is a client of node-postgres, a transaction of postgres.js, or one of Drizzle over either, on the database of
 * the control plane. When `work` rejects, its calls are undone, the host's transaction goes on, and the error is passed
 * on unchanged. Rejects with `transaction_refused` where `tx` cannot be used.
 *
 * Pitfall: not awaiting it. What follows the host's COMMIT would not be part of the transaction. A call that `work`
 * does not await rejects with `transaction_refused`.
 *
 * @example
 * import { createControlPlane, postgres } from "narthex"
 * import pg from "pg"
 * const url = process.env["DATABASE_URL"] ?? ""
 * await using cp = await createControlPlane({ storage: postgres(url), secret: process.env["NARTHEX_SECRET"] ?? "" })
 * const client = await new pg.Pool({ connectionString: url }).connect()
 * await client.query("begin")
 * await client.query("insert into customer values ('user_42')")
 * await cp.transaction(client, ({ people }) => people.ensure({ subject: "user_42" }))
 * await client.query("commit")
 */
export type InTransaction = <A>(tx: object, work: (inside: Inside) => Promise<A>) => Promise<A>

/** What the host's callback rejected with. */
class Thrown {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * Calls that are over before `work` is.
 *
 * Pitfall: letting a call that `work` did not await resolve. What it emits after `work` has ended is written by no
 * transaction.
 */
const during = (run: Run) => {
  let ended = false
  const refuseLate = Effect.suspend(() =>
    ended
      ? Effect.fail(
          hostFailure("transaction_refused", "The call was not over when its transaction's work ended. Await it.")
        )
      : Effect.void
  )
  const bounded: Run = (effect, signal) =>
    run(
      Effect.matchCauseEffect(Effect.andThen(refuseLate, effect), {
        onFailure: (cause) => Effect.andThen(refuseLate, Effect.failCause(cause)),
        onSuccess: (value) => Effect.as(refuseLate, value)
      }),
      signal
    )
  return {
    run: bounded,
    end: () => {
      ended = true
    }
  }
}

const callsOf = (run: Run): Inside => ({
  people: makePeople(run),
  sessions: makeSessions(run),
  authenticate: makeAuthenticate(run),
  ipAllowlist: makeIpAllowlist(run),
  events: makePublishing(run)
})

/** What drivers call a client or a transaction: an object, or a function with members. */
const handle: Form = {
  name: "a client or transaction of node-postgres, postgres.js or Drizzle",
  has: (it) => (typeof it === "object" && it !== null) || typeof it === "function"
}

export const makeTransaction =
  (run: Run, closed: AbortSignal): InTransaction =>
  async (tx, work) => {
    requireForm("tx", tx, handle)
    requireForm("work", work, aFunction)
    const inside = Effect.flatMap(Effect.context<Services>(), (context) =>
      Effect.tryPromise({
        try: async () => {
          const calls = during(makeRun(context, closed))
          try {
            return await work(callsOf(calls.run))
          } finally {
            calls.end()
          }
        },
        catch: (error) => new Thrown(error)
      })
    )
    const outcome = await run(
      Transaction.use(({ within }) => within(tx, inside)).pipe(
        Effect.map((value) => ({ value })),
        Effect.catchIf(
          (error): error is Thrown => error instanceof Thrown,
          (thrown) => Effect.succeed(thrown)
        )
      )
    )
    if (outcome instanceof Thrown) throw outcome.error
    return outcome.value
  }
