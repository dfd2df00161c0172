/** The metrics of event streams on the admin port: every name of the catalog is there, no other is, and the numbers change. */
import { assert, layer } from "@effect/vitest"
import { Database } from "@narthex/postgres"
import { metricCatalog } from "@narthex/server"
import { Clock, Deferred, Effect, Fiber } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { eventually, within } from "../harness/eventually.ts"
import { metricsWithoutEntry } from "../support/metricsWithoutEntry.ts"
import { signIn } from "./support/ApiProcesses.ts"
import { MovableClock } from "./support/MovableClock.ts"
import { apis, commit, freshDatabase, stores } from "./support/platform.ts"
import { StreamClient } from "./support/StreamClient.ts"

/** The names of the catalog; a histogram has several, of which the count represents it. */
const names = Object.entries(metricCatalog)
  .filter(([, { of }]) => of === "event streams")
  .map(([name, { kind }]) => (kind === "histogram" ? `${name}_count` : name))

const scrape = (port: number) =>
  Effect.promise(async () => {
    const answer = fetch(`http://127.0.0.1:${port}/metrics`).then((response) => response.text())
    const text = await within("an answer of the admin port", answer)
    assert.deepStrictEqual(metricsWithoutEntry(text), [])
    const values = new Map<string, number>()
    for (const line of text.split("\n")) {
      const found = /^(\w+)(?:\{.*\})? (\S+)/.exec(line)
      if (found?.[1] !== undefined) values.set(found[1], (values.get(found[1]) ?? 0) + Number(found[2]))
    }
    return values
  })

layer(PostgresServer.layer, { excludeTestServices: true })("the admin port", (it) => {
  it.effect("the admin port shows every metric of event streams, and its changes", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.gen(function* () {
        const { query } = yield* Database
        const [server] = yield* apis(url, 1, { admin: true, heartbeat_ms: 500 })
        if (server === undefined) return assert.fail("There is no server.")
        const { admin, port } = server
        const scraped = scrape(admin)
        const shows = (name: string, fits: (value: number) => boolean) =>
          eventually(
            `${name} to move`,
            // Samples of the log are taken every few seconds: the next one is due now.
            Effect.andThen(
              Effect.promise(() => server.tell({ wake: 5_000 })),
              Effect.map(scraped, (values) => fits(values.get(name) ?? Number.NaN))
            ),
            { every: 50 }
          )

        const { org, token } = yield* Effect.promise(() => signIn(port, "ada@example.com"))
        const client = new StreamClient("/v1/events", token, "")
        const lost = new StreamClient("/v1/events", token, "not an id")
        const over = [client.follow(port), lost.follow(port)]
        yield* shows("narthex_events_streams", (value) => value === 2)
        yield* commit(org, null, [1, 2, 3])
        yield* shows("narthex_events_delivered_total", (value) => value === 6)
        yield* shows("narthex_events_gap_total", (value) => value === 1)
        yield* shows("narthex_events_listen_up", (value) => value === 1)
        yield* shows("narthex_events_sequence_seconds_count", (value) => value > 0)
        yield* shows("narthex_events_outbox_depth", (value) => value === 0)

        // No ids are given while the head is held: the outbox fills up, and another session is sequencing.
        const { transaction } = yield* Database
        const held = yield* Deferred.make<void>()
        const release = yield* Deferred.make<void>()
        const holder = yield* Effect.forkChild(
          transaction(
            Effect.andThen(
              query("test", "select 1 from narthex.event_head for update"),
              Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release))
            )
          )
        )
        yield* Effect.gen(function* () {
          yield* Effect.raceFirst(Deferred.await(held), Fiber.join(holder))
          // The age of an event is measured by Postgres' clock alone. The writer's clock is an hour behind.
          const [row] = yield* query<{ readonly now: number }>(
            "test",
            "select (extract(epoch from clock_timestamp()) * 1000)::float8 as now"
          )
          const writer = new MovableClock()
          writer.stand(Math.floor(row?.now ?? 0) - 3_600_000)
          yield* Effect.provideService(commit(org, null, [4]), Clock.Clock, writer)
          yield* shows("narthex_events_outbox_depth", (value) => value === 1)
          yield* shows("narthex_events_outbox_oldest_seconds", (value) => value < 3_600)
          yield* query("test", "update narthex.event_outbox set written_at = written_at - interval '2 hours'")
          yield* shows("narthex_events_outbox_oldest_seconds", (value) => value >= 7_200 && value < 10_800)
          yield* shows("narthex_events_sequence_busy_total", (value) => value > 0)
        }).pipe(Effect.ensuring(Deferred.succeed(release, undefined)))
        yield* Fiber.join(holder)
        yield* shows("narthex_events_outbox_depth", (value) => value === 0)

        // Notifications that never come: the head moves without one.
        yield* query("test", "alter function narthex.event_sequence(int) rename to event_sequence_telling")
        yield* query(
          "test",
          `create function narthex.event_sequence(n int) returns int language plpgsql as $$
             begin
               update narthex.event_head set pos = pos + 1;
               return 0;
             end $$`
        )
        yield* shows("narthex_events_listen_up", (value) => value === 0)

        for (const it of [client, lost]) it.drop()
        yield* Effect.promise(() => within("the end of both streams", Promise.all(over)))
        yield* shows("narthex_events_stream_closed_total", (value) => value === 2)
        const values = yield* scraped
        assert.deepStrictEqual(
          names.filter((name) => !values.has(name)),
          []
        )
      }).pipe(Effect.provide(stores(url)))
    })
  )
})
