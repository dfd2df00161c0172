import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
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
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] }))
  afterEach(() => void vi.useRealTimers())

  it("without an answer a connection is refused as by a full proxy", () => {
    const { claims, inquiry } = asking()
    const answers: Array<unknown> = []
    const answered = (answer: unknown) => void answers.push(answer)
    claims.handshake(peer, answered)
    claims.mayWake(answered)
    claims.enter(entrant, answered)
    vi.advanceTimersByTime(4_999)
    assert.deepStrictEqual(answers, [])
    vi.advanceTimersByTime(1)
    assert.deepStrictEqual(answers, [false, false])
    vi.advanceTimersByTime(30_000)
    assert.deepStrictEqual(answers, [false, false, "connections"])
    assert.strictEqual(inquiry.size, 0)
  })

  it("a connection whose parent has ended is refused at once", () => {
    const { claims, inquiry } = asking()
    const answers: Array<unknown> = []
    claims.enter(entrant, (answer) => answers.push(answer))
    inquiry.end()
    assert.deepStrictEqual(answers, ["connections"])
  })

  it("the answer of the parent decides, and none comes after a cancel", () => {
    const { claims, inquiry, sent } = asking()
    const answer = (answer: unknown) => {
      const asked = sent.at(-1)
      if (asked?._tag === "Asked") inquiry.answered({ _tag: "Answered", question: asked.question, answer })
    }
    const answers: Array<unknown> = []
    const answered = (answer: unknown) => void answers.push(answer)
    claims.enter(entrant, answered)
    answer({ known: true, waited: false })
    claims.enter(entrant, answered)
    answer("organization")
    const cancel = claims.enter(entrant, answered)
    cancel()
    answer("connections")
    assert.deepStrictEqual(answers, [{ known: true, waited: false }, "organization"])
    assert.deepStrictEqual([inquiry.size, vi.getTimerCount()], [0, 0])
  })

  it("a handshake that the parent has counted is not counted again", () => {
    const { claims, sent } = asking(true)
    const answers: Array<unknown> = []
    claims.handshake(peer, (answer) => answers.push(answer))
    assert.deepStrictEqual([answers, sent], [[true], []])
  })

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
