import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { contains, parseCidr, parseCidrOrAddress } from "../../src/records/allowlist/Cidr.ts"

describe("parseCidr", () => {
  it.each([
    ["10.0.0.0/8", "10.0.0.0/8"],
    ["2001:0DB8::/32", "2001:db8::/32"],
    ["::1/128", "::1/128"],
    ["::ffff:10.0.0.0/104", "10.0.0.0/8"],
    ["::ffff:203.0.113.7/128", "203.0.113.7/32"],
    ["0.0.0.0/0", "0.0.0.0/0"],
    [" 10.0.0.0/8", "10.0.0.0/8"],
    ["10.0.0.0/8 ", "10.0.0.0/8"],
    ["\t2001:db8::/32\u00a0\r\n", "2001:db8::/32"]
  ])("parseCidr normalizes %s to %s", (given, canonical) => {
    assert.deepStrictEqual(parseCidr(given), Result.succeed(canonical as never))
  })

  it.each([
    "010.0.0.0/8",
    "0x0a.0.0.0/8",
    "10/8",
    "1.2.3.4/33",
    "10.0.0.0/08",
    "1.2.3.4/",
    "/8",
    "",
    "1.2.3.4/8/8",
    "10.0.0.0 /8",
    "10.0.0.0/ 8",
    "10.0.0. 0/8",
    " ",
    "fe80::1%eth0/64",
    "::ffff:10.0.0.0/8",
    "2001:db8::/129",
    "10.0.0.0-10.0.0.9",
    "10.0.0.1",
    "::1"
  ])("parseCidr refuses %j", (given) => {
    assert.isTrue(Result.isFailure(parseCidr(given)), JSON.stringify(parseCidr(given)))
  })

  it.each([
    ["10.0.0.5/24", "10.0.0.0/24"],
    ["203.0.113.7", "203.0.113.7/32"],
    ["2001:DB8::1", "2001:db8::1/128"],
    ["::ffff:203.0.113.7", "203.0.113.7/32"],
    [" 203.0.113.7 ", "203.0.113.7/32"]
  ])("parseCidr refuses %s and suggests %s", (given, meant) => {
    const refused = parseCidr(given)
    assert.isTrue(Result.isFailure(refused))
    if (Result.isFailure(refused)) assert.include(refused.failure.message, `Did you mean ${meant}?`)
  })
})

describe("parseCidrOrAddress", () => {
  it.each([
    ["203.0.113.7", "203.0.113.7/32"],
    ["::1", "::1/128"],
    ["::ffff:203.0.113.7", "203.0.113.7/32"],
    ["10.0.0.0/8", "10.0.0.0/8"],
    [" 203.0.113.7\n", "203.0.113.7/32"]
  ])("parseCidrOrAddress normalizes %s to %s", (given, canonical) => {
    assert.deepStrictEqual(parseCidrOrAddress(given), Result.succeed(canonical as never))
  })

  it.each(["", ".", "..", "10.0.0.1/", "10.0.0.5/24", "localhost"])("parseCidrOrAddress refuses %j", (given) => {
    assert.isTrue(Result.isFailure(parseCidrOrAddress(given)))
  })
})

describe("contains", () => {
  it.each([
    ["203.0.113.0/24", "203.0.113.9", true],
    ["203.0.113.0/24", "::ffff:203.0.113.9", true],
    ["203.0.113.0/24", "::ffff:cb00:7109", true],
    ["203.0.113.0/24", "198.51.100.1", false],
    ["0.0.0.0/0", "::1", false],
    ["::/0", "203.0.113.9", false],
    ["0.0.0.0/0", "not an address", false]
  ])("%s contains %s: %s", (network, address, expected) => {
    assert.strictEqual(contains(network as never, address), expected)
  })
})
