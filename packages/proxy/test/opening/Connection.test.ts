/** How a connection is opened, to a compute that only authenticates: what it costs, and what it gives back. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { until } from "../../../../test/harness/eventually.ts"
import { makeProxy } from "../../src/makeProxy.ts"
import type { ProxyConfig } from "../../src/ProxyConfig.ts"
import { once, open, takesConnection, untilClosed, usual } from "../support/clients.ts"
import { MemoryControlPlane } from "../support/MemoryControlPlane.ts"
import { type Faults, scramCompute } from "../support/scramCompute.ts"
import { session as begin } from "../support/session.ts"

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      // An `AddressInfo` for a TCP server.
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () => Effect.sync(() => server.close())
  )

/** A proxy whose loops stand still, so that fibers are those of connections. */
const serving = Effect.fnUntraced(function* (limits: ProxyConfig["limits"] = {}, faults: Faults = {}) {
  const address = yield* scramCompute(faults)
  const start = () => Promise.resolve(address)
  const control = yield* MemoryControlPlane.make({ generation: 1, running: true, address, start })
  const proxy = yield* makeProxy({ domain: "db.test", limits }).pipe(Effect.provide([control.layer, Logger.layer([])]))
  yield* TestClock.adjust("1 milli")
  const port = yield* listening(createServer({ pauseOnConnect: true, allowHalfOpen: true }, proxy.serve))
  const asking = () => {
    const socket = open(port)
    socket.write(usual)
    return socket
  }
  const session = Effect.promise(async () => (await begin(port, "select 1")).socket)
  const refused = Effect.promise(async () => (await untilClosed(asking())).toString("latin1"))
  return { asking, control, port, proxy, refused, session }
})

/** The number of the next fiber. */
const fibers = () => Effect.runFork(Effect.void).id

const timers = () => process.getActiveResourcesInfo().filter((it) => it === "Timeout").length

const ended = (sockets: ReadonlyArray<Socket>) => {
  for (const socket of sockets) socket.destroy()
}

describe("connections", () => {
  it.effect("a connection to a compute that runs starts one fiber, which asks where the endpoint is", () =>
    Effect.gen(function* () {
      const { session } = yield* serving()
      const sessions = [yield* session]
      const before = fibers()
      for (let n = 0; n < 10; n++) sessions.push(yield* session)
      // A connection whose endpoint was asked for within the last second starts no fiber.
      assert.isAtMost(fibers() - before - 1, 10)
      ended(sessions)
    })
  )

  it.effect("a connection that the allowlist refuses starts no fiber, except for one log line each minute", () =>
    Effect.gen(function* () {
      const { control, refused, session } = yield* serving()
      ended([yield* session])
      control.rules = [{ cidr: "192.0.2.0/24", expires_at: null }]
      control.version++
      yield* control.replace(control.rules)
      yield* TestClock.adjust("1 milli")
      assert.match(yield* refused, /C28000/)
      const before = fibers()
      for (let n = 0; n < 10; n++) assert.match(yield* refused, /C28000/)
      assert.strictEqual(fibers() - before - 1, 0)
    })
  )

  it.effect("a connection with a wrong password asks the control plane nothing that it has answered", () =>
    Effect.gen(function* () {
      const { control, port, session } = yield* serving()
      ended([yield* session])
      const before = control.resolves.length
      for (let n = 0; n < 10; n++) {
        const refused = yield* Effect.promise(() =>
          begin(port, "select 1", undefined, "wrong").then(
            () => "served",
            (error: Error) => error.message
          )
        )
        assert.match(refused, /C28P01/)
      }
      assert.strictEqual(control.resolves.length, before)
    })
  )

  it.effect("a relayed connection keeps no timer", () =>
    Effect.gen(function* () {
      const { session } = yield* serving()
      const sessions = [yield* session]
      const before = timers()
      for (let n = 0; n < 10; n++) sessions.push(yield* session)
      // Fewer than one for each session: the test has timers of its own.
      assert.isBelow(timers() - before, 10)
      ended(sessions)
    })
  )

  it.effect("a connection that ends gives back its places", () =>
    Effect.gen(function* () {
      const { port, proxy, session } = yield* serving({ connections: 1 })
      const socket = yield* session
      assert.isFalse(yield* Effect.promise(() => takesConnection(port)))
      assert.strictEqual(yield* proxy.connections, 1)
      socket.destroy()
      yield* Effect.promise(() => until("the place of the connection", () => takesConnection(port)))
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.effect("a client that leaves when it is asked for a proof frees its place and counts as no failed proof", () =>
    Effect.gen(function* () {
      const { asking, port, session } = yield* serving({ half_open: 1, failures: 1, failures_burst: 1 })
      for (let n = 0; n < 3; n++) {
        const socket = asking()
        assert.strictEqual((yield* Effect.promise(() => once(socket)))[0], "R".charCodeAt(0))
        socket.destroy()
        yield* Effect.promise(() => until("the place of the client", () => takesConnection(port)))
      }
      yield* Effect.promise(() => until("a session", () => takesConnection(port)))
      ended([yield* session])
    })
  )

  it.effect("a defect ends only its own connection", () =>
    Effect.gen(function* () {
      const { control, refused, session } = yield* serving()
      control.answering = Effect.die(new Error("a defect"))
      assert.strictEqual(yield* refused, "")
      control.answering = Effect.void
      ended([yield* session])
    })
  )

  it.effect.each([
    ["trusts", "C28000"],
    ["foreign", "C08006"],
    ["silent", "C28000"]
  ] as const)("a connection to a server that is %s ends with %s before it begins", ([fault, code]) =>
    Effect.gen(function* () {
      const { port, proxy } = yield* serving({}, { [fault]: true })
      const refused = yield* Effect.promise(() =>
        begin(port, "select 1").then(
          () => "served",
          (error: Error) => error.message
        )
      )
      assert.include(refused, code)
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )
})
