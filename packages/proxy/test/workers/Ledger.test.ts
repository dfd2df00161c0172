/** Two workers of one proxy whose parent counts for both: docs/design/proxy.md P48. */
import { afterEach, assert, beforeEach, describe, it, vi } from "@effect/vitest"
import { EndpointId, OrgId } from "@narthex/core"
import { defaultAuthenticationLimits } from "../../src/connection/AuthenticationGate.ts"
import { Limits } from "../../src/connection/Claims.ts"
import { defaultConnectionLimits } from "../../src/connection/ConnectionLimiter.ts"
import { Ledger } from "../../src/workers/Ledger.ts"
import type { FromParent } from "../../src/workers/messages.ts"

const endpoint_id = EndpointId.make("ep-a")
const org_id = OrgId.make("org-01k3z6v9e8q0x5m4c2b7n1r0sd")

/** Flushes what fibers do. */
const settled = () => vi.advanceTimersByTimeAsync(0)

const some = { connections: 4, unauthenticated: 2, unauthenticated_per_address: 2, unknown_rate: 1_000_000 }

/** Two workers, whose connections have numbers of their own. */
const pair = (limited: Partial<typeof defaultConnectionLimits & typeof defaultAuthenticationLimits> = {}) => {
  const all = { ...some, ...limited }
  const limits = new Limits({ ...defaultConnectionLimits, ...all }, { ...defaultAuthenticationLimits, ...all }, () =>
    Date.now()
  )
  let connections = 0
  const worker = () => {
    const sent: Array<FromParent> = []
    const ledger = new Ledger((message) => sent.push(message))
    const ask = async (asked: Parameters<Ledger["asked"]>[0]) => {
      ledger.asked(asked)
      await settled()
      return answerTo(asked.question)
    }
    const answerTo = (question: number) => {
      const answered = sent.find((message) => message._tag === "Answered" && message.question === question)
      return answered?._tag === "Answered" ? answered.answer : undefined
    }
    const open = () => {
      const claims = limits.open()
      if (claims === undefined) return undefined
      const connection = ++connections
      ledger.add(connection, claims)
      return connection
    }
    const enter = (connection: number | undefined, user = "stranger") => {
      const asks = { connection: connection ?? 0, endpoint_id, org_id, peer: "192.0.2.1", user }
      return ask({ _tag: "Asked", question: connection ?? 0, about: "enter", asks })
    }
    const mayWake = (connection: number | undefined, question: number) =>
      ask({ _tag: "Asked", question, about: "mayWake", asks: { connection: connection ?? 0 } })
    const handshake = (connection: number | undefined, question: number) =>
      ask({ _tag: "Asked", question, about: "handshake", asks: { connection: connection ?? 0, peer: "192.0.2.1" } })
    return { answerTo, enter, handshake, ledger, mayWake, open, sent }
  }
  return [worker(), worker()] as const
}

const stranger = { known: false, waited: false }

describe("the limits of two workers", () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setImmediate", "Date"] }))
  afterEach(() => void vi.useRealTimers())

  it("the connections of both workers are one number, and those of an ended worker are given back", () => {
    const [a, b] = pair()
    const opened = [a.open(), b.open(), a.open(), b.open()]
    assert.notInclude(opened, undefined)
    assert.isUndefined(a.open())
    assert.isUndefined(b.open())
    a.ledger.end()
    assert.strictEqual(a.ledger.connections, 0)
    assert.notInclude([b.open(), b.open()], undefined)
    assert.isUndefined(b.open())
  })

  it("the connections to an endpoint and those of an organization are one number of both", async () => {
    for (const [limit, what] of [
      ["endpoint_connections", "connections"],
      ["org_connections", "organization"]
    ] as const) {
      const [a, b] = pair({ [limit]: 1 })
      const [one, two] = [a.open(), b.open()]
      assert.deepStrictEqual(await a.enter(one), stranger)
      assert.strictEqual(await b.enter(two), what)
      a.ledger.isClosed(one ?? 0)
      assert.deepStrictEqual(await b.enter(b.open()), stranger)
    }
  })

  it("attempts at an endpoint, and half-open connections of an address, are counted for both", async () => {
    const [a, b] = pair({ endpoint_attempts: 1, endpoint_attempts_burst: 1, half_open: 1 })
    const [one, two] = [a.open(), b.open()]
    assert.isTrue(await a.handshake(one, 10))
    assert.isFalse(await b.handshake(two, 11))
    assert.deepStrictEqual(await a.enter(one), stranger)
    a.ledger.isRelayed(one ?? 0)
    assert.isTrue(await b.handshake(two, 12))
    assert.strictEqual(await b.enter(two), "attempts")
  })

  it("a client waits for a place that clients of the other worker hold, and gets it when that worker has ended", async () => {
    const [a, b] = pair()
    await a.enter(a.open())
    await a.enter(a.open())
    const waiting = b.open()
    assert.isUndefined(await b.enter(waiting))
    a.ledger.end()
    await settled()
    assert.deepStrictEqual(b.answerTo(waiting ?? 0), { known: false, waited: true })
  })

  it("a client that has left while it waited takes no place", async () => {
    const [a, b] = pair()
    const [one] = [a.open(), await a.enter(1)]
    await a.enter(a.open())
    const [left, stays] = [b.open(), b.open()]
    await b.enter(stays)
    // The newest is served first.
    await b.enter(left)
    b.ledger.isClosed(left ?? 0)
    a.ledger.isClosed(one ?? 0)
    await settled()
    assert.deepStrictEqual(b.answerTo(stays ?? 0), { known: false, waited: true })
  })

  it("a client that does not authenticate in time is evicted from its worker, and one that has is not", async () => {
    const [a, b] = pair()
    const [slow, quick] = [a.open() ?? 0, b.open() ?? 0]
    await a.enter(slow)
    await b.enter(quick)
    a.ledger.isRelayed(slow)
    b.ledger.isRelayed(quick)
    b.ledger.isAuthenticated(quick)
    assert.deepStrictEqual([a.ledger.relayed, b.ledger.relayed], [1, 1])
    await vi.advanceTimersByTimeAsync(10_000)
    assert.deepInclude(a.sent, { _tag: "Evicted", connection: slow })
    assert.notDeepInclude(b.sent, { _tag: "Evicted", connection: quick })
    a.ledger.isClosed(slow)
    assert.deepStrictEqual([a.ledger.relayed, b.ledger.relayed], [0, 1])
  })

  it("a user that has authenticated at one worker is known to the other", async () => {
    const [a, b] = pair()
    const one = a.open() ?? 0
    await a.enter(one, "ada")
    a.ledger.isRelayed(one)
    a.ledger.isAuthenticated(one)
    assert.deepStrictEqual(await b.enter(b.open(), "ada"), { known: true, waited: false })
  })

  it("wakes of strangers are counted for both workers, once for each connection", async () => {
    const [a, b] = pair({ connections: 10, unauthenticated: 10, unauthenticated_per_address: 10 })
    let question = 100
    for (const worker of [a, b, a]) {
      const connection = worker.open()
      await worker.enter(connection)
      assert.isTrue(await worker.mayWake(connection, ++question))
      assert.isTrue(await worker.mayWake(connection, ++question))
    }
    const fourth = b.open()
    await b.enter(fourth)
    assert.isFalse(await b.mayWake(fourth, ++question))
  })
})
