/**
 * The body of a response as a sink: what it holds, when it is gone, and that readers cannot touch each other's bytes.
 * Holds docs/design/library.md N13 and N14.
 */
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { assert, describe, it } from "@effect/vitest"
import { BodySink } from "../../src/transport/BodySink.ts"

const text = (length: number) => new TextEncoder().encode("x".repeat(length))
const kibibytes = (count: number) => text(count * 1024)

/** Lets callbacks run that were deferred. */
const turn = () => new Promise((done) => setImmediate(done))

const requestWith = (signal: AbortSignal) => new Request("http://api.test/v1/events", { signal })

/** Collects all that nothing holds. */
const collectGarbage: () => void = () => {
  setFlagsFromString("--expose-gc")
  runInNewContext("gc")()
}

const watched = () => {
  const aborts = new AbortController()
  const sink = new BodySink(requestWith(aborts.signal))
  const seen = { drains: 0, closes: 0 }
  sink.onDrain(() => {
    seen.drains += 1
  })
  sink.onClose(() => {
    seen.closes += 1
  })
  return { sink, seen, aborts, reader: sink.body.getReader() }
}

describe("the body of an event stream", () => {
  it("a body is full at 64 KiB, and says once that there is room when its reader has taken enough", async () => {
    const { reader, seen, sink } = watched()
    assert.isTrue(sink.write(kibibytes(40)))
    assert.isFalse(sink.write(kibibytes(40)))
    await turn()
    assert.deepStrictEqual(seen, { drains: 0, closes: 0 })
    await reader.read()
    await turn()
    assert.deepStrictEqual(seen, { drains: 1, closes: 0 })
    await reader.read()
    await turn()
    assert.strictEqual(seen.drains, 1)
    assert.isTrue(sink.write(text(1)))
  })

  it("a body is not full while a reader waits, and does not call back from within a write", async () => {
    const { reader, seen, sink } = watched()
    const waiting = reader.read()
    let inside = false
    sink.onDrain(() => assert.isFalse(inside))
    inside = true
    sink.write(kibibytes(60))
    inside = false
    assert.strictEqual((await waiting).value?.length, 60 * 1024)
    assert.strictEqual(seen.closes, 0)
  })

  it("an ended body is gone when its last byte was read, not before", async () => {
    const { reader, seen, sink } = watched()
    sink.write(kibibytes(10))
    sink.write(text(5))
    sink.end()
    await turn()
    assert.strictEqual(seen.closes, 0)
    await reader.read()
    await turn()
    assert.strictEqual(seen.closes, 0)
    assert.strictEqual((await reader.read()).value?.length, 5)
    assert.isTrue((await reader.read()).done)
    await turn()
    assert.strictEqual(seen.closes, 1)
  })

  it("an empty body that ends is gone at once, but its owner is told later", async () => {
    const { reader, seen, sink } = watched()
    sink.end()
    assert.strictEqual(seen.closes, 0, "not from within the call")
    assert.isTrue((await reader.read()).done)
    await turn()
    assert.strictEqual(seen.closes, 1)
  })

  it("a body is gone once when it is cancelled, destroyed, or when its request is aborted", async () => {
    const cancelled = watched()
    await cancelled.reader.cancel()
    const destroyed = watched()
    destroyed.sink.destroy()
    destroyed.sink.destroy()
    await destroyed.reader.read().catch(() => {})
    const aborted = watched()
    aborted.aborts.abort(new Error("left"))
    assert.strictEqual(String(await aborted.reader.read().catch((error: unknown) => error)), "Error: left")
    await turn()
    for (const { seen, sink } of [cancelled, destroyed, aborted]) {
      assert.strictEqual(seen.closes, 1)
      assert.isFalse(sink.write(text(1)))
    }
  })

  it("the body of a request that was aborted before is gone, and its owner is told", async () => {
    const sink = new BodySink(requestWith(AbortSignal.abort()))
    let closes = 0
    sink.onClose(() => {
      closes += 1
    })
    await turn()
    assert.strictEqual(closes, 1)
  })

  it("a reader that changes its bytes does not change those of another reader", async () => {
    const bytes = new TextEncoder().encode("id: 1\n\n")
    const [one, two] = [watched(), watched()]
    for (const { sink } of [one, two]) sink.write(bytes)
    const first = (await one.reader.read()).value
    if (first === undefined) return assert.fail("There is nothing to read.")
    first.fill(0)
    structuredClone(first.buffer, { transfer: [first.buffer] })
    assert.strictEqual(new TextDecoder().decode((await two.reader.read()).value), "id: 1\n\n")
  })

  it("a body ends with its client although nothing else holds the request any more", async () => {
    const { aborts, seen, sink } = watched()
    // The runtime keeps the objects that a turn has touched until its end.
    for (let round = 0; round < 3; round++) {
      await turn()
      collectGarbage()
    }
    aborts.abort()
    await turn()
    assert.strictEqual(seen.closes, 1)
    // The broker holds the sink of a stream, as this does.
    assert.isFalse(sink.write(text(1)))
  })
})
