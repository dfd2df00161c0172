import { assert, describe, it } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { parsePeer } from "../../src/networks/Address.ts"
import { AskedClaims } from "../../src/workers/AskedClaims.ts"
import { Inquiry } from "../../src/workers/Inquiry.ts"
import type { FromWorker, WorkerQuestions } from "../../src/workers/messages.ts"

const peer = parsePeer("192.0.2.1") ?? assert.fail("not an address")
const entrant = { endpoint_id: EndpointId.make("ep-a"), org_id: undefined, peer, user: "ada" }

const asking = (counted = false) => {
  const sent: Array<FromWorker> = []
  const inquiry = new Inquiry<WorkerQuestions>((asked) => sent.push(asked))
  let closed = 0
  const claims = new AskedClaims(
    7,
    counted,
    inquiry,
    (message) => sent.push(message),
    () => void closed++
  )
  return { claims, closed: () => closed, inquiry, sent }
}

describe("AskedClaims", () => {
  it.effect("without an answer a connection is refused as by a full proxy", () =>
    Effect.gen(function* () {
      const { claims, inquiry } = asking()
      const handshake = yield* Effect.forkChild(claims.handshake(peer))
      const entered = yield* Effect.forkChild(Effect.flip(claims.enter(entrant)))
      const mayWake = yield* Effect.forkChild(claims.mayWake)
      yield* TestClock.adjust("35 seconds")
      assert.isFalse(yield* Fiber.join(handshake))
      assert.strictEqual((yield* Fiber.join(entered)).what, "connections")
      assert.isFalse(yield* Fiber.join(mayWake))
      assert.strictEqual(inquiry.size, 0)
    })
  )

  it.effect("a connection whose parent has ended is refused at once", () =>
    Effect.gen(function* () {
      const { claims, inquiry } = asking()
      const entered = yield* Effect.forkChild(Effect.flip(claims.enter(entrant)), { startImmediately: true })
      inquiry.end()
      assert.strictEqual((yield* Fiber.join(entered)).what, "connections")
    })
  )

  it.effect("the answer of the parent decides", () =>
    Effect.gen(function* () {
      const { claims, inquiry, sent } = asking()
      const answered = (answer: unknown) => {
        const asked = sent.at(-1)
        if (asked?._tag === "Asked") inquiry.answered({ _tag: "Answered", question: asked.question, answer })
      }
      const entered = yield* Effect.forkChild(claims.enter(entrant), { startImmediately: true })
      answered({ known: true, waited: false })
      assert.deepStrictEqual(yield* Fiber.join(entered), { known: true, waited: false })
      const refused = yield* Effect.forkChild(Effect.flip(claims.enter(entrant)), { startImmediately: true })
      answered("organization")
      assert.strictEqual((yield* Fiber.join(refused)).what, "organization")
    })
  )

  it.effect("a handshake that the parent has counted is not counted again", () =>
    Effect.gen(function* () {
      const { claims, sent } = asking(true)
      assert.isTrue(yield* claims.handshake(peer))
      assert.deepStrictEqual(sent, [])
    })
  )

  it("an eviction cuts a session until it has authenticated, and the end is told once", () => {
    const { claims, closed, sent } = asking()
    let cuts = 0
    claims.relayed(() => void cuts++)
    claims.evicted()
    claims.authenticated()
    claims.evicted()
    claims.close()
    claims.close()
    assert.strictEqual(cuts, 1)
    assert.strictEqual(closed(), 1)
    assert.deepStrictEqual(
      sent.map(({ _tag }) => _tag),
      ["Relayed", "Authenticated", "Closed"]
    )
  })
})
