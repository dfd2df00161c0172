/** Holds docs/design/proxy.md P35. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Duration, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { Cluster } from "../support/Cluster.ts"
import { open, sqlClient, sqlstate, startup, untilClosed } from "../support/clients.ts"
import { harness } from "../support/harness.ts"
import { endpoint_id, type Startable } from "../support/MemoryControlPlane.ts"

const named = (user: string) =>
  startup(["user", user], ["database", "postgres"], ["options", `endpoint=${endpoint_id}`])

/** Sockets that ask for a session and never answer the request for a password. */
const flood = (port: number, count: number, from: string) =>
  Effect.acquireRelease(
    Effect.sync(() =>
      Array.from({ length: count }, (_, n) => {
        const socket = open(port, from)
        socket.once("connect", () => socket.write(named(`stranger-${n}`)))
        socket.resume()
        return socket
      })
    ),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      })
  )

const query = (port: number) =>
  Effect.promise(async () => {
    const sql = sqlClient(port)
    const rows = await sql`select 1 as one`.finally(() => sql.end())
    return rows[0]?.["one"]
  })

describe("clients that do not authenticate", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("110 sockets of a stranger do not keep the owner out, from another address or from theirs", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(cluster)
      yield* flood(port, 110, "127.0.0.2")
      yield* eventually(
        "the places of the stranger's address to be taken",
        Effect.map(proxy.connections, (count) => count === 5)
      )
      assert.strictEqual(yield* query(port), 1)
      yield* flood(port, 110, "127.0.0.1")
      assert.strictEqual(yield* query(port), 1)
      const endpoints = control.reports.flatMap((report) => report.endpoints)
      assert.isTrue(endpoints.every(({ connections }) => connections <= 1))
    })
  )

  it.live("a stranger who logs in again and again reaches the compute at a rate, and the owner gets in meanwhile", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      const [begun, lanes, most] = [performance.now(), 40, 40]
      const seconds = () => (performance.now() - begun) / 1_000
      let [asked, over] = [0, false]
      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          over = true
        })
      )
      for (let lane = 0; lane < lanes; lane++) {
        const again = () => {
          if (over) return
          const socket = open(port, `127.0.5.${1 + lane}`)
          socket.once("connect", () => socket.write(named(`stranger-${lane}`)))
          socket.once("data", () => {
            asked++
            socket.destroy()
          })
          socket.once("close", again)
        }
        again()
      }
      yield* eventually(
        "the stranger to be asked for passwords",
        Effect.sync(() => asked >= most)
      )
      // Twenty at once, and ten a second.
      assert.isAtLeast(seconds(), (most - 20) / 10 - 0.1)
      // As an unknown user, and as a known one.
      assert.strictEqual(yield* query(port), 1)
      assert.strictEqual(yield* query(port), 1)
    })
  )

  it.live("an owner whose role is not known yet gets in from the address of a stranger", () =>
    Effect.gen(function* () {
      // The owner has as long to authenticate, because strangers wait for its place.
      const limits = { authentication_timeout: "60 seconds", crowded_timeout: Duration.seconds(10) } as const
      const { port, proxy } = yield* harness(cluster, { limits })
      yield* flood(port, 110, "127.0.0.1")
      yield* eventually(
        "the places of the address to be taken",
        Effect.map(proxy.connections, (count) => count === 5)
      )
      assert.strictEqual(yield* query(port), 1)
    })
  )

  it.live("a client that does not authenticate in time is cut, and is not reported as use", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { limits: { authentication_timeout: "1 second" } })
      const socket = open(port)
      socket.write(named("stranger"))
      const answer = yield* Effect.promise(() => untilClosed(socket))
      assert.include(answer.toString("latin1"), "C08006")
      assert.deepStrictEqual(control.reports, [])
    })
  )

  it.live(
    "a network that does not authenticate wakes an endpoint three times, and a client with a password again",
    () =>
      Effect.gen(function* () {
        // The compute of this control plane is down whenever the endpoint is resolved.
        const sleeping: Startable = {
          running: false,
          address: cluster.address,
          generation: cluster.generation,
          start: () => Promise.resolve(cluster.address)
        }
        const { control, port } = yield* harness(sleeping, { limits: { authentication_timeout: "1 second" } })
        const attempt = Effect.promise(() => {
          const socket = open(port)
          socket.write(named("stranger"))
          return untilClosed(socket)
        })
        for (let wakes = 1; wakes <= 3; wakes++) assert.include((yield* attempt).toString("latin1"), "C08006")
        assert.lengthOf(control.wakes, 3)
        assert.include((yield* attempt).toString("latin1"), "C53300")
        assert.strictEqual(yield* sqlstate(port), "53300")
        assert.lengthOf(control.wakes, 3)
      })
  )
})
