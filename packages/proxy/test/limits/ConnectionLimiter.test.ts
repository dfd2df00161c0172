import { assert, describe, it } from "@effect/vitest"
import { EndpointId, OrgId } from "@narthex/core"
import {
  ConnectionLimiter,
  type ConnectionLimits,
  defaultConnectionLimits,
  type HeldSlots
} from "../../src/limits/ConnectionLimiter.ts"
import { parsePeer } from "../../src/networks/Address.ts"

const peer = (text: string) => parsePeer(text) ?? assert.fail("an address")

/** Connections that are counted at this time, in milliseconds. */
const limited = (limits: Partial<ConnectionLimits>) => {
  const clock = { now: 0 }
  const limiter = new ConnectionLimiter({ ...defaultConnectionLimits, ...limits }, () => clock.now)
  const dropped: Array<string> = []
  /** A connection from this address that is half-open; `undefined`: it was refused. */
  const from = (address: string): HeldSlots | undefined => {
    const slots = limiter.open()
    if (slots?.handshake(peer(address), () => dropped.push(address)) === true) return slots
    slots?.close()
    return undefined
  }
  const taken = (address: string) => from(address) !== undefined
  return { clock, dropped, from, limiter, taken }
}

describe("ConnectionLimiter", () => {
  it("a connection that has ended leaves its place to another one", () => {
    const { limiter } = limited({ connections: 1 })
    const only = limiter.open()
    assert.isUndefined(limiter.open())
    only?.close()
    only?.close()
    assert.isDefined(limiter.open())
    assert.isUndefined(limiter.open())
  })

  it("half-open connections are counted by address, and attempts by /24 with refill over time", () => {
    const { clock, from, taken } = limited({ half_open: 1, attempts: 1, attempts_burst: 3 })
    assert.isTrue(taken("198.51.100.1"))
    assert.isFalse(taken("198.51.100.1"))
    assert.isTrue(taken("198.51.100.2"))
    assert.isFalse(taken("198.51.100.3"))
    assert.isTrue(taken("198.51.101.3"))
    clock.now = 999
    assert.isFalse(taken("198.51.100.3"))
    clock.now = 1_000
    const third = from("198.51.100.3")
    assert.isDefined(third)
    third?.proved()
    clock.now = 2_000
    assert.isTrue(taken("198.51.100.3"))
  })

  it("one network has a part of the half-open connections, and a refused one takes nothing", () => {
    const { from, taken } = limited({ half_open: 2, half_open_per_network: 3 })
    const first = from("2001:db8::1")
    assert.isDefined(first)
    assert.deepStrictEqual(["2001:db8::2", "2001:db8::3", "2001:db8:0:1::1", "2001:db8:0:2::1"].map(taken), [
      true,
      false,
      true,
      false
    ])
    assert.isTrue(taken("2001:db8:1::1"))
    first?.close()
    assert.deepStrictEqual(["2001:db8:0:2::1", "2001:db8::3"].map(taken), [true, false])
  })

  it("the oldest of the network with the most makes room once half of all connections are half-open", () => {
    const { dropped, from, taken } = limited({ connections: 8 })
    for (const address of ["192.0.2.1", "192.0.2.2", "192.0.2.3", "198.51.100.1"]) assert.isTrue(taken(address))
    assert.deepStrictEqual(dropped, [])
    const owner = from("203.0.113.1")
    assert.deepStrictEqual(dropped, ["192.0.2.1"])
    owner?.proved()
    assert.isTrue(taken("203.0.113.1"))
    assert.deepStrictEqual(dropped, ["192.0.2.1"], "a client that has proved itself is not half-open")
    assert.isTrue(taken("203.0.113.2"))
    assert.deepStrictEqual(dropped, ["192.0.2.1", "192.0.2.2"])
  })

  it("failed proofs are counted by network and endpoint, with refill over time", () => {
    const { clock, limiter } = limited({ failures: 1, failures_burst: 2 })
    const [a, b] = [EndpointId.make("ep-a"), EndpointId.make("ep-b")]
    for (const address of ["192.0.2.1", "192.0.2.200"]) limiter.failed(a, peer(address))
    assert.isFalse(limiter.mayProve(a, peer("192.0.2.3")))
    assert.isTrue(limiter.mayProve(b, peer("192.0.2.3")))
    assert.isTrue(limiter.mayProve(a, peer("192.0.3.3")))
    clock.now = 1_000
    assert.isTrue(limiter.mayProve(a, peer("192.0.2.3")))
  })

  it("connections are counted by endpoint and by organization", () => {
    const { limiter } = limited({ org_connections: 2, endpoint_connections: 1 })
    const [a, b, c] = [EndpointId.make("ep-a"), EndpointId.make("ep-b"), EndpointId.make("ep-c")]
    const [one, other] = [OrgId.make("org-a"), OrgId.make("org-b")]
    const first = limiter.open()
    assert.isUndefined(first?.enter(a, one))
    const second = limiter.open()
    assert.strictEqual(second?.enter(a, one), "connections")
    second?.close()
    assert.isUndefined(limiter.open()?.enter(b, one))
    assert.strictEqual(limiter.open()?.enter(c, one), "organization")
    assert.isUndefined(limiter.open()?.enter(c, other))
    first?.close()
    assert.isUndefined(limiter.open()?.enter(a, one))
  })
})
