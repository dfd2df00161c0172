import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect, Fiber, Schema } from "effect"
import { TestClock } from "effect/testing"
import { eventually, until, within } from "../../../../test/harness/eventually.ts"
import { bytes } from "../../../../test/harness/seed.ts"
import { Cluster } from "../support/Cluster.ts"
import {
  once,
  open,
  openTls,
  sqlstate,
  sslRequest,
  startup,
  takesConnection,
  untilClosed,
  usual
} from "../support/clients.ts"
import { role } from "../support/credentials.ts"
import { certificate, harness, writeCertificate } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"
import { conninfo, run } from "../support/programs.ts"
import { session } from "../support/session.ts"

const gssRequest = Buffer.from([0, 0, 0, 8, 4, 210, 22, 48])
/** An address without a server, for tests that must not reach a compute. */
const nowhere = { generation: 0, running: false, address: "", start: () => Promise.reject(new Error("woken")) }

const answerTo = (port: number, packet: Buffer, from?: string) =>
  Effect.promise(() => {
    const socket = open(port, from)
    socket.write(packet)
    return untilClosed(socket)
  })

describe("the first packet", () => {
  it.live.prop(
    "a first packet of random bytes closes the connection without an answer",
    [Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 64 }))],
    ([size]) =>
      Effect.gen(function* () {
        const { port } = yield* harness(nowhere)
        const garbage = bytes(size)
        garbage[0] = (garbage[0] ?? 0) | 1
        assert.strictEqual((yield* answerTo(port, garbage)).length, 0)
      }),
    { arbitrary: { runs: 20 } }
  )

  it.effect("a connection without a first packet is closed after ten seconds without an answer", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere, { limits: { half_open: 1 } })
      const slow = yield* Effect.forkChild(answerTo(port, usual.subarray(0, 20)), { startImmediately: true })
      // The only slot is in use while the proxy waits.
      const waits = Effect.promise(async () => !(await takesConnection(port)))
      yield* eventually("the proxy to wait for the packet", waits)
      yield* TestClock.adjust("9999 millis")
      assert.isTrue(yield* waits)
      yield* TestClock.adjust("1 millis")
      assert.strictEqual((yield* Fiber.join(slow)).length, 0)
    })
  )

  it.live("HTTP, TLS without a certificate and impossible lengths close the connection without an answer", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const header = "\r\n\r\n\0\r\nQUIT\n"
      for (const packet of [
        "GET / HTTP/1.1\r\n\r\n",
        "\x16\x03\x01\x02\0",
        "\0\0\0\x07\0\x03\0\0",
        "\0\0\x27\x11\0\x03\0\0",
        header
      ])
        assert.strictEqual((yield* answerTo(port, Buffer.from(packet, "latin1"))).length, 0)
    })
  )

  it.live("one SSLRequest and one GSSENCRequest are answered N without a certificate, and a second one is not", () =>
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

  it.live(
    "bytes after an SSLRequest close the connection: they would be taken for encrypted",
    () =>
      Effect.gen(function* () {
        const tls = yield* certificate("db.test")
        const { port } = yield* harness(nowhere, { tls })
        assert.strictEqual((yield* answerTo(port, Buffer.concat([sslRequest, usual]))).length, 0)
      }),
    { tags: ["openssl"] }
  )

  it.live("an unsupported protocol version is 0A000, and a malformed startup packet 08P01", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const version2 = Buffer.from([0, 0, 0, 9, 0, 2, 0, 0, 0])
      assert.match((yield* answerTo(port, version2)).toString("latin1"), /^E....SFATAL\0VFATAL\0C0A000\0M.*\0H.*\0\0$/s)
      const twice = startup(["user", "a"], ["user", "b"])
      assert.match((yield* answerTo(port, twice)).toString("latin1"), /C08P01\0/)
    })
  )

  it.live("no endpoint, an unknown one and two are 08004 with a hint, and control characters are not echoed", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(nowhere)
      const ask = (...parameters: ReadonlyArray<readonly [string, string]>) =>
        Effect.map(answerTo(port, startup(...parameters)), (answer) => answer.toString("utf8", 5))
      assert.match(yield* ask(["user", "app"]), /C08004\0MThe connection names no endpoint\.\0HUse the endpoint's host/)
      assert.match(yield* ask(["user", "app.ep-other"]), /C08004\0MEndpoint "ep-other" does not exist/)
      const both = yield* ask(["user", `app.${endpoint_id}`], ["options", `endpoint=e\x07p-${"x".repeat(200)}`])
      assert.match(both, /C08004\0MThe connection names more than one endpoint: "ep-x{60}", "ep-01/)
    })
  )
})

describe("connections", { tags: ["psql", "openssl"] }, () => {
  const cluster = new Cluster()
  beforeAll(() => cluster.start())
  afterAll(() => cluster.remove())

  it.live("a startup packet may arrive one byte at a time", () =>
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

  it.live("a connection is encrypted by negotiation or from the first byte, and routed by the server name", () =>
    Effect.gen(function* () {
      const host = `${endpoint_id}.local.db.test`
      const tls = yield* certificate(host)
      const { port } = yield* harness(cluster, { tls })
      const info = `host=${host} hostaddr=127.0.0.1 port=${port} user=${role} dbname=postgres sslrootcert=${tls.cert}`
      const ask = (more: string) =>
        Effect.promise(() => run("psql", ["-XAt", "-d", `${info} ${more}`, "-c", "select 'served'"]))
      const verified = yield* ask("sslmode=verify-full")
      assert.strictEqual(verified.stdout, "served\n", verified.stderr)
      const plain = yield* ask("sslmode=disable")
      assert.match(plain.stderr, /The connection names no endpoint/)
      const direct = openTls(port, host, ["postgresql"])
      direct.write(startup(["user", role], ["database", "postgres"]))
      assert.strictEqual((yield* Effect.promise(() => once(direct)))[0], "R".charCodeAt(0))
      direct.destroy()
    })
  )

  it.live("direct TLS requires the ALPN protocol postgresql", () =>
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

  it.live("plaintext is refused with 28000 if TLS is required", () =>
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

  it.live("a renewed certificate is used immediately, and the previous one while the new files do not match", () =>
    Effect.gen(function* () {
      const tls = yield* certificate("first.test")
      const { port } = yield* harness(cluster, { tls })
      const subject = Effect.promise(async () => {
        const socket = openTls(port, "db.test", ["postgresql"])
        await within("TLS", new Promise<void>((secure) => socket.once("secureConnect", secure)))
        const { subject: name } = socket.getPeerCertificate()
        socket.destroy()
        return String(name.CN)
      })
      assert.strictEqual(yield* subject, "first.test")
      writeCertificate(tls, "second.test")
      assert.strictEqual(yield* subject, "second.test")
      const other = yield* certificate("other.test")
      writeCertificate({ cert: other.cert, key: tls.key }, "third.test")
      assert.strictEqual(yield* subject, "second.test")
    })
  )

  it.live("a PROXY header decides the address of a client of a trusted network, and is refused from others", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster, { trusted: ["127.0.0.1/32"] })
      yield* control.list("198.51.100.0/24")
      const header = (source: ReadonlyArray<number>) =>
        Buffer.from([...Buffer.from("\r\n\r\n\0\r\nQUIT\n"), 0x21, 0x11, 0, 12, ...source, 127, 0, 0, 1, 0, 1, 0, 2])
      const heard = (packet: Buffer, from?: string) =>
        Effect.promise(async () => {
          const socket = open(port, from)
          socket.write(packet)
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

  it.live("a connection beyond the limit of an endpoint is 53300 until another one ends", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster, { limits: { endpoint_connections: 1 } })
      const first = yield* Effect.promise(() => session(port, "select pg_sleep(600)"))
      assert.strictEqual(yield* sqlstate(port), "53300")
      first.socket.destroy()
      const served = Effect.map(sqlstate(port), (code) => code === "none")
      yield* eventually("the endpoint to serve again", served, { every: 50 })
    })
  )

  it.live("a connection beyond the limit of an address is closed without an answer and affects no other", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster, { limits: { half_open: 2 } })
      yield* Effect.promise(async () => {
        const silent = [open(port), open(port)]
        const ends = silent.map(untilClosed)
        await Promise.all(silent.map((socket) => new Promise((sent) => socket.write("\0", sent))))
        await until("both places to be taken", async () => !(await takesConnection(port)))

        await Effect.runPromise(
          Effect.map(answerTo(port, usual), (answer) => assert.strictEqual(answer.length, 0, answer.toString()))
        )
        assert.isTrue(await takesConnection(port, "127.0.0.2"))
        assert.deepStrictEqual(
          silent.map(({ readyState }) => readyState),
          ["open", "open"]
        )

        silent[0]?.destroy()
        await until("the place of the first to be free", () => takesConnection(port))
        const served = await session(port, "select 1")
        assert.strictEqual((await served.answer).toString(), "SELECT 1\0")
        assert.strictEqual(silent[1]?.readyState, "open")
        served.socket.destroy()
        silent[1]?.destroy()
        await Promise.all(ends)
      })
    })
  )
})
