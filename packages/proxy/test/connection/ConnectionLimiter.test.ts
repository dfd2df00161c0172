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
    const release = limits.connection()
    assert.isDefined(release)
    assert.isUndefined(limits.connection())
    release()
    assert.isDefined(limits.connection())
  })

  it("half-open connections are counted by address, and attempts by /24 with refill over time", () => {
    const limits = new ConnectionLimiter({ ...defaultConnectionLimits, half_open: 1, attempts: 1, attempts_burst: 3 })
    assert.isDefined(limits.handshake(peer("198.51.100.1"), 0))
    assert.isUndefined(limits.handshake(peer("198.51.100.1"), 0))
    assert.isDefined(limits.handshake(peer("198.51.100.2"), 0))
    assert.isUndefined(limits.handshake(peer("198.51.100.3"), 0))
    assert.isDefined(limits.handshake(peer("198.51.101.3"), 0))
    assert.isUndefined(limits.handshake(peer("198.51.100.3"), 999))
    assert.isDefined(limits.handshake(peer("198.51.100.3"), 1_000))
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
      [a, a, a, b].map((id) => limits.attempt(id, 0)),
      [true, true, false, true]
    )
    assert.isDefined(limits.endpoint(a))
    assert.isUndefined(limits.endpoint(a))
    assert.isDefined(limits.endpoint(b))
    const [one, other] = [OrgId.make("org-a"), OrgId.make("org-b")]
    const release = limits.organization(one)
    assert.isDefined(limits.organization(one))
    assert.isUndefined(limits.organization(one))
    assert.isDefined(limits.organization(other))
    release?.()
    assert.isDefined(limits.organization(one))
  })
})
