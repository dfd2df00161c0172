/** The Postgres proxy with worker processes, between a real driver and a real Postgres: docs/design/proxy.md P47 to P50. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isRunning } from "../../packages/local-postgres/src/machine/Processes.ts"
import { eventually, within } from "../harness/eventually.ts"
import { ask } from "./support/ask.ts"
import { Program, type ProgramName, run } from "./support/Program.ts"
import { knock, type Sleeper, StaticPlatform, sleeper } from "./support/StaticPlatform.ts"
import { childrenOf, servedBy } from "./support/sockets.ts"

const most = 4

/** A process with a proxy of two workers. */
const withWorkers = Effect.fnUntraced(function* (name: ProgramName = "proxy", settings = {}) {
  const platform = yield* StaticPlatform
  const program = yield* Program.start(name, [], {
    ...platform.settings,
    NARTHEX_PROXY_WORKERS: "2",
    NARTHEX_PROXY_ENDPOINT_CONNECTIONS: String(most),
    NARTHEX_ALLOWLIST_REFRESH: "1 second",
    ...settings
  })
  const proxy = program.address("proxy")
  const port = Number(proxy.split(":").at(-1))
  const pid = Number(program.ready["pid"])
  /** Each worker with the number of its clients. */
  const workers = () => childrenOf(pid).map((worker) => ({ worker, clients: servedBy(worker, port) }))
  const url = platform.through(proxy)
  const open = (count: number) => Effect.forEach(Array.from({ length: count }), () => sleeper(url))
  const admin = program.address("admin")
  const ready = Effect.map(ask(admin, "GET", "/ready"), ({ status }) => status === 200)
  const metric = (name: string) =>
    Effect.promise(async () => {
      const text = await fetch(`${admin}/metrics`).then((response) => response.text())
      return Number(
        text
          .split("\n")
          .find((line) => line.startsWith(`${name} `))
          ?.split(" ")[1] ?? 0
      )
    })
  return { enters: knock(url), metric, open, program, ready, workers }
})

const outcomes = (sessions: ReadonlyArray<Sleeper>) =>
  Effect.promise(() => within("the sessions to end", Promise.all(sessions.map(({ ended }) => ended))))

/** Waits until so many clients are served in all. */
const untilServed = (workers: () => ReadonlyArray<{ readonly clients: number }>, count: number) =>
  eventually(
    `${count} connections of clients`,
    Effect.sync(() => workers().reduce((sum, { clients }) => sum + clients, 0) === count)
  )

const gone = (pids: ReadonlyArray<number>) =>
  eventually(
    "the processes to be gone",
    Effect.sync(() => !pids.some(isRunning))
  )

describe("the Postgres proxy with workers", { tags: ["psql"] }, () => {
  layer(StaticPlatform.layer, { excludeTestServices: true })("two workers", (it) => {
    it.effect("sessions are shared evenly, and the limit of an endpoint is one number of both workers", () =>
      Effect.gen(function* () {
        const { enters, metric, open, workers } = yield* withWorkers()
        const sessions = yield* open(most)
        assert.deepStrictEqual(
          workers().map(({ clients }) => clients),
          [2, 2]
        )
        assert.strictEqual(yield* enters, "53300")
        assert.strictEqual(yield* metric("narthex_proxy_connections"), most)
        assert.strictEqual(yield* metric('narthex_proxy_events_total{event="accepted"}'), most + 1)
        assert.strictEqual(yield* metric('narthex_proxy_events_total{event="too_many_connections"}'), 1)
        sessions[0]?.cancel()
        yield* untilServed(workers, most - 1)
        assert.strictEqual(yield* enters, "in")
        yield* untilServed(workers, most - 1)
        yield* open(1)
        assert.strictEqual(yield* enters, "53300")
      })
    )

    it.effect("a cancel request that reaches another worker than its session cancels the statement", () =>
      Effect.gen(function* () {
        const { open, workers } = yield* withWorkers()
        const sessions = yield* open(3)
        const clients = workers().map((it) => it.clients)
        assert.sameMembers(clients, [1, 2])
        // The first request goes to the worker with one session, and the first session is at the other one.
        for (const { cancel, ended } of sessions) {
          cancel()
          assert.strictEqual(yield* Effect.promise(() => within("the statement to end", ended)), "57014")
        }
      })
    )

    it.effect("a change of the allowlist cuts the sessions of both workers, and so does a disabled endpoint", () =>
      Effect.gen(function* () {
        const { call, endpoint, project } = yield* StaticPlatform
        const { enters, open, workers } = yield* withWorkers()
        const bothServe = () =>
          assert.deepStrictEqual(
            workers().map((it) => it.clients),
            [2, 2]
          )
        const listed = yield* open(most)
        bothServe()
        yield* call("POST", `/v1/projects/${project}/ip-allow`, { cidr: "203.0.113.0/24" })
        assert.deepStrictEqual(
          yield* outcomes(listed),
          listed.map(() => "57P01")
        )
        yield* call("DELETE", `/v1/projects/${project}/ip-allow`)
        yield* untilServed(workers, 0)
        yield* eventually(
          "the project to be open again",
          Effect.map(enters, (it) => it === "in")
        )
        yield* untilServed(workers, 0)
        const enabled = yield* open(most)
        bothServe()
        yield* call("PATCH", `/v1/projects/${project}/endpoints/${endpoint}`, { disabled: true })
        assert.deepStrictEqual(
          yield* outcomes(enabled),
          enabled.map(() => "57P01")
        )
        yield* call("PATCH", `/v1/projects/${project}/endpoints/${endpoint}`, { disabled: false })
      })
    )

    it.effect("a killed worker ends its own sessions alone, gives their places back, and is replaced", () =>
      Effect.gen(function* () {
        const { enters, open, ready, workers } = yield* withWorkers()
        const sessions = yield* open(most)
        const [killed, other] = workers()
        if (killed === undefined || other === undefined) return assert.fail("there are not two workers")
        process.kill(killed.worker, "SIGKILL")
        const ended: Array<string | undefined> = []
        for (const session of sessions) session.ended.then((code) => ended.push(code))
        yield* eventually(
          "the sessions of the killed worker to end",
          Effect.sync(() => ended.length === killed.clients)
        )
        yield* eventually("another worker to serve", ready)
        const now = workers().map(({ worker }) => worker)
        assert.lengthOf(now, 2)
        assert.include(now, other.worker)
        assert.notInclude(now, killed.worker)
        yield* open(killed.clients)
        assert.deepStrictEqual(
          workers().map(({ clients }) => clients),
          [2, 2]
        )
        assert.strictEqual(yield* enters, "53300")
        assert.lengthOf(ended, killed.clients)
      })
    )

    it.effect("a killed parent leaves no worker", () =>
      Effect.gen(function* () {
        const { open, program, workers } = yield* withWorkers()
        const sessions = yield* open(2)
        const pids = workers().map(({ worker }) => worker)
        assert.lengthOf(pids, 2)
        program.kill()
        assert.deepStrictEqual(yield* outcomes(sessions), ["57P01", "57P01"])
        yield* gone(pids)
      })
    )

    it.effect("a proxy with workers that drains ends its sessions, and every process", () =>
      Effect.gen(function* () {
        const { open, program, workers } = yield* withWorkers()
        const sessions = yield* open(2)
        const pids = workers().map(({ worker }) => worker)
        assert.strictEqual(yield* Effect.promise(() => program.stop()), 0)
        assert.deepStrictEqual(yield* outcomes(sessions), ["57P01", "57P01"])
        yield* gone(pids)
      })
    )

    it.effect("the whole platform in one process has its proxy in workers too", () =>
      Effect.gen(function* () {
        // Empty: not set, so that the workers reach the API of their process.
        const own = { NARTHEX_API_URL: "", NARTHEX_API_INTERNAL_URL: "" }
        const { metric, open, ready, workers } = yield* withWorkers("platform", own)
        yield* open(2)
        assert.deepStrictEqual(
          workers().map(({ clients }) => clients),
          [1, 1]
        )
        assert.isTrue(yield* ready)
        assert.strictEqual(yield* metric("narthex_proxy_connections"), 2)
      })
    )

    it.effect("the program of a worker that is started by hand says who starts it", () =>
      Effect.gen(function* () {
        const { code, stderr } = yield* run("proxy-worker", [], {})
        assert.strictEqual(code, 1)
        assert.include(stderr, "NARTHEX_PROXY_WORKERS")
      })
    )
  })
})
