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
        find: "others.length >= maxRules",
        put: "others.length > maxRules",
        why: "A project lists at most a thousand networks."
      },
      {
        id: "allowlist-most-same",
        find: "it.inForce(now) && it.cidr !== rule.cidr",
        put: "it.inForce(now)",
        why: "A full list takes a new version of a rule that it has."
      },
      {
        id: "allowlist-most-lapsed",
        find: "it.inForce(now) && it.cidr !== rule.cidr",
        put: "it.cidr !== rule.cidr",
        why: "Lapsed rules do not fill a list."
      },
      {
        id: "allowlist-add-announce",
        find: "          yield* announce(project)\n          return { rule",
        put: "          return { rule",
        why: "Proxies learn of a new rule."
      },
      {
        id: "allowlist-lapsed-stored",
        find: "yield* store.purgeLapsed(project.id, now)",
        put: "",
        why: "A lapsed rule is not replaced but gone."
      },
      {
        id: "allowlist-remove-lapsed",
        find: "rule === undefined || !rule.inForce(now)",
        put: "rule === undefined",
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
        find: "          yield* store.remove(project.id, network)\n",
        put: "",
        why: "A removed rule is gone."
      },
      {
        id: "allowlist-remove-announce",
        find: "          yield* store.remove(project.id, network)\n          yield* announce(project)",
        put: "          yield* store.remove(project.id, network)",
        why: "Proxies learn of a removed rule."
      },
      {
        id: "allowlist-reset-announce",
        find: "Effect.andThen(store.clear(project.id), announce(project))",
        put: "store.clear(project.id)",
        why: "Proxies learn that a list was emptied."
      },
      {
        id: "allowlist-reset",
        find: "Effect.andThen(store.clear(project.id), announce(project))",
        put: "announce(project)",
        why: "A reset removes every rule."
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
        find: "version: yield* store.version(project.id)",
        put: "version: 1",
        why: "The event of a change carries the new version."
      },
      {
        id: "allowlist-announce-project",
        find: "allowlistChanged(project.org_id, { project_id: project.id,",
        put: "allowlistChanged(project.id as never, { project_id: project.id,",
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
        find: "version: version + 1",
        put: "version",
        why: "Each change raises the list's version."
      },
      {
        id: "list-put-replaces",
        find: "[...rules.filter((it) => it.cidr !== rule.cidr), rule]",
        put: "[...rules, rule]",
        why: "A network is listed once."
      },
      {
        id: "list-put-order",
        find: "[...rules.filter((it) => it.cidr !== rule.cidr), rule]",
        put: "[rule, ...rules.filter((it) => it.cidr !== rule.cidr)]",
        why: "Rules are in the order in which they were listed."
      },
      {
        id: "list-put-former",
        find: "rules.find((it) => it.cidr === rule.cidr)",
        put: "rules.find((it) => it.cidr !== rule.cidr)",
        why: "A replaced rule is answered."
      },
      {
        id: "list-remove-answer",
        find: "after.length < rules.length",
        put: "true",
        why: "Removing a network that is not listed says so."
      },
      {
        id: "list-remove",
        find: "rules.filter((it) => it.cidr !== cidr)",
        put: "rules.slice(0, -1)",
        why: "The rule of that network is removed and no other."
      },
      {
        id: "list-clear",
        find: "change(project, () => [undefined, []])",
        put: "change(project, (rules) => [undefined, rules])",
        why: "A cleared list is empty."
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
