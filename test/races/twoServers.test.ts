/**
 * Guarantees of two servers on one Postgres: an `Idempotency-Key` takes effect once, a right ends on both, and a
 * credential has a part of the connections (docs/design/api.md A25 and A33).
 *
 * A demotion, removal, disabling or revocation acts on the next request, on the server that made it and on the other
 * one, because nothing about a credential is cached between requests. Each try first shows that the right exists on
 * both servers, and repeats the request as soon as the change is answered. The long form makes 10,000 requests.
 */
import { assert, layer } from "@effect/vitest"
import { OperatorAccounts } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Fiber, Result } from "effect"
import { eventually } from "../harness/eventually.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import { lossesOf, said } from "./support/losses.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { type Answer, ask, enter, TwoServers } from "./support/twoServers.ts"

const calls = 50

/** The creation of an API key under one idempotency key, on either server. */
const creation = (key: string, token: string) =>
  Effect.map(
    TwoServers,
    ({ ports }) =>
      (at: number) =>
        ask(ports[at % 2 === 0 ? 0 : 1], "POST", "/v1/api-keys/", {
          token,
          body: { name: "once" },
          headers: { "idempotency-key": key }
        })
  )

const keysOf = (token: string) =>
  Effect.gen(function* () {
    const { ports } = yield* TwoServers
    const { body } = yield* ask(ports[1], "GET", "/v1/api-keys/", { token })
    return body.api_keys.length
  })

const word = (answer: Answer) =>
  answer.status === 201 ? (answer.body.secret === null ? "replayed" : "made") : said(answer)

layer(TwoServers.layer, { excludeTestServices: true })("two servers", (it) => {
  it.effect("two servers refuse an idempotency key whose call is in progress, and replay its answer afterwards", () =>
    Effect.gen(function* () {
      const { ports } = yield* TwoServers
      const { query, transaction } = yield* Database
      const { org, token } = yield* enter(ports[0], "under-way@example.com")
      const create = yield* creation("under-way", token)
      // Pitfall: pg_stat_activity here. Within a transaction it shows what it showed first.
      const behindUs = query(
        "test",
        "select 1 from pg_locks where not granted and pg_backend_pid() = any (pg_blocking_pids(pid))"
      )

      const { during, first } = yield* transaction(
        Effect.gen(function* () {
          // The call locks its organization: it stays in the middle for as long as this transaction holds the row.
          yield* query("test", "select 1 from narthex.organization where id = $1 for update", [org])
          const first = yield* Effect.forkChild(create(0))
          yield* eventually(
            "the first call to wait for its organization",
            Effect.map(behindUs, (rows) => rows.length > 0)
          )
          const others = Array.from({ length: calls - 1 }, (_, at) => create(at))
          return { first, during: yield* Effect.all(others, { concurrency: "unbounded" }) }
        })
      )
      const made = yield* Fiber.join(first)
      const later = yield* Effect.all([create(0), create(1)])

      assert.deepStrictEqual([...new Set(during.map(word))], ["409 idempotency_in_progress"])
      assert.deepStrictEqual([made, ...later].map(word), ["made", "replayed", "replayed"])
      assert.strictEqual(new Set([made, ...later].map(({ body }) => body.api_key.id)).size, 1)
      assert.strictEqual(yield* keysOf(token), 1)
    })
  )

  it.effect(
    "calls of one session that wait for a lock leave its person, and others, their connections to the store",
    () =>
      Effect.gen(function* () {
        const { ports } = yield* TwoServers
        const { query, transaction } = yield* Database
        const owner = yield* enter(ports[0], "owner@example.com")
        const runaway = yield* enter(ports[0], "owner@example.com")
        const other = yield* enter(ports[0], "unhindered@example.com")
        const waiting = query<{ readonly count: number }>(
          "test",
          `select count(distinct pid)::int as count from pg_locks where not granted and pid in (
           select pid from pg_locks
           where database = (select oid from pg_database where datname = current_database())
         )`
        )

        const { calling, during, read } = yield* transaction(
          Effect.gen(function* () {
            // The creation of a key waits for the row of its organization.
            yield* query("test", "select 1 from narthex.organization where id = $1 for update", [owner.org])
            const answered: Array<Answer> = []
            const calling = yield* Effect.forkChild(
              Effect.forEach(
                Array.from({ length: calls }, (_, at) => `key ${at}`),
                (name) =>
                  Effect.map(
                    ask(ports[0], "POST", "/v1/api-keys/", { token: runaway.token, body: { name } }),
                    (answer) => void answered.push(answer)
                  ),
                { concurrency: "unbounded" }
              )
            )
            yield* eventually(
              "calls to wait for the organization",
              Effect.map(waiting, ([row]) => (row?.count ?? 0) > 1)
            )
            // Several, so that one that found a connection by chance proves nothing.
            const read = yield* Effect.forEach(
              Array.from({ length: 8 }, (_, at) => (at % 2 === 0 ? owner : other)),
              (by) => ask(ports[0], "GET", "/v1/projects", { token: by.token })
            )
            return { calling, read, during: [...answered] }
          })
        )
        yield* Fiber.join(calling)
        assert.deepStrictEqual([...new Set(read.map(said))], ["allowed"])
        assert.deepStrictEqual(during, [], "calls that were answered before the lock was released")
      })
  )

  it.effect(
    `an idempotency key with which ${calls} calls race takes effect once on two servers`,
    () => {
      const outcomes = { replayed: 0, "in progress": 0 }
      return rounds(
        "idempotency",
        (n) =>
          Effect.gen(function* () {
            const { ports } = yield* TwoServers
            const { token } = yield* enter(ports[0], `once-${n}@example.com`)
            const create = yield* creation(`round-${n}`, token)
            const tries = yield* race(Array.from({ length: calls }, (_, at) => create(at)))
            const answers = tries.flatMap((it) => (Result.isSuccess(it) ? [it.success] : []))
            const late = yield* create(1)
            const ids = new Set(
              [...answers, late].flatMap(({ body, status }) => (status === 201 ? [body.api_key.id] : []))
            )
            const words = answers.map(word)
            const count = (which: string) => words.filter((it) => it === which).length
            const [made, replayed, refused] = ["made", "replayed", "409 idempotency_in_progress"].map(count)
            outcomes.replayed += replayed ?? 0
            outcomes["in progress"] += refused ?? 0
            const strange = words.filter((it) => !["made", "replayed", "409 idempotency_in_progress"].includes(it))
            const kept = yield* keysOf(token)
            return [
              ...(kept === 1 && ids.size === 1 ? [] : [`${kept} keys, ${ids.size} ids`]),
              ...(made === 1 ? [] : [`the secret was shown ${made} times`]),
              ...(word(late) === "replayed" ? [] : [`the late call was ${word(late)}`]),
              ...strange
            ]
          }),
        { count: 4, lanes: 1, outcomes }
      )
    },
    patience
  )

  it.effect(
    "a right that ends on either of two servers is refused on the next request to both",
    () =>
      Effect.gen(function* () {
        const { ports } = yield* TwoServers
        const { enable } = yield* OperatorAccounts
        const lanes = times(1, 4)
        const tries = times(32, 5_000)
        const tried = new Set<string>()
        const wrong: Array<string> = []
        let turn = 0
        const lane = (number: number) =>
          Effect.gen(function* () {
            const { losses, person } = yield* lossesOf(ports, number)
            while (turn < tries) {
              // Each way on each server, and asked one after the other or both at once.
              const n = turn++
              const loss = losses[n % losses.length]
              if (loss === undefined) return
              const [here, there] = Math.floor(n / losses.length) % 2 === 0 ? ports : [ports[1], ports[0]]
              const concurrency = Math.floor(n / losses.length / 2) % 2 === 0 ? 1 : 2
              yield* enable(person)
              const { after, lose, use } = yield* loss.prepare
              for (const it of yield* Effect.forEach(ports, use))
                if (said(it) !== "allowed") wrong.push(`${loss.name}: had no right: ${said(it)}`)
              yield* lose(here)
              // The other server first.
              for (const it of yield* Effect.forEach([there, here], use, { concurrency }))
                if (said(it) !== after) wrong.push(`${loss.name}: ${said(it)}`)
              tried.add(`${loss.name} on ${ports.indexOf(here)}, ${concurrency} at once`)
            }
          })
        yield* Effect.forEach(
          Array.from({ length: lanes }, (_, number) => number),
          lane,
          { concurrency: "unbounded", discard: true }
        )
        note(`staleness: ${2 * turn} requests after the end of a right`)
        assert.deepStrictEqual(wrong, [])
        assert.strictEqual(tried.size, 32, "every way was tried on both servers")
      }).pipe(Effect.provide(OperatorAccounts.layer)),
    patience
  )
})
