import { assert, describe, it } from "@effect/vitest"
import type { AllowlistSnapshot } from "@narthex/api"
import { EndpointId, ProjectId } from "@narthex/core"
import { Result } from "effect"
import { type Allowlist, compile, newer } from "../../src/allowlist/Allowlist.ts"
import { type Admitted, checkAllowlist } from "../../src/allowlist/checkAllowlist.ts"
import { parsePeer } from "../../src/networks/Address.ts"

const project_id = ProjectId.make("prj-a")
const noon = Date.parse("2026-01-01T12:00:00Z")
const at = (seconds: number) => new Date(noon + 1_000 * seconds).toISOString()
const maxStale = 600_000

interface Given {
  readonly version?: number
  readonly rules?: AllowlistSnapshot["rules"]
  readonly server_now?: string
}

/** A list that was requested at 0 of the monotonic clock and answered at noon of the server's clock. */
const list = ({ rules = [], server_now = at(0), version = 1 }: Given): Allowlist => {
  const compiled = compile({ project_id, version, rules, server_now }, 0)
  assert.isDefined(compiled)
  return compiled
}

const rule = (cidr: string, expires_at: string | null = null) => ({ cidr, expires_at })

const verdict = (allowlist: Allowlist, address: string, now = 0) => {
  const peer = parsePeer(address)
  assert.isDefined(peer)
  const result = checkAllowlist(allowlist, { endpoint_id: EndpointId.make("ep-a"), project_id, peer }, now, maxStale)
  return Result.isSuccess(result) ? result.success.client_address : result.failure._tag
}

describe("the type Admitted", () => {
  it("an object of the same shape is not assignable to Admitted", () => {
    const peer = parsePeer("198.51.100.1")
    assert.isDefined(peer)
    const shape = { endpoint_id: EndpointId.make("ep-a"), project_id, peer, client_address: peer.text }
    // @ts-expect-error the class has a private name, so nothing else is assignable to it
    const forged: Admitted = shape
    assert.strictEqual(forged.client_address, peer.text)
  })
})

describe("checkAllowlist", () => {
  it("an empty list admits every address", () => {
    assert.strictEqual(verdict(list({}), "198.51.100.1"), "198.51.100.1")
  })

  it("a rule admits the addresses that it covers, of its own family only", () => {
    const v4 = list({ rules: [rule("0.0.0.0/0")] })
    assert.strictEqual(verdict(v4, "::ffff:198.51.100.1"), "198.51.100.1")
    assert.strictEqual(verdict(v4, "2001:db8::1"), "NotListed")
    assert.strictEqual(verdict(list({ rules: [rule("::/0")] }), "198.51.100.1"), "NotListed")
  })

  it.each(["nonsense", "10.0.0.0/33", "010.0.0.0/8", "198.51.100.1", ""])(
    "a list whose only rule is %j admits no address: an invalid rule matches nothing and restricts the project",
    (cidr) => {
      assert.strictEqual(verdict(list({ rules: [rule(cidr)] }), "198.51.100.1"), "NotListed")
    }
  )

  it("a rule with an invalid expiry admits no address", () => {
    assert.strictEqual(verdict(list({ rules: [rule("0.0.0.0/0", "soon")] }), "198.51.100.1"), "NotListed")
  })

  it("a list whose rules expire after the snapshot admits no address: a local expiry may only deny", () => {
    const lapsing = list({ rules: [rule("198.51.100.0/24", at(60))] })
    assert.strictEqual(verdict(lapsing, "198.51.100.1", 59_999), "198.51.100.1")
    assert.strictEqual(verdict(lapsing, "198.51.100.1", 60_000), "NotListed")
    assert.strictEqual(verdict(lapsing, "203.0.113.1", 60_000), "NotListed")
  })

  it("a snapshot whose rules had expired when the server took it admits every address", () => {
    const fresh = list({ rules: [rule("198.51.100.0/24", at(60))], server_now: at(60) })
    assert.strictEqual(verdict(fresh, "203.0.113.1"), "203.0.113.1")
  })

  it("a stale list with rules admits no address, and a stale empty list admits every address", () => {
    const restricted = list({ rules: [rule("198.51.100.0/24")] })
    assert.strictEqual(verdict(restricted, "198.51.100.1", maxStale), "198.51.100.1")
    assert.strictEqual(verdict(restricted, "198.51.100.1", maxStale + 1), "RulesTooOld")
    assert.strictEqual(verdict(list({}), "198.51.100.1", 100 * maxStale), "198.51.100.1")
  })

  it("the list of another project admits no address", () => {
    const peer = parsePeer("198.51.100.1")
    assert.isDefined(peer)
    const other = { endpoint_id: EndpointId.make("ep-a"), project_id: ProjectId.make("prj-b"), peer }
    assert.isTrue(Result.isFailure(checkAllowlist(list({}), other, 0, maxStale)))
  })

  it("a list is not replaced by an older version or by an older answer of the same version", () => {
    const [first, second] = [list({ version: 1, server_now: at(9) }), list({ version: 2 })]
    assert.strictEqual(newer(first, second), second)
    assert.strictEqual(newer(second, first), second)
    const [early, late] = [list({ server_now: at(1) }), list({ server_now: at(2) })]
    assert.strictEqual(newer(early, late), late)
    assert.strictEqual(newer(late, early), late)
    assert.strictEqual(newer(undefined, early), early)
  })

  it("a snapshot with an invalid clock is rejected", () => {
    assert.isUndefined(compile({ project_id, version: 1, rules: [], server_now: "now" }, 0))
  })
})
