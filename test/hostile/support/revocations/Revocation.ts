/**
 * A revocation against sessions that resist it. It is complete when each session of the siege was ended by the other
 * side, Postgres has none of the role, logins are refused, and the token that rested on the right is refused.
 */
import { assert } from "@effect/vitest"
import { until } from "../../../harness/eventually.ts"
import { type Caller, call } from "../Caller.ts"
import type { Ids } from "../organizations.ts"
import { roleIn } from "../organizations.ts"
import { login, openSession } from "../Session.ts"
import { type Numbers, Siege } from "./Siege.ts"

/** A project of the organization that revokes. Revocations of different grounds can run at the same time. */
export interface Ground extends Ids {
  readonly owner: Caller & { readonly org: string }
  readonly issuer: string
  /** A credential of the branch that stays valid. */
  readonly steady: string
  /** The directory of the platform, for commands of its operator. */
  readonly directory: string
}

export interface Right extends Numbers {
  /** The connection string that must not work afterwards, and the address from which it is used. */
  readonly uri: string
  readonly from: string
  /** Whether the time counts from the end of `revoke`, which waits for something that takes no time of the platform. */
  readonly fromEnd?: boolean
  readonly revoke: () => Promise<unknown>
  /** A credential of the API that must not work afterwards. */
  readonly token?: Caller
  /** Another connection string of the same compute, which goes on working; missing where the compute ends too. */
  readonly observer?: { readonly uri: string; readonly from: string }
}

/** Milliseconds within which a revocation is complete, also under attack. */
export const within = 10_000

export interface Revocation {
  readonly name: string
  /** Whether it ends by itself: one that did so before the siege was laid is made again. */
  readonly expires?: boolean
  /** `attempt` counts from 0. */
  readonly make: (ground: Ground, attempt: number) => Promise<Right>
}

/** How logins are refused for good: wrong password or role, not allowed, no such endpoint. */
const final = ["28P01", "28000", "08004"]

/** How a login ends while its compute ends: one worker of the proxy may still lead there when another one refuses. */
const endedMeanwhile = "57P01"

/** No place was left, or this client was too slow to authenticate: such a login says nothing about the right. */
const unanswered = ["53300", "08006"]

/** As `login`, but repeats what a busy machine has turned away. */
const answeredLogin = async (uri: string, from: string): Promise<string> => {
  let outcome = ""
  await until(
    `an answer to a login from ${from}`,
    async () => {
      outcome = await login(uri, from)
      return !unanswered.includes(outcome)
    },
    { every: 50 }
  )
  return outcome
}

/** How many sessions Postgres has of the role and of its read-only twin; `undefined` when it cannot be asked now. */
const sessionsOf = async (role: string, { from, uri }: { readonly uri: string; readonly from: string }) => {
  try {
    const session = await openSession(uri, from)
    try {
      const named = `usename in ('${role}', '${role}__read_only')`
      const [row] = await session.query(`select count(*)::int as n from pg_stat_activity where ${named}`)
      return row?.["n"]
    } finally {
      session.close()
    }
  } catch {
    return undefined // The compute may be restarting.
  }
}

/** Makes the right and lays siege to it. */
const besieged = async ({ expires, make }: Revocation, ground: Ground) => {
  for (let attempt = 0; ; attempt++) {
    try {
      const right = await make(ground, attempt)
      return { right, siege: await Siege.lay(right.uri, right.from, right) }
    } catch (error) {
      if (expires !== true || attempt === 4) throw error
    }
  }
}

/** Makes the right, lays siege to it, and revokes it. Milliseconds from the request to the end of all of it. */
export const revoked = async (revocation: Revocation, ground: Ground): Promise<number> => {
  const { name } = revocation
  const { right, siege } = await besieged(revocation, ground)
  const { from, fromEnd, observer, revoke, token, uri } = right
  try {
    const asked = performance.now()
    await revoke()
    const began = fromEnd === true ? performance.now() : asked
    if (observer !== undefined)
      await until(
        `Postgres to have no session after ${name}`,
        async () => (await sessionsOf(roleIn(uri), observer)) === 0,
        {
          every: 50
        }
      )
    await until(`the end of every session after ${name}`, () => siege.haveEnded(), { every: 20 })
    let last = ""
    await until(
      `the refusal of logins after ${name}`,
      async () => {
        last = await login(uri, from)
        return final.includes(last)
      },
      { every: 50 }
    ).catch((error: unknown) => {
      throw new Error(`${String(error)} Last: ${last}.`)
    })
    const took = performance.now() - began
    const refused = observer === undefined ? [...final, endedMeanwhile] : final
    for (let again = 0; again < 3; again++)
      assert.include(refused, await answeredLogin(uri, from), `a login after ${name}`)
    if (observer !== undefined) {
      assert.strictEqual(await sessionsOf(roleIn(uri), observer), 0, `a session after ${name}`)
    }
    if (token !== undefined) assert.notStrictEqual((await call(token, "GET", "/v1/auth/whoami")).status, 200, name)
    return took
  } finally {
    siege.lift()
  }
}
