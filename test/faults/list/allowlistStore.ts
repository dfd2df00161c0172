/** The allowlist of a project and its store. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const allowlistStore: ReadonlyArray<FaultsOfFile> = [
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/IpAllowlist.ts",
    tests: [
      "packages/core/test/allowlist/IpAllowlist.lapsed.test.ts",
      "packages/core/test/allowlist/IpAllowlist.test.ts",
      "packages/core/test/allowlist/IpAllowlist.changes.test.ts"
    ],
    faults: [
      {
        id: "allowlist-most",
        find: "others.length < maxRules",
        put: "others.length <= maxRules",
        why: "A project lists at most a thousand networks."
      },
      {
        id: "allowlist-most-same",
        find: "inForce.filter(({ cidr }) => cidr !== rule.cidr)",
        put: "inForce",
        why: "A full list takes a new version of a rule that it has."
      },
      {
        id: "allowlist-most-lapsed",
        find: "const others = inForce.filter(",
        put: "const others = rules.filter(",
        why: "Lapsed rules do not fill a list."
      },
      {
        id: "allowlist-announce",
        find: "            yield* emit(allowlistChanged(project.org_id, { project_id: project.id, version }))\n",
        put: "",
        why: "Proxies learn of a change."
      },
      {
        id: "allowlist-lapsed-stored",
        find: "removed: networksOf(rules.filter((it) => !it.inForce(now)))",
        put: "removed: []",
        why: "A lapsed rule is not replaced but gone."
      },
      {
        id: "allowlist-remove-lapsed",
        find: "it.cidr === network && it.inForce(now)",
        put: "it.cidr === network",
        why: "A lapsed rule cannot be removed: it is not listed."
      },
      {
        id: "allowlist-remove-spelling",
        find: "const network = yield* Effect.fromResult(parseCidrOrAddress(cidr))",
        put: "const network = (yield* Effect.fromResult(parseCidrOrAddress(cidr))) && cidr",
        why: "A network is removed however it is spelled."
      },
      {
        id: "allowlist-remove",
        find: "removed: [network]",
        put: "removed: []",
        why: "A removed rule is gone."
      },
      {
        id: "allowlist-reset",
        find: "removed: networksOf(rules)",
        put: "removed: networksOf(rules.slice(1))",
        why: "A reset removes every rule."
      },
      {
        id: "allowlist-replaced",
        find: "replaced: others.length < inForce.length",
        put: "replaced: others.length < rules.length",
        why: "A lapsed rule does not count as replaced."
      },
      {
        id: "allowlist-check-lapsed",
        find: "rule.inForce(now) && contains(rule.cidr, address)",
        put: "contains(rule.cidr, address)",
        why: "A lapsed rule matches nothing in a check."
      },
      {
        id: "allowlist-check-open",
        find: "allowed: permits(stored, address, now)",
        put: "allowed: matched !== undefined",
        why: "A check of an empty list allows every address."
      },
      {
        id: "allowlist-empty-path",
        find: 'if (cidr === "") return yield* new IpRuleNotFound({ cidr })',
        put: "",
        why: "An empty path names no rule."
      },
      {
        id: "allowlist-version",
        find: "project_id: project.id, version })",
        put: "project_id: project.id, version: 1 })",
        why: "The event of a change carries the new version."
      },
      {
        id: "allowlist-announce-project",
        find: "allowlistChanged(project.org_id,",
        put: "allowlistChanged(project.id as never,",
        why: "The event of a change belongs to the project's organization."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/IpAllowlistStore.ts",
    tests: ["packages/core/test/allowlist/IpAllowlistStore.test.ts"],
    faults: [
      {
        id: "list-version",
        find: "const version = list.version + 1",
        put: "const version = list.version",
        why: "Each change raises the list's version."
      },
      {
        id: "list-put-replaces",
        find: "new Set([...removed, ...Option.toArray(Option.map(put, (rule) => rule.cidr))])",
        put: "new Set(removed)",
        why: "A network is listed once."
      },
      {
        id: "list-put-order",
        find: "[...rules.filter((rule) => !gone.has(rule.cidr)), ...Option.toArray(put)]",
        put: "[...Option.toArray(put), ...rules.filter((rule) => !gone.has(rule.cidr))]",
        why: "Rules are in the order in which they were listed."
      },
      {
        id: "list-remove",
        find: "new Set([...removed,",
        put: "new Set([...removed.slice(1),",
        why: "The rule of that network is removed and no other."
      },
      {
        id: "list-decide",
        find: "decide(list.rules)",
        put: "decide([])",
        why: "A change is decided by the stored rules."
      },
      {
        id: "list-empty-version",
        find: "const empty: List = { version: 0, rules: [] }",
        put: "const empty: List = { version: 1, rules: [] }",
        why: "A project that never had a rule has version 0."
      }
    ]
  }
]
