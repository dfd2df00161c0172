import { assert, describe, it } from "@effect/vitest"
import { isListed, normalizeEmail } from "../../src/records/accounts/EmailAddress.ts"

const kelvin = "\u212A"

describe("normalizeEmail", () => {
  it.each([
    ["Ada@Example.COM", "ada@example.com"],
    ["ada+tag@example.com", "ada+tag@example.com"],
    ["a.d.a@gmail.com", "a.d.a@gmail.com"],
    ["ada@Bücher.example", "ada@xn--bcher-kva.example"],
    ["ada@xn--BCHER-kva.example", "ada@xn--bcher-kva.example"],
    ['"a@b"@example.com', '"a@b"@example.com'],
    ["a@b@example.com", "a@b@example.com"],
    ["ÄDA@example.com", "Äda@example.com"],
    [`${kelvin}@example.com`, `${kelvin}@example.com`],
    ["用户@例え.jp", "用户@xn--r8jz45g.jp"],
    ["ada@example.com.", "ada@example.com"],
    ["ada@Bücher.example。", "ada@xn--bcher-kva.example"],
    ["ada@exam\u00adple.com", "ada@example.com"],
    ["o'neil@example.co.uk", "o'neil@example.co.uk"]
  ])("%s normalizes to %s", (given, key) => {
    assert.strictEqual(normalizeEmail(given), key)
    assert.strictEqual(normalizeEmail(key), key, "normalization is idempotent")
  })

  it("addresses that only Unicode normalization would make equal stay distinct", () => {
    assert.notStrictEqual(normalizeEmail(`${kelvin}@example.com`), normalizeEmail("k@example.com"))
    assert.notStrictEqual(normalizeEmail("e\u0301@example.com"), normalizeEmail("\u00e9@example.com"))
  })

  it.each([
    "",
    "@",
    "ada",
    "@example.com",
    "ada@",
    "ada@exa mple.com",
    "a da@example.com",
    "ada\n@example.com",
    "ada@example.com\n",
    "ada@example.com\u0001",
    "ada@\u0000example.com",
    "ada@exam\u0007ple.com",
    "ada@example.com/",
    "ada@example.com:80",
    "ada@example.com#x",
    "ada@example.com?x",
    "ada@[127.0.0.1]",
    "ada@0x7f.1",
    "ada@2130706433",
    "ada@127.1",
    "ada@127.0.0.1",
    "ada@127.0.0.1.",
    "ada@.",
    "ada@example.com..",
    "ada@example..com",
    "ada@.example.com",
    "ada@%65xample.com",
    "ada@exa<mple.com",
    `${"a".repeat(320)}@example.com`
  ])("%j is rejected as an address", (given) => {
    assert.isUndefined(normalizeEmail(given))
  })
})

describe("isListed", () => {
  const list = ["Ada@Example.com", "@Team.example", "@bücher.example", "eve@dot.example.", "@dots.example."]
  it.each([
    ["ada@example.com", true],
    ["ADA@EXAMPLE.COM", true],
    ["eve@example.com", false],
    ["ada+x@example.com", false],
    ["anybody@team.example", true],
    ["anybody@TEAM.EXAMPLE", true],
    ["anybody@sub.team.example", false],
    ["anybody@notteam.example", false],
    ["anybody@team.example.evil", false],
    ["a@team.example@evil.example", false],
    ["x@xn--bcher-kva.example", true],
    ["ada@example.com.", true],
    ["anybody@team.example.", true],
    ["eve@dot.example", true],
    ["anybody@dots.example", true],
    ["not an address", false]
  ])("%s is on the list: %s", (address, listed) => {
    assert.strictEqual(isListed(list, address), listed)
  })

  it.each(["", "@", "ada", "@@", "ada@"])("the list entry %j matches no address", (entry) => {
    for (const address of ["ada@example.com", "", "@", "ada@"]) assert.isFalse(isListed([entry], address))
  })
})
