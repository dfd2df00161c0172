/**
 * The driver survives the loss of any backend (docs/adr/0001-postgres-driver.md): the process never dies, every
 * statement settles, LISTEN comes back.
 *
 * The load continues between two losses, so that each loss hits statements in flight. The long form takes about an
 * hour. `NARTHEX_TEST_DRIVER=postgresJs` puts the other driver under the same load.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { createInterface } from "node:readline"
import { assert, layer } from "@effect/vitest"
import { Effect, Redacted, Schema } from "effect"
import { until, type Waiting } from "../../../../test/harness/eventually.ts"
import { long, times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { PostgresControl, PostgresServer } from "../support/PostgresServer.ts"

const subject = process.env["NARTHEX_TEST_DRIVER"] ?? "database"

/** How often all backends are terminated, and how often the server crashes in between. */
const losses = times(20, 60_000)
const crashes = times(2, 700)

const Counts = Schema.Struct({
  /** The number that they were asked for with. */
  asked: Schema.Int,
  issued: Schema.Int,
  resolved: Schema.Int,
  rejected: Schema.Int,
  pending: Schema.Int,
  slowest_ms: Schema.Int,
  reasons: Schema.Record(Schema.String, Schema.Int)
})
const decodeCounts = Schema.decodeUnknownSync(Schema.fromJsonString(Counts))

/** The process of the load, and its output so far. */
class Load {
  readonly child: ChildProcess
  counts: typeof Counts.Type | undefined
  heard: string | undefined
  exit: { readonly code: number | null; readonly said: string } | undefined
  private complaint = ""
  private asked = 0

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

  /** Asks for something until it shows; gives up when the process has died or the time is over. */
  until(what: string, poke: Effect.Effect<unknown>, shown: () => boolean, waiting?: Waiting): Effect.Effect<void> {
    const look = async () => {
      if (this.exit !== undefined)
        throw new Error(`The load ended with ${this.exit.code} before ${what}: ${this.exit.said}`)
      await Effect.runPromise(poke)
      return shown()
    }
    return Effect.promise(() => until(what, look, { every: 20, ...waiting }))
  }

  /** Waits until the load shows this in counts that it was asked for from now on. */
  counted(what: string, shown: (counts: typeof Counts.Type) => boolean): Effect.Effect<typeof Counts.Type> {
    const first = this.asked + 1
    return this.until(
      what,
      Effect.sync(() => this.say(`count ${++this.asked}`)),
      () => this.counts !== undefined && this.counts.asked >= first && shown(this.counts)
    ).pipe(Effect.map(() => this.counts ?? assert.fail("no counts")))
  }
}

layer(PostgresServer.layerOwn, { excludeTestServices: true })("the driver", (it) => {
  it.effect(
    "the driver survives the loss of its backends and of the server",
    () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const { crash } = yield* PostgresControl
        const url = yield* server.database
        const inDatabase = (text: string) => server.admin(text, url)
        yield* inDatabase("create table load (id bigint generated always as identity primary key)")
        const load = yield* Effect.acquireRelease(
          Effect.sync(() => new Load(Redacted.value(url))),
          ({ child }) => Effect.sync(() => child.kill("SIGKILL"))
        )
        const hears = (payload: string) =>
          load.until(
            `the load to hear "${payload}"`,
            inDatabase(`select pg_notify('load', '${payload}')`),
            () => load.heard === payload
          )
        /** Statements succeed from now on: what is lost next has backends. */
        const works = Effect.gen(function* () {
          const { resolved: before } = yield* load.counted("the load to answer", () => true)
          yield* load.counted("the load to resolve more statements", ({ resolved }) => resolved >= before + 10)
        })
        const lose = server.admin(
          "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'narthex-load'"
        )

        yield* hears("start")
        const begun = performance.now()
        let killed = 0
        let crashed = 0
        for (let loss = 1; loss <= losses; loss++) {
          yield* works
          killed += (yield* lose).length
          if (loss % Math.floor(losses / crashes) !== 0 || crashed === crashes) continue
          yield* works
          yield* crash
          crashed += 1
          yield* hears(`after crash ${crashed}`)
        }
        yield* works
        yield* load.until(
          "a lost statement to fail",
          Effect.andThen(
            lose,
            load.counted("the load to answer", () => true)
          ),
          () => (load.counts?.rejected ?? 0) > 0
        )
        yield* hears("end")
        load.say("finish")
        yield* Effect.promise(() => until("the load to end", () => load.exit !== undefined))
        const took = Math.round((performance.now() - begun) / 1_000)
        note(
          `the driver under losses: ${subject}, ${killed} backends lost, ${crashed} crashes in ${took} s, ` +
            `${load.counts?.resolved} statements resolved, ${load.counts?.rejected} rejected, ` +
            `the slowest took ${load.counts?.slowest_ms} ms`
        )

        assert.deepStrictEqual(load.exit, { code: 0, said: "" }, "the process lived until it was told to end")
        assert.strictEqual(load.counts?.pending, 0, "no statement was dropped silently")
        assert.isAtLeast(load.counts?.resolved ?? 0, 10 * losses, "there was load")
        assert.isAtLeast(killed, losses, "backends were lost")
        assert.strictEqual(crashed, crashes, "the server crashed")
      }),
    long ? 7_200_000 : 120_000
  )
})
