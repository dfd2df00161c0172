/** The addresses and URLs that webhooks may lead to. Holds docs/design/webhooks.md H8. */
import { assert, describe, it } from "@effect/vitest"
import { Cidr } from "../../src/records/allowlist/Cidr.ts"
import { isPublicAddress, mayReach, whyNoReceiver } from "../../src/records/webhooks/receiverUrl.ts"

describe("an address of a receiver", () => {
  it("may be global unicast", () => {
    for (const address of ["8.8.8.8", "1.1.1.1", "193.99.144.80", "2606:4700:4700::1111", "2a00:1450:4001::200e"])
      assert.isTrue(isPublicAddress(address), address)
  })

  it("may not be inside, special, or a translation, in whatever spelling", () => {
    for (const address of [
      ...["0.0.0.0", "0.1.2.3", "127.0.0.1", "127.255.255.254", "10.1.2.3", "172.16.0.1", "172.31.255.255"],
      ...["192.168.1.1", "169.254.169.254", "100.64.0.1", "100.127.255.255", "192.0.0.1", "192.0.2.1", "198.18.0.1"],
      ...["198.51.100.1", "203.0.113.1", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255"],
      ...["192.88.99.1", "::", "::1", "0:0:0:0:0:0:0:1", "fe80::1", "febf::1", "fc00::1", "fd12:3456::1", "ff02::1"],
      ...["fec0::1", "::ffff:127.0.0.1", "::ffff:7f00:1", "::ffff:8.8.8.8", "::127.0.0.1", "::7f00:1"],
      ...["64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b:1::a00:1", "2002:7f00:1::", "2002:a00:1::1"],
      ...["2001:0:7f00:1::", "2001:db8::1", "3fff::1", "100::1", "4000::1", "8000::1", "fe80::1%eth0"],
      ...["127.1", "0x7f000001", "2130706433", "0177.0.0.1", "", "localhost", "8.8.8.8:80"]
    ])
      assert.isFalse(isPublicAddress(address), address)
  })

  it("may be in a network that the operator has named, and that alone in addition", () => {
    const networks = [Cidr.make("10.0.0.0/8"), Cidr.make("fd00::/8")]
    for (const address of ["10.1.2.3", "::ffff:10.1.2.3", "fd12::1", "8.8.8.8"])
      assert.isTrue(mayReach(address, networks), address)
    for (const address of ["192.168.0.1", "127.0.0.1", "fc00::1"]) assert.isFalse(mayReach(address, networks), address)
  })
})

describe("the URL of a receiver", () => {
  it("is taken where it leads outside by HTTPS", () => {
    for (const url of ["https://hooks.example.com/", "https://hooks.example.com:8443/a?b=c", "https://8.8.8.8/"])
      assert.strictEqual(whyNoReceiver(url, []), undefined, url)
  })

  it("is refused with a sentence otherwise", () => {
    for (const url of [
      ...["", "hooks.example.com", "http://hooks.example.com/", "ftp://hooks.example.com/", "https://"],
      ...["https://ada:secret@hooks.example.com/", "https://hooks.example.com/#part", "https://127.0.0.1/"],
      ...[
        "https://2130706433/",
        "https://0x7f.1/",
        "https://0177.0.0.1/",
        "https://[::1]/",
        "https://[::ffff:7f00:1]/"
      ],
      ...["https://10.0.0.1/", "https://169.254.169.254/latest/", `https://example.com/${"a".repeat(2048)}`]
    ])
      assert.match(whyNoReceiver(url, []) ?? "", /^Expected /, url)
  })

  it("is refused with white space, control characters or text that storage does not take", () => {
    for (const text of ["\u0000", "\n", "\t", " ", "\u001b[2J", "\u202e", "\ud800", "\u200b"])
      assert.match(whyNoReceiver(`https://hooks.example.com/${text}a`, []) ?? "", /^Expected /, JSON.stringify(text))
    assert.strictEqual(whyNoReceiver("https://hooks.bücher.example/größe", []), undefined)
  })

  it("may name an address of a network that the operator has named", () => {
    assert.strictEqual(whyNoReceiver("https://10.0.0.1/", [Cidr.make("10.0.0.0/8")]), undefined)
  })
})
