/** What the admin port tells operators about event streams: every name of the page, and numbers that move. */
import { assert, layer } from "@effect/vitest"
import { Database } from "@narthex/postgres"
import { Deferred, Effect, Fiber } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { signIn } from "./support/ApiProcesses.ts"
import { apis, commit, freePort, freshDatabase, stores } from "./support/platform.ts"
import { StreamClient } from "./support/StreamClient.ts"

/** A histogram shows under several names; one of them stands for it. */
const names = [
  "events_streams",
  "events_stream_opened_total",
  "events_stream_closed_total",
  "events_replayed_total",
  "events_gap_total",
  "events_overflow_total",
  "events_dropped_total",
  "events_delivered_total",
  "events_delivered_bytes",
  "events_lagging_streams",
  "events_ring_bytes",
  "events_ring_evictions_total",
  "events_warm_load_seconds_count",
  "events_outbox_depth",
  "events_outbox_oldest_seconds",
  "events_sequence_seconds_count",
  "events_sequence_busy_total",
  "events_tail_lag_pos",
  "events_tail_lag_seconds_count",
  "events_listen_up",
  "events_flush_seconds_count"
]

const scrape = (port: number) =>
  Effect.promise(async () => {
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text()
    const values = new Map<string, number>()
    for (const line of text.split("\n")) {
      const found = /^(\w+)(?:\{.*\})? (\S+)/.exec(line)
      if (found?.[1] !== undefined) values.set(found[1], (values.get(found[1]) ?? 0) + Number(found[2]))
    }
    return values
  })

layer(PostgresServer.layer, { excludeTestServices: true })("the admin port", (it) => {
  it.effect(
    "shows every metric of event streams, and what happens to them",
    () =>
      Effect.gen(function* () {
        const url = yield* freshDatabase
        yield* Effect.gen(function* () {
          const { query } = yield* Database
          const admin = yield* Effect.promise(freePort)
          const [server] = yield* apis(url, 1, {}, admin)
          const port = server?.port ?? 0
          const shows = (name: string, fits: (value: number) => boolean): Effect.Effect<number> =>
            Effect.flatMap(scrape(admin), (values) => {
              const value = values.get(name) ?? Number.NaN
              return fits(value) ? Effect.succeed(value) : Effect.delay(shows(name, fits), 50)
            }).pipe(
              Effect.timeoutOrElse({ duration: "20 seconds", orElse: () => Effect.die(new Error(`${name} stays`)) })
            )

          const { org, token } = yield* Effect.promise(() => signIn(port, "ada@example.com"))
          const client = new StreamClient("/v1/events", token, "")
          const lost = new StreamClient("/v1/events", token, "not an id")
          const over = [client.follow(port), lost.follow(port)]
          yield* shows("events_streams", (value) => value === 2)
          yield* commit(org, null, [1, 2, 3])
          yield* shows("events_delivered_total", (value) => value === 6)
          yield* shows("events_gap_total", (value) => value === 1)
          yield* shows("events_listen_up", (value) => value === 1)
          yield* shows("events_sequence_seconds_count", (value) => value > 0)
          yield* shows("events_outbox_depth", (value) => value === 0)

          // Nobody gives ids while the head is held: the outbox fills up, and somebody else is at it.
          const { transaction } = yield* Database
          const held = yield* Deferred.make<void>()
          const release = yield* Deferred.make<void>()
          const holder = yield* Effect.forkChild(
            transaction(
              Effect.andThen(
                query("test", "select 1 from event_head for update"),
                Effect.andThen(Deferred.succeed(held, undefined), Deferred.await(release))
              )
            )
          )
          yield* Deferred.await(held)
          yield* commit(org, null, [4])
          yield* shows("events_outbox_depth", (value) => value === 1)
          yield* shows("events_outbox_oldest_seconds", (value) => value > 0)
          yield* shows("events_sequence_busy_total", (value) => value > 0)
          yield* Deferred.succeed(release, undefined)
          yield* Fiber.join(holder)
          yield* shows("events_outbox_depth", (value) => value === 0)

          // Notifications that never come: the head moves and nobody was told.
          yield* query("test", "alter function event_sequence(int) rename to event_sequence_telling")
          yield* query(
            "test",
            `create function event_sequence(n int) returns int language plpgsql as $$
             begin
               update event_head set pos = pos + 1;
               return 0;
             end $$`
          )
          yield* shows("events_listen_up", (value) => value === 0)

          for (const it of [client, lost]) it.drop()
          yield* Effect.promise(() => Promise.all(over))
          yield* shows("events_stream_closed_total", (value) => value === 2)
          const values = yield* scrape(admin)
          assert.deepStrictEqual(
            names.filter((name) => !values.has(name)),
            []
          )
        }).pipe(Effect.provide(stores(url)))
      }),
    90_000
  )
})
