/** Networks and rules of an allowlist. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const allowlistRules: ReadonlyArray<FaultsOfFile> = [
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/Cidr.ts",
    tests: [
      "packages/core/test/allowlist/Cidr.test.ts",
      "packages/core/test/allowlist/addresses.test.ts",
      "packages/core/test/allowlist/IpAllowlist.lapsed.test.ts"
    ],
    faults: [
      {
        id: "cidr-host-bits",
        find: "return network === spell(address, prefix)\n    ? Result",
        put: 'return network !== ""\n    ? Result',
        why: "A network with bits after its prefix is refused."
      },
      {
        id: "cidr-bare",
        find: "return alone === undefined\n",
        put: "return alone !== null\n",
        why: "An address without a prefix length is not a network of the API."
      },
      {
        id: "cidr-rest",
        find: "address === undefined || rest.length > 0",
        put: "address === undefined",
        why: "A second slash is refused."
      },
      {
        id: "cidr-widest",
        find: "if (!(given <= widest))",
        put: "if (!(given <= 128))",
        why: "An IPv4 prefix has at most 32 bits."
      },
      {
        id: "cidr-leading-zero",
        find: "/^(0|[1-9]\\d{0,2})$/",
        put: "/^\\d{1,3}$/",
        why: "A prefix length has no leading zeros."
      },
      {
        id: "cidr-mapped-narrow",
        find: "if (mapped && given < mappedPrefix)",
        put: "if (mapped && given <= mappedPrefix)",
        why: "The network of all mapped addresses is accepted."
      },
      {
        id: "cidr-mapped-wide",
        find: "if (mapped && given < mappedPrefix)\n    return",
        put: "if (false)\n    return",
        why: "A mapped network wider than IPv4 is refused."
      },
      {
        id: "cidr-mapped-prefix",
        find: "mapped ? given - mappedPrefix : given",
        put: "given",
        why: "A mapped network is the IPv4 network of the same size."
      },
      {
        id: "cidr-alone",
        find: "length === undefined ? widest :",
        put: "length === undefined ? 0 :",
        why: "An address alone stands for itself alone."
      },
      {
        id: "cidr-octal",
        find: "if (quad.test(text)) return",
        put: "if (ipaddr.IPv4.isValid(text)) return",
        why: "Only dotted quads in decimal are IPv4."
      },
      {
        id: "cidr-embedded",
        find: "if (start === 0 || !quad.test(tail)) return undefined",
        put: "if (start === 0) return undefined",
        why: "A quad at the end of an IPv6 address has no leading zeros."
      },
      {
        id: "cidr-embedded-value",
        find: "(c * 256 + d).toString(16)",
        put: "(d * 256 + c).toString(16)",
        why: "A quad at the end of an IPv6 address keeps its bytes in order."
      },
      {
        id: "cidr-zone",
        find: '|| plain.includes("%")',
        put: "",
        why: "An address with a zone is not a network."
      },
      {
        id: "cidr-mapped-address",
        find: "address.isIPv4MappedAddress() ? address.toIPv4Address() : address",
        put: "address",
        why: "An IPv4-mapped address is IPv4."
      },
      {
        id: "cidr-contains-kind",
        find: "base.kind() === peer.kind() && peer.match(base, prefix)",
        put: "base.kind() === peer.kind()",
        why: "A network holds only the addresses inside it."
      },
      {
        id: "cidr-contains-unreadable",
        find: "if (peer === undefined) return false",
        put: "if (peer === undefined) return true",
        why: "An address that cannot be read is in no network."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/IpRule.ts",
    tests: [
      "packages/core/test/allowlist/IpAllowlist.lapsed.test.ts",
      "packages/core/test/allowlist/IpAllowlist.test.ts",
      "packages/core/test/allowlist/IpAllowlist.changes.test.ts"
    ],
    faults: [
      {
        id: "rule-instant",
        find: "DateTime.isLessThan(now, end)",
        put: "DateTime.isLessThanOrEqualTo(now, end)",
        why: "At its very end a rule is no longer in force."
      },
      {
        id: "rule-expired",
        find: "onSome: (end) => DateTime.isLessThan(now, end)",
        put: "onSome: () => true",
        why: "A rule whose end has passed admits no address."
      },
      {
        id: "rule-forever",
        find: "onNone: () => true,",
        put: "onNone: () => false,",
        why: "A rule without an end stays in force."
      },
      {
        id: "rule-empty",
        find: "inForce.length === 0 || inForce.some",
        put: "inForce.some",
        why: "A list without rules restricts nothing."
      },
      {
        id: "rule-every",
        find: "inForce.some((rule) => contains",
        put: "inForce.every((rule) => contains",
        why: "One rule that holds the address is enough."
      },
      {
        id: "rule-lapsed-restricts",
        find: "const inForce = rules.filter((rule) => rule.inForce(now))\n  return inForce.length",
        put: "const inForce = rules\n  return inForce.length",
        why: "A lapsed rule neither admits nor restricts."
      },
      {
        id: "rule-list-lapsed",
        find: "const rules = stored.filter((rule) => rule.inForce(now))",
        put: "const rules = stored",
        why: "Lapsed rules are not listed."
      },
      {
        id: "rule-restricted",
        find: "restricted: rules.length > 0",
        put: "restricted: stored.length > 0",
        why: "A list of lapsed rules restricts nothing."
      },
      {
        id: "rule-opens-latest",
        find: "DateTime.max(a, b)",
        put: "DateTime.min(a, b)",
        why: "The project opens with the end of its last rule."
      },
      {
        id: "rule-opens-never",
        find: "Option.map(Option.all(ends), (instants)",
        put: "Option.map(Option.some(ends.flatMap((end) => Option.toArray(end))), (instants)",
        why: "A project with a rule without an end never opens."
      },
      {
        id: "rule-opens-empty",
        find: "return ends.length === 0\n    ? Option.none()",
        put: "return ends.length < 0\n    ? Option.none()",
        why: "A project without rules has nothing to open."
      },
      {
        id: "rule-ttl",
        find: "Duration.seconds(seconds)",
        put: "Duration.millis(seconds)",
        why: "The time of a rule counts in seconds."
      },
      {
        id: "rule-label-trim",
        find: '(input.label ?? "").trim()',
        put: 'input.label ?? ""',
        why: "Labels are trimmed."
      }
    ]
  }
]
