/**
 * Decision 10: the driver survives the loss of any backend. The process never dies, no statement is dropped
 * silently, LISTEN comes back.
 *
 * Twenty seconds by default, an hour with `NARTHEX_TEST_LONG=1` (`NARTHEX_TEST_SURVIVAL_SECONDS` says otherwise).
 * `NARTHEX_TEST_DRIVER=postgresJs` puts the other driver under the same load, see docs/adr/0001-postgres-driver.md.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { PostgresServer } from "../support/PostgresServer.ts"

const subject = process.env["NARTHEX_TEST_DRIVER"] ?? "database"
const seconds = Number(
  process.env["NARTHEX_TEST_SURVIVAL_SECONDS"] ?? (process.env["NARTHEX_TEST_LONG"] === "1" ? 3600 : 20)
)

const Counts = Schema.Struct({
  issued: Schema.Int,
  resolved: Schema.Int,
  rejected: Schema.Int,
  pending: Schema.Int,
  slowest_ms: Schema.Int,
  reasons: Schema.Record(Schema.String, Schema.Int)
})
const decodeCounts = Schema.decodeUnknownSync(Schema.fromJsonString(Counts))

/** The load in a process of its own, and what it has said. */
class Load {
  readonly child: ChildProcess
  counts: typeof Counts.Type | undefined
  heard: string | undefined
  exit: { readonly code: number | null; readonly said: string } | undefined
  private complaint = ""

  constructor(url: string) {
    const script = `${import.meta.dirname}/load.ts`
    this.child = spawn(process.execPath, ["--conditions=source", script, `./${subject}.ts`, url])
    this.child.stderr?.on("data", (chunk) => {
      this.complaint = `${this.complaint}${chunk}`.slice(-2000)
    })
    this.child.on("close", (code) => {
      this.exit = { code, said: this.complaint }
    })
    if (this.child.stdout === null) throw new Error("The load has no stdout.")
    createInterface({ input: this.child.stdout }).on("line", (line) => {
      const [word, ...rest] = line.split(" ")
      if (word === "heard") this.heard = rest.join(" ")
      if (word === "counts") this.counts = decodeCounts(rest.join(" "))
    })
  }

  say(command: string): void {
    if (this.exit === undefined) this.child.stdin?.write(`${command}\n`)
  }

  /** Waits for what the load shall show; gives up when it died or the time is over. */
  until(shown: () => boolean, poke: Effect.Effect<unknown>): Effect.Effect<boolean> {
    const open = () => !shown() && this.exit === undefined
    return Effect.whileLoop({
      while: open,
      body: () => Effect.andThen(poke, Effect.sleep("50 millis")),
      step: () => {}
    }).pipe(Effect.timeoutOption("30 seconds"), Effect.map(shown))
  }
}

layer(PostgresServer.layer, { excludeTestServices: true })("the driver", (it) => {
  it.effect(
    "survives the loss of its backends and of the server",
    () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const url = yield* server.database
        const inDatabase = (text: string) => server.admin(text, url)
        yield* inDatabase("create table load (id bigint generated always as identity primary key)")
        const load = yield* Effect.acquireRelease(
          Effect.sync(() => new Load(Redacted.value(url))),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const hears = (payload: string) =>
          load.until(() => load.heard === payload, inDatabase(`select pg_notify('load', '${payload}')`))

        assert.isTrue(yield* hears("start"), load.exit?.said)

        let killed = 0
        let crashes = 0
        let relistened = 0
        const started = performance.now()
        let crashAt = 3_000
        while (performance.now() - started < seconds * 1000 && load.exit === undefined) {
          const gone = yield* server.admin(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'narthex-load'"
          )
          killed += gone.length
          yield* Effect.sleep("40 millis")
          if (performance.now() - started > crashAt) {
            crashAt += 5_000
            if (server.control !== undefined) {
              yield* server.control.crash
              crashes++
            }
            if (yield* hears(`after ${crashAt}`)) relistened++
          }
        }
        const lived = Math.round(performance.now() - started)

        const hearsAgain = yield* hears("end")
        load.say("finish")
        yield* load.until(() => load.exit !== undefined, Effect.void)
        console.log(
          JSON.stringify({ subject, lived_ms: lived, killed, crashes, relistened, ...load.counts, exit: load.exit })
        )

        assert.deepStrictEqual(load.exit, { code: 0, said: "" }, "the process lived until it was told to end")
        assert.isTrue(hearsAgain, "LISTEN came back")
        assert.strictEqual(load.counts?.pending, 0, "no statement was dropped silently")
        assert.isAbove(load.counts?.resolved ?? 0, 100, "there was load")
        assert.isAbove(load.counts?.rejected ?? 0, 0, "losses were reported")
        assert.isAbove(killed, 50, "backends were lost")
      }),
    (seconds + 120) * 1000
  )
})
