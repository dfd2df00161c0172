/**
 * Whoever loses a right gets nothing that was committed afterwards, on any instance: two API servers on one Postgres,
 * streams on both, events being committed all the time, and rights that end in every way there is.
 *
 * A try is one right with its streams on every instance, judged on its own. `NARTHEX_TEST_LONG=1` does 10,000 tries.
 */
import { assert, layer } from "@effect/vitest"
import { OperatorAccounts } from "@narthex/core"
import { Effect, Layer } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import type { ApiProcess } from "./support/ApiProcesses.ts"
import { endRights } from "./support/endRights.ts"
import { expireRights, layerSigner } from "./support/expireRights.ts"
import type { Outcome } from "./support/judgeEnds.ts"
import { keyEndings, organizationEnding, projectEnding, sessionEndings } from "./support/keyEndings.ts"
import { memberEndings } from "./support/memberEndings.ts"
import { apis, freshDatabase, stores } from "./support/platform.ts"
import { anyOf, makeTeam } from "./support/rights.ts"

const long = process.env["NARTHEX_TEST_LONG"] === "1"
const tries = long ? 10_000 : 700
const millis = long ? Number.POSITIVE_INFINITY : 15_000
const lanes = 3
const ways = 20

/** A fresh team, and the end of every right in it. */
const turn = (servers: ReadonlyArray<ApiProcess>, name: string) =>
  Effect.gen(function* () {
    const team = yield* makeTeam(anyOf(servers), `${name}@example.com`)
    const endings = [...keyEndings(team), ...sessionEndings(team), ...memberEndings(team, name)]
    const many = yield* Effect.all(endings, { concurrency: "unbounded" })
    return yield* endRights(servers, team, [many, [yield* projectEnding(team)], [yield* organizationEnding(team)]])
  })

/** Turn after turn in several lanes, and one in which credentials expire, until there were tries enough. */
const everyWay = (servers: ReadonlyArray<ApiProcess>) =>
  Effect.gen(function* () {
    const begun = performance.now()
    const result = { tries: 0, streams: 0, events: 0, late: 0, seconds: 0 }
    const tried = new Map<string, number>()
    const wrong: Array<string> = []
    const more = (lasts: number) =>
      wrong.length === 0 && result.tries < tries && performance.now() - begun + lasts < millis
    const note = (outcome: Outcome) => {
      for (const way of outcome.ways) tried.set(way, (tried.get(way) ?? 0) + 1)
      result.tries += outcome.ways.length
      result.streams += outcome.streams
      result.events += outcome.events
      result.late += outcome.late
      wrong.push(...outcome.wrong)
    }
    const lane = <E, R>(name: string, lasts: number, work: (name: string) => Effect.Effect<Outcome, E, R>) =>
      Effect.gen(function* () {
        for (let n = 0; more(lasts); n++) note(yield* work(`${name}-${n}`))
      })
    const turns = Array.from({ length: lanes }, (_, at) => lane(`lane-${at}`, 1_000, (name) => turn(servers, name)))
    const expiries = lane("expiring", 9_000, (name) => expireRights(servers, `${name}@example.com`))
    yield* Effect.all([...turns, expiries], { concurrency: "unbounded", discard: true })
    result.seconds = Math.round((performance.now() - begun) / 1_000)
    return { result, tried, wrong }
  })

layer(PostgresServer.layer, { excludeTestServices: true })("a right that ends", (it) => {
  it.effect(
    "ends its streams on every instance before anything that was committed later",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        yield* Effect.gen(function* () {
          const { result, tried, wrong } = yield* everyWay(yield* apis(url, 2))
          console.log(JSON.stringify({ ...result, ...Object.fromEntries(tried) }))
          assert.deepStrictEqual({ late: result.late, wrong }, { late: 0, wrong: [] })
          assert.strictEqual(tried.size, ways, "every way was tried")
          assert.isAtLeast(result.tries, long ? tries : 3 * ways)
          assert.isAbove(result.events, result.tries, "events flowed")
        }).pipe(
          Effect.provide(Layer.mergeAll(OperatorAccounts.layer, layerSigner).pipe(Layer.provideMerge(stores(url))))
        )
      }),
    long ? 3_600_000 : 90_000
  )
})
