/** The metrics of the process and of its store's connections, as a real server answers them (docs/design/settings.md S10). */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PostgresServer } from "../../packages/postgres/test/support/PostgresServer.ts"
import { version } from "../../packages/server/src/version.ts"
import { eventually } from "../harness/eventually.ts"
import { metricsWithoutEntry } from "../support/metricsWithoutEntry.ts"
import { ask } from "./support/ask.ts"
import { Program } from "./support/Program.ts"
import { Serving } from "./support/Serving.ts"

layer(Serving.layer, { excludeTestServices: true })("the metrics of a process", (it) => {
  it.effect("a scrape has the CPU time, memory, start and delay of the server, and its connections to the store", () =>
    Effect.gen(function* () {
      const { database, environment } = yield* Serving
      const begun = Date.now() / 1_000
      const program = yield* Program.start("server", ["--roles", "api"], environment)
      const scrape = Effect.promise(async () => {
        const text = await fetch(`${program.address("admin")}/metrics`).then((response) => response.text())
        assert.deepStrictEqual(metricsWithoutEntry(text), [])
        return (series: string) =>
          Number(
            text
              .split("\n")
              .find((line) => line.startsWith(`${series} `))
              ?.slice(series.length + 1) ?? Number.NaN
          )
      })

      const first = yield* scrape
      assert.strictEqual(first(`narthex_process_info{version="${version}",region="local",roles="api"}`), 1)
      assert.isAbove(first("process_cpu_seconds_total"), 0)
      assert.isAbove(first("process_resident_memory_bytes"), 10_000_000)
      // The clock of the process and this one may differ by the rounding of either.
      assert.isAtLeast(first("process_start_time_seconds"), begun - 1)
      assert.isAtMost(first("process_start_time_seconds"), Date.now() / 1_000 + 1)
      for (const quantile of ["0.5", "0.99", "1"])
        assert.isAtLeast(first(`narthex_event_loop_delay_seconds{quantile="${quantile}"}`), 0)
      assert.strictEqual(first("narthex_store_connections"), 20)
      yield* eventually(
        "no statement to wait for a connection",
        Effect.map(scrape, (now) => now("narthex_store_connections_waiting") === 0)
      )
      assert.isAtMost((yield* scrape)("process_start_time_seconds"), first("process_start_time_seconds"))
      assert.isAbove((yield* scrape)("process_cpu_seconds_total"), first("process_cpu_seconds_total"))

      // More statements than connections, all behind a lock.
      const { admin } = yield* PostgresServer
      yield* admin("alter table region rename to region_away", database)
      yield* admin("create view narthex.region as select * from region_away where pg_sleep(600) is not null", database)
      const calls = yield* Effect.forEach(
        Array.from({ length: 25 }),
        () => Effect.forkScoped(ask(program.address("admin"), "GET", "/ready")),
        { discard: false }
      )
      assert.lengthOf(calls, 25)
      yield* eventually(
        "statements to wait for a connection",
        Effect.map(
          scrape,
          (now) => now("narthex_store_connections_idle") === 0 && now("narthex_store_connections_waiting") > 0
        )
      )
    }).pipe(Effect.scoped)
  )
})
