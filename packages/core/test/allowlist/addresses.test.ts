/** Addresses in every spelling, against two other parsers: Node's `net`, and the one of URLs. */
import { isIP } from "node:net"
import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { times } from "../../../../test/harness/long.ts"
import { isAddress, parseCidr, parseCidrOrAddress } from "../../src/records/allowlist/Cidr.ts"

const below = (most: number) => Math.floor(Math.random() * most)
const anyOf = <A>(all: ReadonlyArray<A>): A => all[below(all.length)] as A

const spelledGroup = (group: number) => {
  const digits = group.toString(16).padStart(anyOf([1, 4]), "0")
  return anyOf([digits, digits.toUpperCase()])
}

/** Eight groups in one of their spellings: zeros compressed or not, the end as a quad or not. */
const spelled = (groups: ReadonlyArray<number>): string => {
  const quad = Math.random() < 0.4
  const ending = quad
    ? [
        groups
          .slice(6)
          .flatMap((group) => [group >> 8, group & 255])
          .join(".")
      ]
    : groups.slice(6).map(spelledGroup)
  const parts = [...groups.slice(0, 6).map(spelledGroup), ...ending]
  const first = parts.findIndex((part) => /^0+$/.test(part))
  if (first === -1 || Math.random() < 0.3) return parts.join(":")
  const after = parts.findIndex((part, at) => at > first && !/^0+$/.test(part))
  const rest = after === -1 ? [] : parts.slice(after)
  return `${parts.slice(0, first).join(":")}::${rest.join(":")}`
}

const groups = () => {
  const mapped = Math.random() < 0.2
  return Array.from({ length: 8 }, (_, at) => {
    if (mapped && at < 6) return at === 5 ? 0xffff : 0
    return Math.random() < 0.5 ? 0 : below(0x1_0000)
  })
}

const quads = () => Array.from({ length: 4 }, () => anyOf([0, 1, 8, 10, 99, 127, 192, 255, below(256)])).join(".")

/** A spelling with one character changed, doubled, removed, or something before or after it. */
const damaged = (text: string) => {
  const at = below(text.length + 1)
  const odd = anyOf([
    "0",
    "00",
    ".",
    ":",
    "::",
    " ",
    "\t",
    "%",
    "%1",
    "g",
    "x",
    "-",
    "/",
    "1",
    "9",
    "ffff",
    "256",
    "[",
    "]"
  ])
  return anyOf([
    text.slice(0, at) + odd + text.slice(at),
    text.slice(0, at) + odd + text.slice(at + 1),
    text.slice(0, at) + text.slice(at + 1),
    `0${text}`,
    `${text}:80`,
    `${text}%x`,
    ` ${text}`
  ])
}

/** The address as URLs write it, IPv4 for mapped ones. */
const byUrl = (text: string): string => {
  if (isIP(text) === 4) return text
  const host = new URL(`http://[${text}]/`).hostname.slice(1, -1)
  const mapped = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/.exec(host)
  if (mapped === null) return host
  const [high, low] = [Number.parseInt(mapped[1] ?? "", 16), Number.parseInt(mapped[2] ?? "", 16)]
  return [high >> 8, high & 255, low >> 8, low & 255].join(".")
}

describe("addresses", () => {
  it("an address is taken exactly if Node takes it and it has no zone, and means what a URL means by it", () => {
    for (let round = 0; round < times(4_000, 400_000); round++) {
      const well = Math.random() < 0.2 ? quads() : spelled(groups())
      const text = Math.random() < 0.5 ? well : damaged(well)
      const expected = isIP(text) !== 0 && !text.includes("%")
      assert.strictEqual(isAddress(text), expected, JSON.stringify(text))
      if (!expected) continue
      const network = Result.getOrThrow(parseCidrOrAddress(text))
      assert.strictEqual(network.slice(0, network.indexOf("/")), byUrl(text), text)
    }
  })

  it.each([
    ["64:ff9b::192.0.2.1/128", "64:ff9b::c000:201/128"],
    ["2001:db8::192.0.2.1/128", "2001:db8::c000:201/128"],
    ["0:0:0:0:0:ffff:10.0.0.1/128", "10.0.0.1/32"],
    ["::FFFF:10.0.0.0/104", "10.0.0.0/8"],
    ["::1.2.3.4/128", "::102:304/128"]
  ])("the valid spelling %s is %s", (given, canonical) => {
    assert.deepStrictEqual(parseCidr(given), Result.succeed(canonical as never))
  })

  it.each([
    "::ffff:010.0.0.1/128",
    "::ffff:10.0.0.01/128",
    "010.0.0.1/32",
    "10.0.0.1:80/32",
    "::ffff:256.0.0.1/128",
    "10.0.0.1%x/32",
    "1.2.3.4::/128"
  ])("%s is refused, because parsers read it differently or not at all", (given) => {
    assert.isTrue(Result.isFailure(parseCidr(given)))
  })
})
