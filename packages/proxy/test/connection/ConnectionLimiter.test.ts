import { assert, describe, it } from "@effect/vitest"
import { EndpointId } from "@narthex/core"
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

  it("a refusal names the limit of the endpoint that is reached", () => {
    const limits = new ConnectionLimiter({
      ...defaultConnectionLimits,
      endpoint_connections: 1,
      endpoint_attempts_burst: 2,
      endpoint_attempts: 1
    })
    const [a, b] = [EndpointId.make("ep-a"), EndpointId.make("ep-b")]
    const release = limits.endpoint(a, 0)
    assert.isFunction(release)
    assert.strictEqual(limits.endpoint(a, 0), "connections")
    assert.strictEqual(limits.endpoint(a, 0), "attempts")
    assert.isFunction(limits.endpoint(b, 0))
  })
})
