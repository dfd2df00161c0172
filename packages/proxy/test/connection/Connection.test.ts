/** How a connection is opened, to a compute that only answers: what it costs, and what it gives back. */
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Logger } from "effect"
import { TestClock } from "effect/testing"
import { until } from "../../../../test/harness/eventually.ts"
import type { Claims } from "../../src/connection/Claims.ts"
import { makeProxy } from "../../src/makeProxy.ts"
import { limitsOf, type ProxyConfig } from "../../src/ProxyConfig.ts"
import { once, open, untilClosed, usual } from "../support/clients.ts"
import { MemoryControlPlane } from "../support/MemoryControlPlane.ts"

const key = Buffer.from([0, 0, 0, 1, 0, 0, 0, 2])
/** A request for a proof, AuthenticationOk, BackendKeyData, ReadyForQuery. */
const ready = Buffer.concat([
  Buffer.from("R\0\0\0\x08\0\0\0\x0aR\0\0\0\x08\0\0\0\0K\0\0\0\x0c", "latin1"),
  key,
  Buffer.from("Z\0\0\0\x05I", "latin1")
])

const listening = (server: Server) =>
  Effect.acquireRelease(
    Effect.callback<number>((resume) => {
      // An `AddressInfo` for a TCP server.
      server.listen(0, "127.0.0.1", () => resume(Effect.succeed((server.address() as AddressInfo).port)))
    }),
    () => Effect.sync(() => server.close())
  )

/** A proxy whose loops stand still, so that fibers are those of connections. */
const serving = Effect.fnUntraced(function* (limits: ProxyConfig["limits"] = {}) {
  const compute = createServer((socket) => {
    socket.on("error", () => {}).once("data", () => socket.write(ready))
  })
  const address = `127.0.0.1:${yield* listening(compute)}`
  const start = () => Promise.resolve(address)
  const control = yield* MemoryControlPlane.make({ generation: 1, running: true, address, start })
  const proxy = yield* makeProxy({ domain: "db.test" }, () => Effect.undefined).pipe(
    Effect.provide([control.layer, Logger.layer([])])
  )
  yield* TestClock.adjust("1 milli")
  const counted = limitsOf({ host: "", port: 0, domain: "", limits })
  /** What the next connection takes of the limits. */
  const next = { claims: (): Claims => counted.open() ?? assert.fail("no connection is left") }
  const server = createServer({ pauseOnConnect: true, allowHalfOpen: true }, (socket) =>
    proxy.serve(socket, next.claims())
  )
  const port = yield* listening(server)
  const asking = () => {
    const socket = open(port)
    socket.write(usual)
    return socket
  }
  const session = Effect.promise(async () => {
    const socket = asking()
    await once(socket)
    return socket
  })
  const refused = Effect.promise(async () => (await untilClosed(asking())).toString("latin1"))
  return { asking, control, counted, next, proxy, refused, session }
})

/** The number of the next fiber. */
const fibers = () => Effect.runFork(Effect.void).id

const timers = () => process.getActiveResourcesInfo().filter((it) => it === "Timeout").length

const ended = (sockets: ReadonlyArray<Socket>) => {
  for (const socket of sockets) socket.destroy()
}

describe("a connection", () => {
  it.effect("to a compute that runs starts one fiber, which asks where the endpoint is", () =>
    Effect.gen(function* () {
      const { session } = yield* serving()
      const sessions = [yield* session]
      const before = fibers()
      for (let n = 0; n < 10; n++) sessions.push(yield* session)
      assert.strictEqual(fibers() - before - 1, 10)
      ended(sessions)
    })
  )

  it.effect("that the allowlist refuses starts no other one, except for a line of the log each minute", () =>
    Effect.gen(function* () {
      const { control, refused } = yield* serving()
      control.rules = [{ cidr: "192.0.2.0/24", expires_at: null }]
      assert.match(yield* refused, /C28000/)
      const before = fibers()
      for (let n = 0; n < 10; n++) assert.match(yield* refused, /C28000/)
      assert.strictEqual(fibers() - before - 1, 10)
    })
  )

  it.effect("that is relayed and has authenticated keeps no timer", () =>
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

  it.effect("gives back at its end what it has of the limits, and its key cancels nothing from then on", () =>
    Effect.gen(function* () {
      const { counted, proxy, session } = yield* serving({ connections: 1 })
      const socket = yield* session
      assert.isUndefined(counted.open())
      assert.isDefined(proxy.cancelKeys.find(key))
      assert.strictEqual(yield* proxy.connections, 1)
      socket.destroy()
      yield* Effect.promise(() => until("the connection", () => counted.open() !== undefined))
      assert.isUndefined(proxy.cancelKeys.find(key))
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.effect("whose client leaves calls off what it waits for, and gives back what it has", () =>
    Effect.gen(function* () {
      const { asking, next } = yield* serving()
      let [entered, calledOff, closed] = [0, 0, 0]
      next.claims = () => ({
        handshake: (_, done) => {
          done(true)
          return () => {}
        },
        enter: () => {
          entered++
          return () => void calledOff++
        },
        mayWake: () => () => {},
        relayed: () => {},
        authenticated: () => {},
        close: () => void closed++
      })
      const socket = asking()
      yield* Effect.promise(() => until("the client to wait for its place", () => entered === 1))
      assert.deepStrictEqual([calledOff, closed], [0, 0])
      socket.destroy()
      yield* Effect.promise(() => until("the end of the connection", () => closed === 1))
      assert.strictEqual(calledOff, 1)
    })
  )

  it.effect("that meets a defect ends alone", () =>
    Effect.gen(function* () {
      const { asking, next, session } = yield* serving()
      const usualClaims = next.claims
      let closed = 0
      next.claims = () => ({
        ...failing,
        close: () => void closed++
      })
      assert.strictEqual((yield* Effect.promise(() => untilClosed(asking()))).length, 0)
      assert.strictEqual(closed, 1)
      next.claims = usualClaims
      ended([yield* session])
    })
  )
})

const failing: Claims = {
  handshake: () => {
    throw new Error("a defect")
  },
  enter: () => () => {},
  mayWake: () => () => {},
  relayed: () => {},
  authenticated: () => {},
  close: () => {}
}
