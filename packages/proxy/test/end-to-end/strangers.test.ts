/** Clients that prove nothing: docs/design/proxy.md P35. */
import { randomBytes } from "node:crypto"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { times } from "../../../../test/harness/long.ts"
import { note } from "../../../../test/harness/note.ts"
import { plain } from "../../src/scram/ScramServer.ts"
import { MessageWalker } from "../../src/wire/MessageWalker.ts"
import { authentication, readAuthentication, saslInitialResponse, saslResponse } from "../../src/wire/messages.ts"
import { Cluster } from "../support/Cluster.ts"
import { open, sqlClient, sqlstate, startup, untilClosed, usual } from "../support/clients.ts"
import { countedCompute, harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"
import { session } from "../support/session.ts"

const query = async (port: number) => {
  const sql = sqlClient(port)
  const rows = await sql`select 1 as one`.finally(() => sql.end())
  return rows[0]?.["one"]
}

/** A PROXY header of a client with this IPv4 address. */
const from = (...source: ReadonlyArray<number>) =>
  Buffer.from([...Buffer.from("\r\n\r\n\0\r\nQUIT\n"), 0x21, 0x11, 0, 12, ...source, 127, 0, 0, 1, 0, 1, 0, 2])

/** Sockets that say nothing more than this packet. */
const silent = (port: number, packets: ReadonlyArray<Buffer>, address = "127.0.0.1") =>
  Effect.acquireRelease(
    Effect.sync(() =>
      packets.map((packet) => {
        const socket = open(port, address)
        socket.once("connect", () => socket.write(packet))
        socket.resume()
        return socket
      })
    ),
    (sockets) =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
      })
  )

/** Goes through the exchange with a proof of random bytes, which costs the client nothing. Returns the SQLSTATE. */
const wrongProof = async (port: number) => {
  const socket = open(port)
  const first = `n=,r=${randomBytes(18).toString("base64")}`
  const heard = untilClosed(socket)
  const walker = new MessageWalker({
    wants: () => true,
    message: (_, body) => {
      const { code, text } = readAuthentication(body)
      if (code === authentication.sasl) socket.write(saslInitialResponse(plain, `n,,${first}`))
      else if (code === authentication.saslContinue)
        socket.write(saslResponse(`c=biws,${text.split(",")[0]},p=${randomBytes(32).toString("base64")}`))
    }
  })
  socket.on("data", (chunk: Buffer) => walker.walk(chunk)).once("connect", () => socket.write(usual))
  return /C([0-9A-Z]{5})\0/.exec((await heard).toString("latin1"))?.[1]
}

describe("clients that prove nothing", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("a thousand wrong passwords a second wake nothing, reach no compute, and keep no owner out", () =>
    Effect.gen(function* () {
      // Sixty addresses. At the attacked endpoint nothing runs; that of the owner is served by another proxy's control plane.
      const asleep = yield* countedCompute(cluster)
      const attacked = yield* harness(
        { ...asleep.compute, running: false },
        { limits: { failures: 1e6, failures_burst: 1e6 } }
      )
      const owner = yield* harness(cluster)
      const [wanted, lanes] = [times(2_000, 30_000), 60]
      let [tried, over] = [0, false]
      const codes = new Set<string | undefined>()
      const lane = async () => {
        while (tried < wanted && !over) {
          tried++
          codes.add(await wrongProof(attacked.port))
        }
      }
      const begun = performance.now()
      const flood = Promise.all(Array.from({ length: lanes }, lane))
      const waits: Array<number> = []
      yield* Effect.promise(async () => {
        for (let n = 0; n < 100; n++) {
          const at = performance.now()
          assert.strictEqual(await query(owner.port), 1)
          waits.push(performance.now() - at)
        }
        await flood
      }).pipe(
        Effect.ensuring(
          Effect.sync(() => {
            over = true
          })
        )
      )
      const rate = tried / ((performance.now() - begun) / 1_000)
      note(
        `${tried} wrong passwords, ${rate.toFixed(0)} a second; an owner connects in ${Math.max(...waits).toFixed(0)} ms at most.`
      )
      assert.deepStrictEqual([...codes], ["28P01"])
      assert.deepStrictEqual(attacked.control.wakes, [])
      assert.strictEqual(asleep.count, 0)
    })
  )

  it.live("silent connections of a dozen networks make room, and an owner gets in each time (S4)", () =>
    Effect.gen(function* () {
      const limits = { connections: 400, half_open_per_network: 1_000 }
      const { port } = yield* harness(cluster, { trusted: ["127.0.0.1/32"], limits })
      const header = (n: number) => from(198, 51, n % 12, n >> 8)
      yield* silent(
        port,
        Array.from({ length: 700 }, (_, n) => Buffer.concat([header(n), usual]))
      )
      for (let n = 0; n < 10; n++) {
        const served = yield* Effect.promise(() =>
          session(port, "select 1", (socket) => socket.write(Buffer.concat([from(203, 0, 113, 7), usual])))
        )
        served.socket.destroy()
      }
    })
  )

  it.live("invented endpoints and roles of a network cost few questions, and none of another network's (S5)", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { trusted: ["127.0.0.1/32"] })
      const invented = (n: number) =>
        startup(["user", "role_0123456789abcdef"], ["options", `endpoint=ep-invented-${n}`])
      const answers = Array.from({ length: 900 }, (_, n) => {
        const socket = open(port)
        socket.once("connect", () => socket.write(Buffer.concat([from(198, 51, 100, n & 255), invented(n)])))
        return untilClosed(socket)
      })
      const mine = yield* Effect.promise(() =>
        session(port, "select 1", (socket) => socket.write(Buffer.concat([from(203, 0, 113, 7), usual])))
      )
      mine.socket.destroy()
      const heard = yield* Effect.promise(() => Promise.all(answers))
      const texts = heard.map((answer) => answer.toString("latin1"))
      assert.isTrue(texts.every((text) => /C08004\0|C53300\0/.test(text)))
      assert.isTrue(texts.some((text) => text.includes("C53300\0MToo many endpoints and roles that do not exist")))
      const asked = control.resolves.filter((id) => id !== endpoint_id).length
      // A hundred at once, and twenty a second.
      assert.isBelow(asked, 900)
      assert.strictEqual(yield* sqlstateFrom(port, from(203, 0, 113, 8)), "none")
    })
  )

  it.live("a client without a proof holds nothing of the endpoint, and is ended after ten seconds at most", () =>
    Effect.gen(function* () {
      const { control, port, proxy } = yield* harness(cluster, { limits: { endpoint_connections: 1 } })
      yield* silent(
        port,
        Array.from({ length: 110 }, () => usual)
      )
      assert.strictEqual(yield* Effect.promise(() => query(port)), 1)
      yield* eventually(
        "the owner's session to end",
        Effect.map(proxy.connections, (count) => count === 0)
      )
      const endpoints = control.reports.flatMap((report) => report.endpoints)
      assert.isTrue(endpoints.every(({ connections }) => connections <= 1))
    })
  )

  it.live("failed logins of a network at an endpoint are bounded, and other networks log in", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster, { limits: { failures: 1, failures_burst: 3 } })
      for (let n = 0; n < 3; n++) assert.strictEqual(yield* sqlstate(port, { password: "wrong" }), "28P01")
      assert.strictEqual(yield* sqlstate(port), "53300")
    })
  )
})

/** The SQLSTATE of a login with this PROXY header. */
const sqlstateFrom = (port: number, header: Buffer) =>
  Effect.promise(() =>
    session(port, "select 1", (socket) => socket.write(Buffer.concat([header, usual]))).then(
      ({ socket }) => {
        socket.destroy()
        return "none"
      },
      ({ message }: Error) => /C([0-9A-Z]{5})\0/.exec(message)?.[1]
    )
  )
