import { createServer, type Socket } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../../../../test/harness/eventually.ts"
import { ComputeSocket } from "../../src/compute/ComputeSocket.ts"

/** A compute whose bytes the test sends, and what its proxy reads: the memory of each read. */
const connected = Effect.acquireRelease(
  Effect.callback<{ readonly near: ComputeSocket; readonly far: Socket }>((resume) => {
    const listener = createServer((far) => {
      listener.close()
      far.on("error", () => {})
      if (near !== undefined) resume(Effect.succeed({ near, far }))
    })
    let near: ComputeSocket | undefined
    listener.listen(0, "127.0.0.1", () => {
      const address = listener.address()
      if (address !== null && typeof address === "object")
        near = new ComputeSocket({ port: address.port, host: "127.0.0.1" })
    })
  }),
  ({ far, near }) =>
    Effect.sync(() => {
      far.destroy()
      near.socket.destroy()
    })
)

const reading = Effect.gen(function* () {
  const { far, near } = yield* connected
  const reads: Array<{ readonly memory: ArrayBufferLike; readonly text: string; readonly bytes: Buffer }> = []
  const answer = { keeps: false, more: false }
  near.expectsMore = () => answer.more
  near.receive = (bytes) => {
    reads.push({ memory: bytes.buffer, text: bytes.toString(), bytes })
    return answer.keeps
  }
  const send = (text: string) =>
    Effect.promise(() => {
      const before = reads.reduce((sum, read) => sum + read.text.length, 0)
      far.write(text)
      const arrived = () => reads.reduce((sum, read) => sum + read.text.length, 0) === before + text.length
      return until("the bytes", arrived)
    })
  const sizes = () => reads.map(({ memory }) => memory.byteLength)
  return { answer, reads, send, sizes }
})

describe("ComputeSocket", () => {
  it.live("a buffer is used again when none of its bytes were kept", () =>
    Effect.gen(function* () {
      const { reads, send } = yield* reading
      yield* send("one")
      yield* send("two")
      assert.strictEqual(reads[0]?.memory, reads[1]?.memory)
    })
  )

  it.live("bytes that were kept are not overwritten by the next read", () =>
    Effect.gen(function* () {
      const { answer, reads, send } = yield* reading
      answer.keeps = true
      yield* send("one")
      yield* send("two")
      assert.deepStrictEqual(
        reads.map(({ bytes }) => bytes.toString()),
        ["one", "two"]
      )
    })
  )

  it.live("a session has a buffer of 1 kB until a read has filled it, and of 4 kB from then on", () =>
    Effect.gen(function* () {
      const { send, sizes } = yield* reading
      yield* send("short")
      yield* send("short")
      assert.deepStrictEqual(sizes(), [1_024, 1_024])
      yield* send("x".repeat(1_024))
      yield* send("y".repeat(3_000))
      yield* send("z")
      assert.strictEqual(sizes().at(-1), 4_096)
    })
  )

  it.live("a long result is read into a large buffer, and the session has a small one after it", () =>
    Effect.gen(function* () {
      const { answer, send, sizes } = yield* reading
      answer.more = true
      yield* send("x".repeat(500_000))
      const largest = Math.max(...sizes())
      assert.isAbove(largest, 4_096)
      // Less than the high-water mark of a socket, which one write would reach.
      assert.isBelow(largest, 65_536)
      answer.more = false
      yield* send("end")
      yield* send("idle")
      assert.strictEqual(sizes().at(-1), 4_096)
    })
  )
})
