/**
 * Whoever loses a right gets nothing that was committed afterwards, on any instance: two API servers on one Postgres,
 * streams on both, events being committed all the time, and the right taken away in the middle.
 *
 * The log is the judge: the revocation stands in it, and what stands behind it must not have arrived; what stands before
 * must. `NARTHEX_TEST_LONG=1` does 10,000 tries.
 */
import { assert, layer } from "@effect/vitest"
import { eventIdFromUuid, noEvent, OperatorAccounts, UserId } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Fiber, Layer, Random } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { type ApiProcess, call, signIn } from "./support/ApiProcesses.ts"
import { apis, commit, freshDatabase, logged, stores } from "./support/platform.ts"
import { StreamClient } from "./support/StreamClient.ts"

const long = process.env["NARTHEX_TEST_LONG"] === "1"
const tries = long ? 10_000 : Number.POSITIVE_INFINITY
const millis = long ? Number.POSITIVE_INFINITY : 14_000
const lanes = 6

/** A right that is there, and how it goes. */
interface Right {
  readonly token: string
  readonly org: string
  readonly end: Effect.Effect<unknown, unknown, OperatorAccounts>
  /** How the revocation is written in the log. */
  readonly mark: object
}

const portOf = (api: ApiProcess | undefined) => api?.port ?? 0

const sessionOf = (token: string): string =>
  JSON.parse(Buffer.from(token.split(".")[1] ?? "", "base64url").toString()).sid

/** The ways to lose a right; each makes a fresh one. `owner` is signed in to a team organization. */
const ways = (servers: ReadonlyArray<ApiProcess>, lane: number) => {
  const any = Effect.map(Random.nextIntBetween(0, servers.length - 1), (at) => portOf(servers[at]))
  const api = (method: string, path: string, options: Parameters<typeof call>[3]) =>
    Effect.flatMap(any, (port) => Effect.promise(() => call(port, method, path, options)))
  const enter = (email: string) => Effect.flatMap(any, (port) => Effect.promise(() => signIn(port, email)))
  const member = `member-${lane}@example.com`

  const key = Effect.gen(function* () {
    const { org, token } = yield* enter(`owner-${lane}@example.com`)
    const { body } = yield* api("POST", "/v1/api-keys/", { token, body: { name: "k" } })
    const path = `/v1/api-keys/${body.api_key.id}`
    return { token: body.secret, org, end: api("DELETE", path, { token }), mark: { api_key_id: body.api_key.id } }
  })
  const session = Effect.gen(function* () {
    const { org, token } = yield* enter(`owner-${lane}@example.com`)
    return { token, org, end: api("POST", "/v1/auth/logout", { token }), mark: { session_id: sessionOf(token) } }
  })
  const account = Effect.gen(function* () {
    const { org, token, user } = yield* enter(`disabled-${lane}-${yield* Random.nextInt}@example.com`)
    const end = Effect.flatMap(OperatorAccounts, ({ disable }) => disable(UserId.make(user)))
    return { token, org, end, mark: { user_id: user } }
  })
  const membership = (team: { readonly id: string; readonly token: string }) =>
    Effect.gen(function* () {
      yield* api("POST", `/v1/orgs/${team.id}/invitations`, { token: team.token, body: { email: member } })
      const { token, user } = yield* enter(member)
      const { body } = yield* api("POST", "/v1/auth/switch-org", { token, body: { org_id: team.id } })
      const end = api("DELETE", `/v1/orgs/${team.id}/members/${user}`, { token: team.token })
      return { token: String(body.access_token), org: team.id, end, mark: { org_id: team.id, user_id: user } }
    })
  const makeTeam = Effect.gen(function* () {
    const { token } = yield* enter(`boss-${lane}@example.com`)
    const { body } = yield* api("POST", "/v1/orgs", { token, body: { name: "team" } })
    const id = String(body.organization.id)
    const switched = yield* api("POST", "/v1/auth/switch-org", { token, body: { org_id: id } })
    return { id, token: String(switched.body.access_token) }
  })
  return Effect.map(makeTeam, (team) => [key, session, account, membership(team), key])
}

/** Asks until there is an answer. */
const untilShown = <A, E, R>(ask: Effect.Effect<A | undefined, E, R>): Effect.Effect<A, E, R> =>
  Effect.filterOrElse(
    ask,
    (found): found is A => found !== undefined,
    () => untilShown(Effect.delay(ask, 2))
  )

/** One right, streams on every instance, and its end. Answers what was wrong. */
const attempt = (servers: ReadonlyArray<ApiProcess>, right: Right) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const [head] = yield* query<{ readonly pos: number; readonly id: string }>(
      "test",
      "select pos, event_id(ms, r40, c32) as id from event_head"
    )
    const since = head?.pos ?? 0
    const from = head === undefined ? noEvent : eventIdFromUuid(head.id)
    const clients = servers.map(() => new StreamClient("/v1/events", right.token, ""))
    // Half of the tries race the opening against the end.
    const race = (yield* Random.next) < 0.5
    let opened = 0
    const over = clients.map((client, at) => client.follow(portOf(servers[at]), () => (opened += 1)))
    let committing = true
    let n = 0
    const committer = Effect.gen(function* () {
      while (committing) yield* Effect.delay(commit(right.org, null, [++n, ++n]), 3)
    })
    const committers = yield* Effect.forkChild(Effect.all([committer, committer], { concurrency: 2 }))
    if (!race) {
      yield* untilShown(
        Effect.sync(() => (opened === clients.length && clients.every(({ frames }) => frames.length > 0)) || undefined)
      )
    } else yield* Effect.sleep(yield* Random.nextIntBetween(0, 15))
    yield* right.end
    yield* commit(right.org, null, [++n])
    const ended = yield* Effect.timeoutOption(
      Effect.promise(() => Promise.all(over)),
      "10 seconds"
    )
    committing = false
    yield* Fiber.join(committers)
    for (const client of clients) client.drop()

    const revoked = yield* untilShown(
      Effect.map(
        query<{ readonly id: string }>(
          "test",
          "select id from event_log where pos > $2 and internal and type = 'internal.revoked.v1' and data = $1::jsonb",
          [JSON.stringify(right.mark), since]
        ),
        ([row]) => row && eventIdFromUuid(row.id)
      )
    )
    const ids = (yield* logged(right.org, since)).map((row) => eventIdFromUuid(row.id))
    const before = ids.filter((id) => id < revoked)
    const wrong: Array<string> = ended._tag === "None" ? ["a stream did not end"] : []
    let late = 0
    for (const { comments, connections, frames } of clients) {
      // A server that lags a little begins its streams a little earlier.
      const got = frames.map(({ id }) => id).filter((id) => id > from)
      late += got.filter((id) => id > revoked).length
      const start = before.indexOf(got[0] ?? "")
      // All from where it began up to the revocation, and nothing else. Who came too late saw nothing at all.
      if (got.length > 0 && JSON.stringify(got) !== JSON.stringify(before.slice(start)))
        wrong.push(`got ${got.length}, there were ${before.length - start} before the revocation`)
      if (connections > 0 && !comments.some((comment) => comment.includes("closing reason=revoked")))
        wrong.push(`the stream said ${comments.join("|")}`)
    }
    const again = new StreamClient("/v1/events", right.token, "")
    yield* Effect.promise(() => again.follow(portOf(servers[n % servers.length])))
    if (again.connections > 0) wrong.push("it could come back")
    return { late, wrong, events: clients.reduce((sum, { frames }) => sum + frames.length, 0) }
  })

layer(PostgresServer.layer, { excludeTestServices: true })("a right that ends", (it) => {
  it.effect(
    "ends its streams on every instance before anything that was committed later",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        yield* Effect.gen(function* () {
          const servers = yield* apis(url, 2)
          const begun = performance.now()
          const result = { tries: 0, events: 0, late: 0 }
          const wrong: Array<string> = []
          const lane = (number: number) =>
            Effect.gen(function* () {
              const kinds = yield* ways(servers, number)
              for (let turn = number; result.tries < tries && performance.now() - begun < millis; turn++) {
                const make = kinds[turn % kinds.length]
                if (make === undefined) continue
                const found = yield* attempt(servers, yield* make)
                result.tries += 1
                result.events += found.events
                result.late += found.late
                wrong.push(...found.wrong)
              }
            })
          yield* Effect.forEach(
            Array.from({ length: lanes }, (_, at) => at),
            lane,
            { concurrency: "unbounded" }
          )
          console.log(JSON.stringify(result))
          assert.strictEqual(result.late, 0)
          assert.deepStrictEqual(wrong, [])
          assert.isAbove(result.tries, 10)
          assert.isAbove(result.events, result.tries, "events flowed")
        }).pipe(Effect.provide(Layer.provideMerge(OperatorAccounts.layer, stores(url))))
      }),
    long ? 7_200_000 : 90_000
  )
})
