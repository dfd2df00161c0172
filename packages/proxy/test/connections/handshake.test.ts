import { randomBytes } from "node:crypto"
import { setImmediate as nextTurn } from "node:timers/promises"
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Clock, Effect, Schedule, Schema } from "effect"
import { TestClock } from "effect/testing"
import {
  conninfo,
  once,
  open,
  openTls,
  run,
  sqlstate,
  startup,
  untilClosed,
  usual,
  withoutPsql
} from "../support/clients.ts"
import { Cluster } from "../support/Cluster.ts"
import { certificate, harness, writeCertificate } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"
import { session } from "../support/session.ts"

const sslRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])
const gssRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 48])
/** An address where nothing serves: for tests that must not come so far. */
const nowhere = { generation: 0, running: false, address: "", start: () => Promise.reject(new Error("woken")) }

const answerTo = (port: number, bytes: Buffer, from?: string) =>
  Effect.promise(() => {
    const socket = open(port, from)
    socket.write(bytes)
    return untilClosed(socket)
  })

describe("a first packet", () => {
  it.live.prop(
    "that is garbage ends the connection without a byte",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 64 }))],
    ([size]) =>
      Effect.gen(function* () {
        const { port } = yield* harness(nowhere)
        const bytes = randomBytes(size)
        bytes[0] = (bytes[0] ?? 0) | 1
        assert.strictEqual((yield* answerTo(port, bytes)).length, 0)
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("that does not come within ten seconds ends the connection without a byte", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const before = yield* Clock.currentTimeMillis
      const passing = Effect.forever(
        Effect.andThen(
          TestClock.adjust("1 second"),
          Effect.promise(() => nextTurn())
        )
      )
      assert.strictEqual((yield* Effect.raceFirst(answerTo(port, usual.subarray(0, 20)), passing)).length, 0)
      assert.isAtLeast((yield* Clock.currentTimeMillis) - before, 10_000)
    })
  )

  it.live("that is HTTP, TLS without a certificate here, or of no possible length ends it without a byte", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const header = "\r\n\r\n\0\r\nQUIT\n"
      for (const bytes of [
        "GET / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02\0",
        "\0\0\0\x07\0\x03\0\0",
        "\0\0\x27\x11\0\x03\0\0",
        header
      ])
        assert.strictEqual((yield* answerTo(port, Buffer.from(bytes, "latin1"))).length, 0)
    })
  )

  it.live("may be one SSLRequest and one GSSENCRequest, each answered N without a certificate, and no second", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const words = yield* Effect.promise(async () => {
        const socket = open(port)
        const heard: Array<string> = []
        for (const request of [gssRequest, sslRequest]) {
          socket.write(request)
          heard.push((await once(socket)).toString())
        }
        socket.write(sslRequest)
        return [...heard, (await untilClosed(socket)).toString()]
      })
      assert.deepStrictEqual(words, ["N", "N", ""])
    })
  )

  it.live("with bytes behind an SSLRequest ends the connection: they would pass for encrypted", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { port } = yield* harness(nowhere, { tls })
      assert.strictEqual((yield* answerTo(port, Buffer.concat([sslRequest, usual]))).length, 0)
    })
  )

  it.live("of another protocol is 0A000, a malformed one 08P01", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const version2 = Buffer.from([0, 0, 0, 9, 0, 2, 0, 0, 0])
      assert.match((yield* answerTo(port, version2)).toString("latin1"), /^E....SFATAL\0VFATAL\0C0A000\0M.*\0H.*\0\0$/s)
      const twice = startup(["user", "a"], ["user", "b"])
      assert.match((yield* answerTo(port, twice)).toString("latin1"), /C08P01\0/)
    })
  )

  it.live(
    "that names no endpoint, an unknown one or two is 08004 with what to do, and echoes no control characters",
    () =>
      Effect.gen(function* () {
        const { port } = yield* harness(nowhere)
        const ask = (...parameters: ReadonlyArray<readonly [string, string]>) =>
          Effect.map(answerTo(port, startup(...parameters)), (bytes) => bytes.toString("utf8", 5))
        assert.match(
          yield* ask(["user", "app"]),
          /C08004\0MThe connection names no endpoint\.\0HUse the endpoint's host/
        )
        assert.match(yield* ask(["user", "app.ep-other"]), /C08004\0MThere is no endpoint "ep-other"/)
        const both = yield* ask(["user", `app.${endpoint_id}`], ["options", `endpoint=e\x07p-${"x".repeat(200)}`])
        assert.match(both, /C08004\0MThe connection names different endpoints: "ep-x{60}", "ep-01/)
      })
  )
})

describe.skipIf(withoutPsql)("a connection", () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("may bring its startup packet one byte at a time", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster)
      yield* Effect.promise(async () => {
        const { answer, socket } = await session(port, "select 1", async (socket) => {
          socket.setNoDelay()
          for (const byte of usual) await new Promise((sent) => socket.write(Buffer.from([byte]), sent))
        })
        assert.strictEqual((await answer).toString(), "SELECT 1\0")
        socket.end()
      })
    })
  )

  it.live("is encrypted by negotiation or from the first byte, and routed by the server name", () =>
    Effect.gen(function* () {
      const host = `${endpoint_id}.local.db.test`
      const tls = yield* certificate(host)
      const { port } = yield* harness(cluster, { tls })
      const info = `host=${host} hostaddr=127.0.0.1 port=${port} user=app dbname=postgres sslrootcert=${tls.cert}`
      const ask = (more: string) =>
        Effect.promise(() => run("psql", ["-XAt", "-d", `${info} ${more}`, "-c", "select 'served'"]))
      const verified = yield* ask("sslmode=verify-full")
      assert.strictEqual(verified.stdout, "served\n", verified.stderr)
      const plain = yield* ask("sslmode=disable")
      assert.match(plain.stderr, /The connection names no endpoint/)
      const direct = openTls(port, host, ["postgresql"])
      direct.write(startup(["user", "app"], ["database", "postgres"]))
      assert.strictEqual((yield* Effect.promise(() => once(direct)))[0], "R".charCodeAt(0))
      direct.destroy()
    })
  )

  it.live("over direct TLS needs the protocol name postgresql", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { port } = yield* harness(cluster, { tls })
      for (const protocols of [[], ["h2"]]) {
        const socket = openTls(port, `${endpoint_id}.local.db.test`, protocols)
        socket.write(startup(["user", "app"], ["database", "postgres"]))
        assert.strictEqual((yield* Effect.promise(() => untilClosed(socket))).length, 0)
      }
    })
  )

  it.live("in the clear is 28000 where TLS is required", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("db.test")
      const { port } = yield* harness(cluster, { tls: { ...tls, required: true } })
      assert.strictEqual(yield* sqlstate(port), "28000")
      const { stdout } = yield* Effect.promise(() =>
        run("psql", ["-XAt", "-d", conninfo(port, "sslmode=require"), "-c", "select 1"])
      )
      assert.strictEqual(stdout, "1\n")
    })
  )

  it.live("meets a renewed certificate at once, and the former while the new files do not fit", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("first.test")
      const { port } = yield* harness(cluster, { tls })
      const subject = Effect.callback<string>((resume) => {
        const socket = openTls(port, "db.test", ["postgresql"])
        socket.once("secureConnect", () => {
          resume(Effect.succeed(String(socket.getPeerCertificate().subject.CN)))
          socket.destroy()
        })
      })
      assert.strictEqual(yield* subject, "first.test")
      writeCertificate(tls, "second.test")
      assert.strictEqual(yield* subject, "second.test")
      const other = yield* certificate("other.test")
      writeCertificate({ cert: other.cert, key: tls.key }, "third.test")
      assert.strictEqual(yield* subject, "second.test")
    })
  )

  it.live("from a trusted network is judged by its PROXY header, which others may not send", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { trusted: ["127.0.0.1/32"] })
      yield* control.list("198.51.100.0/24")
      const header = (source: ReadonlyArray<number>) =>
        Buffer.from([...Buffer.from("\r\n\r\n\0\r\nQUIT\n"), 0x21, 0x11, 0, 12, ...source, 127, 0, 0, 1, 0, 1, 0, 2])
      const heard = (bytes: Buffer, from?: string) =>
        Effect.promise(async () => {
          const socket = open(port, from)
          socket.write(bytes)
          const first = await once(socket).catch(() => Buffer.alloc(0))
          socket.destroy()
          return first.toString("latin1")
        })
      assert.match(yield* heard(Buffer.concat([header([198, 51, 100, 7]), usual])), /^R/)
      assert.match(yield* heard(Buffer.concat([header([203, 0, 113, 7]), usual])), /C28000.*203\.0\.113\.7/)
      assert.strictEqual(yield* heard(usual), "")
      assert.strictEqual(yield* heard(Buffer.concat([header([198, 51, 100, 7]), usual]), "127.0.0.2"), "")
    })
  )

  it.live("beyond a limit is refused: an endpoint's with 53300, an address's without a byte", () =>
    Effect.gen(function* () {
      const { port, proxy } = yield* harness(cluster, { limits: { endpointConnections: 1 } })
      const first = yield* Effect.promise(() => session(port, "select pg_sleep(600)"))
      assert.strictEqual(yield* sqlstate(port), "53300")
      first.socket.destroy()
      yield* Effect.repeat(proxy.connections, {
        until: (relayed) => relayed === 0,
        schedule: Schedule.spaced("10 millis")
      })
      const again = yield* Effect.promise(() => session(port, "select 1"))
      again.socket.destroy()

      const few = yield* harness(cluster, { limits: { halfOpen: 2 } })
      const silent = [open(few.port), open(few.port)]
      yield* Effect.promise(() => Promise.all(silent.map((socket) => new Promise((sent) => socket.write("\0", sent)))))
      assert.strictEqual((yield* answerTo(few.port, usual)).length, 0)
      assert.notStrictEqual(yield* Effect.promise(() => session(few.port, "select 1").catch(() => "refused")), "")
      for (const socket of silent) socket.destroy()
    })
  )
})
