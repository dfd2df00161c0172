import { assert, describe, it } from "@effect/vitest"
import { EndpointId, OrgId } from "@narthex/core"
import { ConnectionLimiter, defaultConnectionLimits } from "../../src/connection/ConnectionLimiter.ts"
import { parsePeer } from "../../src/networks/Address.ts"

const peer = (text: string) => {
  const parsed = parsePeer(text)
  assert.isDefined(parsed)
  return parsed
}

describe("ConnectionLimiter", () => {
  it("a released slot can be taken again", () => {
    const limits = new ConnectionLimiter({ ...defaultConnectionLimits, connections: 1 })
    assert.isTrue(limits.takeConnection())
    assert.isFalse(limits.takeConnection())
    limits.giveConnection()
    assert.isTrue(limits.takeConnection())
  })

  it("half-open connections are counted by address, and attempts by /24 with refill over time", () => {
    const limits = new ConnectionLimiter({ ...defaultConnectionLimits, half_open: 1, attempts: 1, attempts_burst: 3 })
    assert.isTrue(limits.takeHandshake(peer("198.51.100.1"), 0))
    assert.isFalse(limits.takeHandshake(peer("198.51.100.1"), 0))
    assert.isTrue(limits.takeHandshake(peer("198.51.100.2"), 0))
    assert.isFalse(limits.takeHandshake(peer("198.51.100.3"), 0))
    assert.isTrue(limits.takeHandshake(peer("198.51.101.3"), 0))
    assert.isFalse(limits.takeHandshake(peer("198.51.100.3"), 999))
    assert.isTrue(limits.takeHandshake(peer("198.51.100.3"), 1_000))
    limits.giveHandshake(peer("198.51.100.3"))
    assert.isTrue(limits.takeHandshake(peer("198.51.100.3"), 2_000))
  })

  it("one network has a part of the half-open connections, and a refused one takes nothing", () => {
    const limits = new ConnectionLimiter({ ...defaultConnectionLimits, half_open: 2, half_open_per_network: 3 })
    const taken = (address: string) => limits.takeHandshake(peer(address), 0)
    assert.deepStrictEqual(
      ["2001:db8::1", "2001:db8::2", "2001:db8::3", "2001:db8:0:1::1", "2001:db8:0:2::1"].map(taken),
      [true, true, false, true, false]
    )
    assert.isTrue(taken("2001:db8:1::1"))
    limits.giveHandshake(peer("2001:db8::1"))
    assert.deepStrictEqual(["2001:db8:0:2::1", "2001:db8::3"].map(taken), [true, false])
    limits.giveHandshake(peer("2001:db8:0:1::1"))
    assert.deepStrictEqual(["2001:db8::3", "2001:db8::4"].map(taken), [true, false])
  })

  it("connections and attempts are counted by endpoint, and connections by organization too", () => {
    const limits = new ConnectionLimiter({
      ...defaultConnectionLimits,
      org_connections: 2,
      endpoint_connections: 1,
      endpoint_attempts_burst: 2,
      endpoint_attempts: 1
    })
    const [a, b] = [EndpointId.make("ep-a"), EndpointId.make("ep-b")]
    assert.deepStrictEqual(
      [a, a, a, b].map((id) => limits.attempt(id, false, 0)),
      [true, true, false, true]
    )
    // Known users have their own.
    assert.isTrue(limits.attempt(a, true, 0))
    assert.isTrue(limits.takeEndpoint(a))
    assert.isFalse(limits.takeEndpoint(a))
    assert.isTrue(limits.takeEndpoint(b))
    limits.giveEndpoint(a)
    assert.isTrue(limits.takeEndpoint(a))
    const [one, other] = [OrgId.make("org-a"), OrgId.make("org-b")]
    assert.isTrue(limits.takeOrganization(one))
    assert.isTrue(limits.takeOrganization(one))
    assert.isFalse(limits.takeOrganization(one))
    assert.isTrue(limits.takeOrganization(other))
    limits.giveOrganization(one)
    assert.isTrue(limits.takeOrganization(one))
  })
})
