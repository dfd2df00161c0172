/**
 * `Idempotency-Key` where the process dies in the middle of a call: before or after any statement, before or after any
 * COMMIT. The repeated call then runs for the first time or replays the first answer; what it changes, it changes once.
 *
 * A death is simulated at the database: from one step on, nothing of the call reaches it any more, and what had not
 * been committed is rolled back. The service behind it is Postgres.
 */
import { assert, layer } from "@effect/vitest"
import { StorageError } from "@narthex/core"
import { Database, PostgresStorage } from "@narthex/postgres"
import { Context, Deferred, Effect, Fiber, Layer, Option } from "effect"
import { HttpServerRequest } from "effect/http"
import { eventually } from "../../../../test/harness/eventually.ts"
import { long, times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { testDatabase } from "../../../postgres/test/support/TestDatabase.ts"
import { apiOver } from "../support/apiOver.ts"
import { address, arrive, type Caller, finish, founder, joined, key, refused } from "../support/story.ts"

/** Kills calls by their idempotency key at a step, and counts the steps of the last call that had one. */
interface Deaths {
  at: number | undefined
  steps: number
  /** Runs before a call with an idempotency key stores its answer. */
  beforeAnswer: Effect.Effect<void>
}

class Death extends Context.Service<Death, Deaths>()("test/Death") {}

const dead = new StorageError({ operation: "test", cause: new Error("The process is dead.") })

const Mortal = Layer.effectContext(
  Effect.gen(function* () {
    const database = yield* Database
    const deaths: Deaths = { at: undefined, steps: 0, beforeAnswer: Effect.void }
    const isTheCall = Effect.map(
      Effect.serviceOption(HttpServerRequest.HttpServerRequest),
      Option.exists(({ headers }) => headers["idempotency-key"] !== undefined)
    )
    const step = Effect.flatMap(isTheCall, (counts): Effect.Effect<void, StorageError> => {
      if (!counts) return Effect.void
      deaths.steps += 1
      return deaths.at !== undefined && deaths.steps >= deaths.at ? Effect.fail(dead) : Effect.void
    })
    const mortal = Database.of({
      ...database,
      query: <Row extends object>(...asked: Parameters<Database["Service"]["query"]>) =>
        step.pipe(
          Effect.andThen(
            Effect.suspend(() => (asked[0] === "IdempotencyStore.complete" ? deaths.beforeAnswer : Effect.void))
          ),
          Effect.andThen(Effect.tap(database.query<Row>(...asked), () => step))
        ),
      transaction: (work) =>
        Effect.andThen(
          step,
          Effect.tap(database.transaction(Effect.tap(work, () => step)), () => step)
        )
    })
    return Context.make(Database, mortal).pipe(Context.add(Death, deaths))
  })
)

const api = apiOver(PostgresStorage.layer, { idle: true }).pipe(Layer.provideMerge(Layer.provide(Mortal, testDatabase)))

const tables = [
  "project",
  "branch",
  "endpoint",
  "operation",
  "branch_role",
  "api_key",
  "ip_rule",
  "invitation",
  "organization",
  "organization_founder",
  "membership"
]

/** The rows of all tables, and the events that were emitted. */
const census = Effect.gen(function* () {
  const { query } = yield* Database
  const counts = tables.map((table) => `(select count(*) from narthex.${table}) as ${table}`).join(", ")
  const [row] = yield* query<Record<string, number>>(
    "test",
    `select ${counts}, (select count(*) from narthex.event_outbox) + (select count(*) from narthex.event_log) as events`
  )
  return row ?? {}
})

const difference = (before: Record<string, number>, after: Record<string, number>) =>
  Object.fromEntries(Object.entries(after).map(([name, count]) => [name, count - (before[name] ?? 0)]))

interface Sent {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** The caller; left out: the one that the call was prepared for. */
  readonly by?: Caller
}

/** `status` is the answer; `gone`: that of a repeated call, where its effect has ended what the caller may. */
const kind = <E, R>(
  name: string,
  status: number,
  prepare: (who: Caller) => Effect.Effect<Sent, E, R>,
  gone: number | null = null
) => ({ name, status, gone, prepare })

/** A project whose first operation is over. */
const place = Effect.fnUntraced(function* (who: Caller) {
  const { body } = yield* who.call("POST", "/v1/projects", { body: { name: "shop" } })
  yield* finish(body.operations[0].id)
  const path = `/v1/projects/${body.project.id}`
  return {
    path,
    main: body.branch.id as string,
    branch: `${path}/branches/${body.branch.id}`,
    endpoint: `${path}/endpoints/${body.endpoint.id}`
  }
})

/** A child of the main branch, whose first operation is over. */
const child = Effect.fnUntraced(function* (who: Caller) {
  const { path } = yield* place(who)
  const { body } = yield* who.call("POST", `${path}/branches`, { body: { name: "b" } })
  yield* finish(body.operations[0].id)
  return `${path}/branches/${body.branch.id}`
})

const post = (path: string, body: unknown): Sent => ({ method: "POST", path, body })

const kinds = [
  kind("a project", 201, () => Effect.succeed(post("/v1/projects", { name: "p" }))),
  kind("a branch", 201, (who) => Effect.map(place(who), ({ path }) => post(`${path}/branches`, { name: "b" }))),
  kind("a sandbox", 201, (who) => Effect.map(place(who), ({ path }) => post(`${path}/sandboxes`, {}))),
  kind("a credential", 201, (who) =>
    Effect.map(place(who), ({ branch }) => post(`${branch}/credentials`, { access: "read_only" }))
  ),
  kind("an endpoint", 201, (who) =>
    Effect.map(place(who), ({ main, path }) => post(`${path}/endpoints`, { branch_id: main, type: "read_only" }))
  ),
  kind("a start", 200, (who) => Effect.map(place(who), ({ endpoint }) => post(`${endpoint}/start`, undefined))),
  kind("a reset", 200, (who) => Effect.map(child(who), (branch) => post(`${branch}/reset`, undefined))),
  kind("a rule", 201, (who) =>
    Effect.map(place(who), ({ path }) => post(`${path}/ip-allow`, { cidr: "192.0.2.0/24" }))
  ),
  kind("an API key", 201, () => Effect.succeed(post("/v1/api-keys", { name: "k" }))),
  kind("a rotation", 201, (who) => Effect.map(key(who), ({ id }) => post(`/v1/api-keys/${id}/rotate`, {}))),
  kind("an invitation", 201, (who) => Effect.succeed(post(`/v1/orgs/${who.org_id}/invitations`, { email: address() }))),
  kind("an acceptance", 200, (who) =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const made = yield* owner.call("POST", `/v1/orgs/${owner.org_id}/invitations`, { body: { email: who.email } })
      return post(`/v1/invitations/${made.body.invitation.id}/accept`, undefined)
    })
  ),
  // By a person of its own: how many organizations a person has created is limited.
  kind("an organization", 201, () => Effect.map(arrive(), (by) => ({ ...post("/v1/orgs", { name: "o" }), by }))),
  kind(
    "an organization's end",
    204,
    () => Effect.map(founder(), (by) => ({ method: "DELETE", path: `/v1/orgs/${by.org_id}`, by })),
    403
  ),
  kind("a removal", 204, (who) =>
    Effect.gen(function* () {
      const member = yield* joined(who, "member")
      yield* key(member)
      return { method: "DELETE", path: `/v1/orgs/${who.org_id}/members/${member.user_id}` }
    })
  ),
  kind("a name", 200, (who) => Effect.map(place(who), ({ path }) => ({ method: "PATCH", path, body: { name: "q" } }))),
  kind("an end", 202, (who) => Effect.map(place(who), ({ path }) => ({ method: "DELETE", path })))
]

let keys = 0

/** Sends a call with an idempotency key of its own; `deaths` are the steps at which its attempts die, one after another. */
const attempts = Effect.fnUntraced(function* (
  who: Caller,
  { method, path, body, by = who }: Sent,
  deaths: ReadonlyArray<number>
) {
  const death = yield* Death
  const { query } = yield* Database
  const headers = { "idempotency-key": `call-${++keys}` }
  const once = Effect.fnUntraced(function* (at: number | undefined) {
    death.at = at
    death.steps = 0
    const answer = yield* by.call(method, path, { headers, ...(body === undefined ? {} : { body }) })
    death.at = undefined
    // The lease of the attempt that died ends.
    yield* query("test", "update narthex.idempotency_record set lease_until = lease_until - interval '1 hour'")
    return answer
  })
  for (const at of deaths) yield* once(at)
  const answer = yield* once(undefined)
  return { answer, steps: death.steps, again: yield* once(undefined) }
})

/** How many steps a call of the kind has, and what it changes. */
const undisturbed = Effect.fnUntraced(function* (who: Caller, { gone, name, prepare, status }: (typeof kinds)[number]) {
  const sent = yield* prepare(who)
  const before = yield* census
  const { again, answer, steps } = yield* attempts(who, sent, [])
  assert.deepStrictEqual([answer.status, again.status], [status, gone ?? status], `${name}: ${answer.text}`)
  return { steps, changes: difference(before, yield* census) }
})

const whole = (numbers: number) => Math.floor(Math.random() * numbers)

layer(api, { excludeTestServices: true, timeout: "600 seconds" })("an idempotent call whose process dies", (it) => {
  it.effect("an idempotent call that dies at any step and is repeated has its effect once, and is replayed then", () =>
    Effect.gen(function* () {
      let who = yield* founder()
      const measured = yield* Effect.forEach(kinds, (it) => undisturbed(who, it))
      const count = times(20, 200)
      let replays = 0
      for (let round = 0; round < count; round++) {
        const chosen = kinds[round % kinds.length]
        const usual = measured[round % kinds.length]
        if (chosen === undefined || usual === undefined) return
        // The projects of all rounds together are more than an organization may have.
        if (round % 20 === 0) who = yield* founder()
        const sent = yield* chosen.prepare(who)
        // The last steps, around the COMMIT of the effect, matter most.
        const deaths = [1 + whole(usual.steps), usual.steps - whole(Math.min(6, usual.steps))]
        const before = yield* census
        const { again, answer } = yield* attempts(who, sent, deaths)
        const what = `${chosen.name}, died at ${deaths.join(" and ")} of ${usual.steps}: ${answer.text}`
        assert.include([chosen.status, chosen.gone], answer.status, what)
        assert.deepStrictEqual(difference(before, yield* census), usual.changes, what)
        const repeated = chosen.gone === null ? [chosen.status, "true"] : [chosen.gone, undefined]
        assert.deepStrictEqual([again.status, again.headers["idempotent-replayed"]], repeated, what)
        if (answer.headers["idempotent-replayed"] === "true") replays += 1
      }
      note(`${count} calls died twice; ${replays} of them had committed.`)
    })
  )

  it.effect("an idempotent call that outlives its lease is rolled back when another attempt has begun", () =>
    Effect.gen(function* () {
      const death = yield* Death
      const { query } = yield* Database
      const who = yield* founder()
      const [reached, released] = [yield* Deferred.make<void>(), yield* Deferred.make<void>()]
      const send = who.call("POST", "/v1/projects", { headers: { "idempotency-key": "late" }, body: { name: "p" } })
      death.beforeAnswer = Effect.andThen(Deferred.succeed(reached, undefined), Deferred.await(released))
      const late = yield* Effect.forkChild(send)
      yield* Deferred.await(reached)
      death.beforeAnswer = Effect.void
      const early = yield* send
      refused(early, 409, "idempotency_in_progress")
      assert.match(early.body.detail, /by \d{4}-\d\d-\d\dT[\d:.]+Z it has been answered/)
      yield* query("test", "update narthex.idempotency_record set lease_until = now() - interval '1 hour'")
      // The two attempts create in one organization, so the second waits at the quotas until the late one has ended.
      const attempt = query<{ readonly attempt: number }>(
        "test",
        "select attempt from narthex.idempotency_record where key = 'late'"
      )
      const [first] = yield* attempt
      const waiting = yield* Effect.forkChild(send)
      const begun = Effect.map(attempt, ([now]) => now !== undefined && now.attempt !== first?.attempt)
      yield* eventually("the second attempt to begin", begun)
      yield* Deferred.succeed(released, undefined)
      refused(yield* Fiber.join(late), 409, "idempotency_in_progress")
      const second = yield* Fiber.join(waiting)
      assert.strictEqual(second.status, 201, second.text)
      const { body } = yield* who.call("GET", "/v1/projects")
      assert.deepStrictEqual(body.projects, [second.body.project])
      assert.deepStrictEqual((yield* send).body, second.body)
    })
  )

  if (long)
    it.effect("each step of each kind of idempotent call can be the last of an attempt", () =>
      Effect.forEach(
        kinds,
        Effect.fnUntraced(function* (chosen) {
          const who = yield* founder()
          const usual = yield* undisturbed(who, chosen)
          for (let at = 1; at <= usual.steps; at++) {
            const sent = yield* chosen.prepare(who)
            const before = yield* census
            const { answer } = yield* attempts(who, sent, [at])
            const what = `${chosen.name}, died at ${at} of ${usual.steps}: ${answer.text}`
            assert.include([chosen.status, chosen.gone], answer.status, what)
            assert.deepStrictEqual(difference(before, yield* census), usual.changes, what)
          }
        })
      )
    )
})
