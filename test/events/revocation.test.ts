/**
 * A client that loses a right gets nothing that was committed afterwards, on any instance: two instances on one Postgres, a server
 * and a handler that a host has mounted (docs/design/library.md N13, N17), streams on both, events committed all the time, and rights that end in every possible way.
 *
 * A try is one right with its streams on every instance, judged separately. The long form makes 10,000 tries.
 */
import { assert, layer } from "@effect/vitest"
import { OperatorAccounts } from "@narthex/core"
import { Effect, Layer } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { times } from "../harness/long.ts"
import { note } from "../harness/note.ts"
import type { ApiProcess } from "./support/ApiProcesses.ts"
import { endRights, type Racing } from "./support/endRights.ts"
import { expireRights, layerSigner } from "./support/expireRights.ts"
import type { Outcome } from "./support/judgeEnds.ts"
import { keyEndings, organizationEnding, projectEnding, sessionEndings } from "./support/keyEndings.ts"
import { memberEndings } from "./support/memberEndings.ts"
import { apisServing, freshDatabase, stores } from "./support/platform.ts"
import { anyOf, makeTeam } from "./support/rights.ts"

/** Turns in which rights end, in parallel lanes; and rounds in which credentials expire. */
const turns = times(2, 330)
const lanes = times(2, 3)
const expiries = times(1, 8)
const ways = 20

/** Makes a team and ends every right in it. */
const turn = (servers: ReadonlyArray<ApiProcess>, name: string, racing: Racing) =>
  Effect.gen(function* () {
    const team = yield* makeTeam(anyOf(servers), `${name}@example.com`)
    const endings = [...keyEndings(team), ...sessionEndings(team), ...memberEndings(team, name)]
    const many = yield* Effect.all(endings, { concurrency: "unbounded" })
    return yield* endRights(
      servers,
      team,
      [many, [yield* projectEnding(team)], [yield* organizationEnding(team)]],
      racing
    )
  })

/** In the first turn nothing races, in the second everything; the other turns choose at random. */
const racingOf = (nth: number): Racing => (nth === 0 ? "none" : nth === 1 ? "all" : "half")

/** Every turn, then every expiry, which sets the servers' clocks. Stops at the first error. */
const everyWay = (servers: ReadonlyArray<ApiProcess>) =>
  Effect.gen(function* () {
    const result = { tries: 0, streams: 0, events: 0, late: 0 }
    const tried = new Map<string, number>()
    const wrong: Array<string> = []
    const add = (outcome: Outcome) => {
      for (const way of outcome.ways) tried.set(way, (tried.get(way) ?? 0) + 1)
      result.tries += outcome.ways.length
      result.streams += outcome.streams
      result.events += outcome.events
      result.late += outcome.late
      wrong.push(...outcome.wrong)
    }
    yield* Effect.forEach(
      Array.from({ length: turns }, (_, nth) => nth),
      (nth) => (wrong.length > 0 ? Effect.void : Effect.map(turn(servers, `turn-${nth}`, racingOf(nth)), add)),
      { concurrency: lanes, discard: true }
    )
    let clock = 1_000 * Math.ceil(Date.now() / 1_000)
    for (let nth = 0; nth < expiries && wrong.length === 0; nth++) {
      const { at, outcome } = yield* expireRights(servers, `expiring-${nth}@example.com`, clock)
      clock = at
      add(outcome)
    }
    return { result, tried, wrong }
  })

layer(PostgresServer.layer, { excludeTestServices: true })("a right that ends", (it) => {
  it.effect(
    "a right that ends closes its streams on every instance before any event that was committed later",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        yield* Effect.gen(function* () {
          const { result, tried, wrong } = yield* everyWay(
            yield* apisServing(url, ["server", "node"], { heartbeat_ms: 500 })
          )
          const { events, streams, tries } = result
          note(`revocation: ${tries} rights ended in ${tried.size} ways, ${streams} streams, ${events} events`)
          assert.deepStrictEqual({ late: result.late, wrong }, { late: 0, wrong: [] })
          assert.strictEqual(tried.size, ways, "every way to lose a right was tried")
        }).pipe(
          Effect.provide(Layer.mergeAll(OperatorAccounts.layer, layerSigner).pipe(Layer.provideMerge(stores(url))))
        )
      }),
    times(120_000, 3_600_000)
  )
})
