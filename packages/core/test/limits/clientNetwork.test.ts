import { assert, describe, it } from "@effect/vitest"
import { machineOf, networkOf } from "../../src/records/limits/clientNetwork.ts"

const same = (key: (address: string) => string, one: string, other: string) => key(one) === key(other)

describe("the machine and the network of a client", () => {
  it("an IPv4 address is a machine, and its /24 a network", () => {
    assert.isFalse(same(machineOf, "192.0.2.1", "192.0.2.2"))
    assert.isTrue(same(networkOf, "192.0.2.1", "192.0.2.254"))
    assert.isFalse(same(networkOf, "192.0.2.1", "192.0.3.1"))
    assert.isFalse(same(networkOf, "192.0.2.1", "19.20.2.1"))
  })

  it("a /64 is a machine, and a /48 a network", () => {
    assert.isTrue(same(machineOf, "2001:db8:1:2::1", "2001:db8:1:2:ffff:ffff:ffff:ffff"))
    assert.isFalse(same(machineOf, "2001:db8:1:2::1", "2001:db8:1:3::1"))
    assert.isTrue(same(networkOf, "2001:db8:1:2::1", "2001:db8:1:ffff::1"))
    assert.isFalse(same(networkOf, "2001:db8:1:2::1", "2001:db8:2:2::1"))
    assert.isFalse(same(networkOf, "2001:db8::1", "2001:db9::1"))
  })

  it("text that is no address counts by itself", () => {
    for (const text of ["unknown", "", ":", "x:y"])
      assert.deepStrictEqual([machineOf(text), networkOf(text)], [text, text])
  })
})
