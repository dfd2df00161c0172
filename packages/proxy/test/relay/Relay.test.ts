import { createServer, Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { until } from "../../../../test/harness/eventually.ts"
import { ComputeSocket } from "../../src/compute/ComputeSocket.ts"
import { Relay } from "../../src/relay/Relay.ts"
import { encodeFatal } from "../../src/wire/ErrorResponse.ts"

/** The two ends of a TCP connection: the near end paused, as the proxy's are. */
const pair = Effect.callback<readonly [near: Socket, far: Socket]>((resume) => {
  const server = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (near) => {
    server.close()
    resume(Effect.succeed([near, far]))
  })
  server.listen(0, "127.0.0.1")
  const far = new Socket({ allowHalfOpen: true })
  server.once("listening", () => {
    const address = server.address()
    if (address !== null && typeof address === "object") far.connect(address.port, "127.0.0.1")
  })
})

const message = (type: string, body = "") => {
  const bytes = Buffer.alloc(5 + body.length)
  bytes.write(type)
  bytes.writeUInt32BE(4 + body.length, 1)
  bytes.write(body, 5, "latin1")
  return bytes
}

const ready = (status: string) => message("Z", status)
const fatal = encodeFatal({ sqlstate: "57P01", message: "cut", hint: "again" })

/** A compute that the proxy has connected to, paused as after DIAL. */
const dialled = Effect.callback<readonly [near: ComputeSocket, far: Socket]>((resume) => {
  const listener = createServer({ allowHalfOpen: true }, (far) => {
    listener.close()
    near?.socket.pause()
    if (near !== undefined) resume(Effect.succeed([near, far]))
  })
  let near: ComputeSocket | undefined
  listener.listen(0, "127.0.0.1", () => {
    const address = listener.address()
    if (address !== null && typeof address === "object")
      near = new ComputeSocket({ port: address.port, host: "127.0.0.1", allowHalfOpen: true })
  })
})

/** AuthenticationOk, and the first ReadyForQuery. */
const greeting = Buffer.concat([message("R", "\0\0\0\0"), message("Z", "I")])

/** A relay between a client and a compute. The test has the far ends. */
const unbegun = Effect.gen(function* () {
  const [client, farClient] = yield* pair
  const [compute, farServer] = yield* dialled
  const heard: Array<Buffer> = []
  farClient.on("data", (chunk: Buffer) => heard.push(chunk))
  farServer.on("data", () => {})
  for (const far of [farClient, farServer]) far.on("error", () => {}).once("end", () => far.end())
  const changes: Array<string> = []
  const relay = new Relay({
    client,
    server: compute,
    fromClient: Buffer.alloc(0),
    greeting,
    busy: () => changes.push("busy"),
    relayed: () => {},
    now: () => 0
  })
  const passed = (from: Socket, to: Socket, bytes: Buffer) =>
    Effect.callback<void>((resume) => {
      let left = bytes.length
      const count = (chunk: Buffer) => {
        left -= chunk.length
        if (left > 0) return
        to.off("data", count)
        resume(Effect.void)
      }
      to.on("data", count)
      from.write(bytes)
    })
  const answer = (...messages: ReadonlyArray<Buffer>) => passed(farServer, farClient, Buffer.concat(messages))
  const ask = (...messages: ReadonlyArray<Buffer>) => passed(farClient, farServer, Buffer.concat(messages))
  return { answer, ask, changes, client, farClient, farServer, heard, relay, server: compute.socket }
})

/** Relays to the end of the session. */
const whole = (relay: Relay) => Effect.callback<void>((resume) => relay.start(() => resume(Effect.void)))

/** The same, running, after a first notice has been relayed. */
const relaying = Effect.gen(function* () {
  const ends = yield* unbegun
  const running = yield* Effect.forkChild(whole(ends.relay))
  yield* ends.answer(message("N", "begun"))
  return { ...ends, running }
})

describe("Relay", () => {
  it.live("a session is busy in a transaction, failed or not, and during a query", () =>
    Effect.gen(function* () {
      const { answer, ask, relay } = yield* relaying
      yield* answer(ready("I"))
      for (const status of ["T", "E"]) {
        yield* ask(message("Q", "begin\0"))
        assert.isTrue(relay.busy)
        yield* answer(ready(status))
        assert.isTrue(relay.busy)
      }
      yield* ask(message("Q", "rollback\0"))
      yield* answer(ready("I"))
      assert.isFalse(relay.busy)
    })
  )

  it.live("a session that has sent two queries is busy until the second one has ended", () =>
    Effect.gen(function* () {
      const { answer, ask, relay } = yield* relaying
      yield* answer(ready("I"))
      yield* ask(message("P", "a"), message("E", "a"), message("S"), message("P", "b"), message("E", "b"), message("S"))
      yield* answer(ready("I"))
      assert.isTrue(relay.busy)
      yield* answer(ready("I"))
      assert.isFalse(relay.busy)
    })
  )

  it.live("a session with extended-protocol work is busy without a Sync, until the next ReadyForQuery", () =>
    Effect.gen(function* () {
      const { answer, ask, relay } = yield* relaying
      yield* answer(ready("I"))
      for (const type of ["P", "B", "D", "E", "F"]) {
        yield* ask(message(type, "x"))
        assert.isTrue(relay.busy, type)
        if (type !== "F") yield* ask(message("S"))
        assert.isTrue(relay.busy, `${type} and S`)
        yield* answer(ready("I"))
        assert.isFalse(relay.busy, `${type}, S and Z`)
      }
    })
  )

  it.live("work after a Sync keeps a session busy when the Sync is answered", () =>
    Effect.gen(function* () {
      const { answer, ask, relay } = yield* relaying
      yield* answer(ready("I"))
      yield* ask(message("E", "a"), message("S"), message("P", "b"), message("E", "b"), message("H"))
      yield* answer(ready("I"))
      assert.isTrue(relay.busy)
      yield* answer(message("D", "row"), message("C", "SELECT 1\0"))
      assert.isTrue(relay.busy)
      yield* ask(message("S"))
      yield* answer(ready("I"))
      assert.isFalse(relay.busy)
    })
  )

  it.live("a session is idle after a Close or a Flush without a Sync, which begin no transaction", () =>
    Effect.gen(function* () {
      const { answer, ask, relay } = yield* relaying
      yield* ask(message("C", "Sname\0"), message("H"))
      yield* answer(message("3"))
      assert.isFalse(relay.busy)
    })
  )

  it.live("a session announces each time that it gets busy", () =>
    Effect.gen(function* () {
      const { answer, ask, changes } = yield* relaying
      assert.deepStrictEqual(changes, [])
      yield* ask(message("P", "a"), message("B", "a"), message("E", "a"), message("S"))
      yield* answer(ready("I"))
      yield* ask(message("Q", "begin\0"))
      yield* answer(ready("T"))
      yield* ask(message("Q", "commit\0"))
      yield* answer(ready("I"))
      assert.deepStrictEqual(changes, ["busy", "busy"])
    })
  )

  it.live("a session is idle after a COPY IN, because a Sync or a Flush during the copy has no answer", () =>
    Effect.gen(function* () {
      const { answer, ask, relay } = yield* relaying
      for (const ending of ["S", "H"]) {
        yield* ask(message("P", "copy"), message("E", ""), message(ending))
        yield* answer(message("G", "\0\0\0"))
        yield* ask(message("d", "row"), message("c"), message("S"))
        assert.isTrue(relay.busy)
        yield* answer(message("C", "COPY 1\0"), ready("I"))
        assert.isFalse(relay.busy, ending)
      }
    })
  )

  it.live("a cut within a message sends the rest of the message, then the FATAL, and nothing after it", () =>
    Effect.gen(function* () {
      const { answer, farServer, heard, relay, running } = yield* relaying
      const row = message("D", "a row that is long")
      yield* answer(ready("I"), row.subarray(0, 9))
      relay.cut(fatal)
      farServer.write(Buffer.concat([row.subarray(9), message("C", "SELECT 1\0"), ready("I")]))
      yield* Fiber.join(running)
      const all = Buffer.concat([greeting, message("N", "begun"), ready("I"), row, fatal])
      assert.deepStrictEqual(Buffer.concat(heard).toString("latin1"), all.toString("latin1"))
    })
  )

  it.live("a cut within a message that does not end closes the session without a FATAL", () =>
    Effect.gen(function* () {
      const { answer, heard, relay, running } = yield* relaying
      yield* answer(message("D", "a row that is long").subarray(0, 9))
      const before = Buffer.concat(heard).length
      relay.cut(fatal)
      yield* Fiber.join(running)
      assert.strictEqual(Buffer.concat(heard).length, before)
    })
  )

  it.live("a session that is cut before it begins receives only the FATAL", () =>
    Effect.gen(function* () {
      const { heard, relay } = yield* unbegun
      relay.cut(fatal)
      yield* whole(relay)
      assert.strictEqual(Buffer.concat(heard).toString("latin1"), fatal.toString("latin1"))
    })
  )

  it.live("a draining session is cut at the end of its transaction, not before", () =>
    Effect.gen(function* () {
      const { answer, ask, farClient, heard, relay, running } = yield* relaying
      yield* answer(ready("T"))
      relay.cutWhenIdle(fatal)
      yield* ask(message("Q", "commit\0"))
      assert.isFalse(farClient.readableEnded)
      yield* answer(message("C", "COMMIT\0"), ready("I"))
      yield* Fiber.join(running)
      assert.isTrue(
        Buffer.concat(heard)
          .toString("latin1")
          .endsWith(Buffer.concat([ready("I"), fatal]).toString("latin1"))
      )
    })
  )

  it.live("a relay reads at most one chunk more than the buffer of a client that does not read holds", () =>
    Effect.gen(function* () {
      const { answer, client, farClient, farServer, heard, server } = yield* relaying
      yield* answer(ready("I"))
      farClient.pause()
      const before = Buffer.concat(heard).length
      const row = message("D", "x".repeat(32 * 1_024 * 1_024))
      farServer.write(row)
      let [taken, looks] = [0, 0]
      yield* Effect.promise(() =>
        until("the relay to stop reading", () => {
          looks = server.isPaused() && server.bytesRead === taken ? looks + 1 : 0
          taken = server.bytesRead
          return looks === 20
        })
      )
      assert.isBelow(taken, row.length)
      assert.isAtMost(client.writableLength, client.writableHighWaterMark + server.readableHighWaterMark)
      farClient.resume()
      yield* Effect.promise(() =>
        until("the whole row", () => heard.reduce((sum, chunk) => sum + chunk.length, 0) === before + row.length)
      )
    })
  )

  it.live("results that a slow client has not taken yet are not overwritten by later ones", () =>
    Effect.gen(function* () {
      const { answer, farClient, farServer, heard, server } = yield* relaying
      yield* answer(ready("I"))
      const before = Buffer.concat(heard).length
      farClient.pause()
      // More than the kernel holds for a client that does not read, so that writes wait in the relay.
      const rows = Array.from({ length: 4_000 }, (_, n) => message("D", `${n} `.repeat(1_000)))
      const sent = Buffer.concat(rows)
      for (const row of rows) farServer.write(row)
      yield* Effect.promise(() => until("the relay to stop reading", () => server.isPaused()))
      farClient.resume()
      const taken = () => heard.reduce((sum, chunk) => sum + chunk.length, 0) - before
      yield* Effect.promise(() => until("all rows", () => taken() === sent.length))
      assert.isTrue(Buffer.concat(heard).subarray(before).equals(sent))
    })
  )

  it.live("a session ends on both sides when either side ends", () =>
    Effect.gen(function* () {
      const one = yield* relaying
      one.farClient.end()
      yield* Fiber.join(one.running)
      const other = yield* relaying
      other.farServer.destroy()
      yield* Fiber.join(other.running)
      assert.isTrue(other.farClient.readableEnded)
    })
  )
})
