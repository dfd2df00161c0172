/** Several processes of the Postgres proxy on one port, between a real driver and a real Postgres: docs/design/proxy.md P47 to P50. */
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { isRunning } from "../../packages/local-postgres/src/machine/Processes.ts"
import { eventually, within } from "../harness/eventually.ts"
import { ask } from "./support/ask.ts"
import { Program, type ProgramName } from "./support/Program.ts"
import { knock, type Sleeper, StaticPlatform, sleeper } from "./support/StaticPlatform.ts"
import { childrenOf, servedBy } from "./support/sockets.ts"

/** A process that has started two of `narthex-proxy`. */
const several = Effect.fnUntraced(function* (name: ProgramName = "proxy", settings = {}) {
  const platform = yield* StaticPlatform
  const program = yield* Program.start(name, [], {
    ...platform.settings,
    NARTHEX_PROXY_PROCESSES: "2",
    NARTHEX_ALLOWLIST_REFRESH: "1 second",
    ...settings
  })
  const proxy = program.address("proxy")
  const port = Number(proxy.split(":").at(-1))
  const pid = Number(program.ready["pid"])
  /** Each process with the number of its clients. */
  const proxies = () =>
    childrenOf(pid)
      .filter(isRunning)
      .map((it) => ({ pid: it, clients: servedBy(it, port) }))
  const url = platform.through(proxy)
  const open = (count: number) => Effect.forEach(Array.from({ length: count }), () => sleeper(url))
  /** Opens sessions until each process has one: the kernel chooses for each connection. */
  const openAtBoth = Effect.gen(function* () {
    const sessions: Array<Sleeper> = []
    while (proxies().some(({ clients }) => clients === 0)) sessions.push(...(yield* open(1)))
    return sessions
  })
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
  return { enters: knock(url), metric, open, openAtBoth, program, proxies, ready }
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

describe("several processes of the Postgres proxy", { tags: ["psql"] }, () => {
  layer(StaticPlatform.layer, { excludeTestServices: true })("two processes", (it) => {
    it.effect("two processes serve connections to one port, and their metrics are sums", () =>
      Effect.gen(function* () {
        const { metric, openAtBoth, proxies } = yield* several()
        const sessions = yield* openAtBoth
        assert.lengthOf(proxies(), 2)
        assert.strictEqual(yield* metric("narthex_proxy_connections"), sessions.length)
        assert.strictEqual(yield* metric('narthex_proxy_events_total{event="accepted"}'), sessions.length)
      })
    )

    it.effect("a cancel request that reaches another process than its session cancels the statement", () =>
      Effect.gen(function* () {
        const { metric, openAtBoth } = yield* several()
        const handedOver = metric('narthex_proxy_events_total{event="cancel_handed_over"}')
        // The kernel chooses the process of each request, so that it is the other one sooner or later.
        while ((yield* handedOver) === 0)
          for (const { cancel, ended } of yield* openAtBoth) {
            cancel()
            assert.strictEqual(yield* Effect.promise(() => within("the statement to end", ended)), "57014")
          }
      })
    )

    it.effect("a change of the allowlist cuts the sessions of both, and so does a disabled endpoint", () =>
      Effect.gen(function* () {
        const { call, endpoint, project } = yield* StaticPlatform
        const { enters, openAtBoth, proxies } = yield* several()
        const listed = yield* openAtBoth
        yield* call("POST", `/v1/projects/${project}/ip-allow`, { cidr: "203.0.113.0/24" })
        assert.deepStrictEqual(
          yield* outcomes(listed),
          listed.map(() => "57P01")
        )
        yield* call("DELETE", `/v1/projects/${project}/ip-allow`)
        yield* untilServed(proxies, 0)
        yield* eventually(
          "the project to be open again",
          Effect.map(enters, (it) => it === "in")
        )
        yield* untilServed(proxies, 0)
        const enabled = yield* openAtBoth
        yield* call("PATCH", `/v1/projects/${project}/endpoints/${endpoint}`, { disabled: true })
        assert.deepStrictEqual(
          yield* outcomes(enabled),
          enabled.map(() => "57P01")
        )
        yield* call("PATCH", `/v1/projects/${project}/endpoints/${endpoint}`, { disabled: false })
        yield* call("POST", `/v1/projects/${project}/endpoints/${endpoint}/start`)
        yield* eventually(
          "the endpoint to serve again",
          Effect.map(enters, (it) => it === "in")
        )
      })
    )

    it.effect("a killed process ends its own sessions alone, and is replaced", () =>
      Effect.gen(function* () {
        const { metric, openAtBoth, proxies, ready } = yield* several()
        const sessions = yield* openAtBoth
        assert.strictEqual(yield* metric('narthex_proxy_events_total{event="accepted"}'), sessions.length)
        const [killed, other] = proxies()
        if (killed === undefined || other === undefined) return assert.fail("there are not two processes")
        process.kill(killed.pid, "SIGKILL")
        const ended: Array<string | undefined> = []
        for (const session of sessions) session.ended.then((code) => ended.push(code))
        yield* eventually(
          "the sessions of the killed process to end",
          Effect.sync(() => ended.length === killed.clients)
        )
        yield* eventually(
          "another process to be there",
          Effect.sync(() => proxies().length === 2 && proxies().every(({ pid }) => pid !== killed.pid))
        )
        yield* eventually("both to serve", ready)
        assert.include(
          proxies().map(({ pid }) => pid),
          other.pid
        )
        assert.lengthOf(ended, killed.clients)
        assert.strictEqual(
          yield* metric('narthex_proxy_events_total{event="accepted"}'),
          sessions.length,
          "what the killed process has counted stays counted"
        )
        assert.isNotEmpty(yield* openAtBoth)
      })
    )

    it.effect("a killed parent leaves no process", () =>
      Effect.gen(function* () {
        const { openAtBoth, program, proxies } = yield* several()
        const sessions = yield* openAtBoth
        const pids = proxies().map(({ pid }) => pid)
        assert.lengthOf(pids, 2)
        program.kill()
        assert.deepStrictEqual(
          yield* outcomes(sessions),
          sessions.map(() => "57P01")
        )
        yield* gone(pids)
      })
    )

    it.effect("a proxy that drains ends its sessions, and every process", () =>
      Effect.gen(function* () {
        const { openAtBoth, program, proxies } = yield* several()
        const sessions = yield* openAtBoth
        const pids = proxies().map(({ pid }) => pid)
        assert.strictEqual(yield* Effect.promise(() => program.stop()), 0)
        assert.deepStrictEqual(
          yield* outcomes(sessions),
          sessions.map(() => "57P01")
        )
        yield* gone(pids)
      })
    )

    it.effect("the whole platform in one process has its proxy in further processes too", () =>
      Effect.gen(function* () {
        // Empty: not set, so that the proxies reach the API of their parent.
        const own = { NARTHEX_API_URL: "", NARTHEX_API_INTERNAL_URL: "" }
        const { metric, openAtBoth, ready } = yield* several("platform", own)
        const sessions = yield* openAtBoth
        assert.isTrue(yield* ready)
        assert.strictEqual(yield* metric("narthex_proxy_connections"), sessions.length)
      })
    )
  })
})
