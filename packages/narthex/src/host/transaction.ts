/** The host's own calls inside a transaction that the host has begun (docs/design/events.md E40 to E46). */
import { type NarthexError, place, siteOf } from "@narthex/api"
import { Transaction } from "@narthex/core"
import { type Context, Effect } from "effect"
import type { Services } from "../composition/layerControlPlane.ts"
import { hostFailure } from "../failures/failures.ts"
import { aFunction, expecting } from "../failures/forms.ts"
import { type Authenticate, makeAuthenticate } from "./Caller.ts"
import { type MakeClient, makeClients, requestsDuring } from "./clients.ts"
import { requireForm } from "./inputs.ts"
import { makePeople, makeSessions, type People, type Sessions } from "./people.ts"
import { type IpAllowlist, makeIpAllowlist } from "./projects.ts"
import { makePublishing, type Publishing } from "./publish.ts"
import { makeRun, type Run } from "./Run.ts"

/** The calls in the transaction, until the callback ends. */
export interface Inside {
  /** People whom the host has authenticated. */
  readonly people: People
  /** Sessions of the API. They are valid once the transaction has committed. */
  readonly sessions: Sessions
  /** Finds the caller by a credential, as the transaction reads it. */
  readonly authenticate: Authenticate
  /** Whether the rules of a project admit an address, as the transaction reads them. */
  readonly ipAllowlist: IpAllowlist
  /** Publishes events, which commit with the transaction. */
  readonly events: Publishing
  /**
   * The client of the API, under its authorization, whose changes are part of the transaction: projects, keys,
   * organizations, invitations. A change that is refused undoes the whole `work`, also if its error is caught. Event
   * streams and waits reject with `transaction_refused`, and so does a call that needs its commit, such as a credential
   * of a running compute. Nothing is repeated unless `retries` says so.
   */
  readonly client: MakeClient
}

/**
 * Runs calls inside the host's transaction: what they change and publish commits or rolls back with the host's rows.
 * `tx` is a client of node-postgres, a transaction of postgres.js, or one of Drizzle over either, on the database of
 * the control plane. When `work` rejects, its calls are undone, the host's transaction goes on, and the error is passed
 * on unchanged. Rejects with `transaction_refused` where `tx` cannot be used.
 *
 * Pitfall: not awaiting the call. Changes after the host's COMMIT would not be part of the transaction. A call that
 * `work` does not await rejects with `transaction_refused`.
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

/** The error that the host's callback rejected with. */
class Thrown {
  readonly error: unknown
  constructor(error: unknown) {
    this.error = error
  }
}

/**
 * Calls that are over before `work` is.
 *
 * Pitfall: letting a call that `work` did not await resolve. No transaction writes the events that it emits after `work`
 * has ended.
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

const callsOf = (run: Run, client: MakeClient): Inside => ({
  client,
  people: makePeople(run),
  sessions: makeSessions(run),
  authenticate: makeAuthenticate(run),
  ipAllowlist: makeIpAllowlist(run),
  events: makePublishing(run)
})

/** The form of a driver's client or transaction: an object, or a function with members. */
const handle = expecting(
  "a client or transaction of node-postgres, postgres.js or Drizzle",
  (it) => (typeof it === "object" && it !== null) || typeof it === "function"
)

/** The API for requests that are part of the transaction with this context. */
type Within = (context: Context.Context<never>) => (request: Request) => Promise<Response>

export const makeTransaction = (run: Run, closed: AbortSignal, within: Within, basePath: string): InTransaction => {
  const begin = <A>(tx: object, work: (inside: Inside) => Promise<A>) => {
    requireForm("tx", tx, handle)
    requireForm("work", work, aFunction)
    let broken: NarthexError | undefined
    const inside = Effect.flatMap(Effect.context<Services>(), (context) =>
      Effect.tryPromise({
        try: async () => {
          const calls = during(makeRun(context, closed))
          const requests = requestsDuring(within(context))
          const client = makeClients(requests.fetch, basePath, { retries: false })
          try {
            const value = await work(callsOf(calls.run, client))
            broken = requests.end()
            if (broken !== undefined) throw broken
            return value
          } finally {
            requests.end()
            calls.end()
          }
        },
        catch: (error) => (error === broken ? broken : new Thrown(error))
      })
    )
    return run(
      Transaction.use(({ within }) => within(tx, inside)).pipe(
        Effect.map((value) => ({ value })),
        Effect.catchIf(
          (error): error is Thrown => error instanceof Thrown,
          (thrown) => Effect.succeed(thrown)
        )
      )
    )
  }
  const transaction = async <A>(tx: object, work: (inside: Inside) => Promise<A>) => {
    let outcome: { readonly value: A } | Thrown
    try {
      outcome = await begin(tx, work)
    } catch (error) {
      throw place(error, "transaction", siteOf(transaction))
    }
    if (outcome instanceof Thrown) throw outcome.error
    return outcome.value
  }
  return transaction
}
