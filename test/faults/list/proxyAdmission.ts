/** Which clients the proxy admits, and by which list. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const proxyAdmission: ReadonlyArray<FaultsOfFile> = [
  {
    area: "proxy",
    file: "packages/proxy/src/allowlist/Allowlist.ts",
    tests: [
      "packages/proxy/test/allowlist/edges.test.ts",
      "packages/proxy/test/allowlist/Allowlist.test.ts",
      "packages/proxy/test/control-plane/AllowlistCache.test.ts"
    ],
    faults: [
      {
        id: "rules-lapsed-instant",
        find: "until <= server_now) continue",
        put: "until < server_now) continue",
        why: "A rule that ends at the snapshot's instant has ended."
      },
      {
        id: "rules-lapsed",
        find: "if (until !== undefined && until <= server_now) continue",
        put: "",
        why: "A rule that had expired by the server's clock does not count."
      },
      {
        id: "rules-restricted-unreadable",
        find: "    restricted = true\n",
        put: "    restricted = until !== undefined\n",
        why: "A rule that cannot be read still restricts the project."
      },
      {
        id: "rules-bare-address",
        find: 'rule.cidr.includes("/") ? parseNetwork(rule.cidr) : undefined',
        put: "parseNetwork(rule.cidr)",
        why: "An address without a prefix on a list matches nothing."
      },
      {
        id: "rules-forever",
        find: "rule.expires_at === null ? Number.POSITIVE_INFINITY",
        put: "rule.expires_at === null ? server_now + 1",
        why: "A rule without an end lasts."
      },
      {
        id: "rules-ends",
        find: "if (until !== Number.POSITIVE_INFINITY) expiries.push(until)",
        put: "",
        why: "The end of a rule is known beforehand."
      },
      {
        id: "rules-ends-order",
        find: "expiries.sort((a, b) => a - b)",
        put: "expiries.sort((a, b) => b - a)",
        why: "The next end is the earliest."
      },
      {
        id: "rules-unknown-clock",
        find: "if (server_now === undefined) return undefined",
        put: "if (server_now === undefined && snapshot.rules.length === 0) return undefined",
        why: "A snapshot with an invalid clock is rejected."
      },
      {
        id: "rules-newer-version",
        find: "candidate.version > known.version",
        put: "candidate.version >= known.version",
        why: "Of one version the later answer counts."
      },
      {
        id: "rules-older-version",
        find: "candidate.version === known.version && candidate.server_now >= known.server_now",
        put: "candidate.server_now >= known.server_now",
        why: "An older version never replaces a newer."
      },
      {
        id: "rules-same-version",
        find: "candidate.version === known.version && candidate.server_now",
        put: "candidate.version > known.version && candidate.server_now",
        why: "A later answer of the same version replaces the former."
      },
      {
        id: "rules-clock",
        find: "list.server_now + (now - list.requested_at)",
        put: "list.server_now",
        why: "The server's clock advances after its answer."
      },
      {
        id: "rules-covers-open",
        find: "!list.restricted ||",
        put: "list.restricted &&",
        why: "A list without rules admits every address."
      },
      {
        id: "rules-covers-family",
        find: "(peer.family === 4 ? list.v4 : list.v6)",
        put: "(peer.family === 6 ? list.v4 : list.v6)",
        why: "An address is looked up among the networks of its family."
      },
      {
        id: "rules-covers-instant",
        find: ".coveredUntil(peer.bytes) > serverTime",
        put: ".coveredUntil(peer.bytes) >= serverTime",
        why: "At the instant of its expiry a rule admits no address."
      },
      {
        id: "rules-lapsed-since",
        find: "first !== undefined && first <= serverTime",
        put: "first !== undefined && first < serverTime",
        why: "A rule has expired at the instant of its expiry."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/allowlist/checkAllowlist.ts",
    tests: [
      "packages/proxy/test/allowlist/Allowlist.test.ts",
      "packages/proxy/test/control-plane/AllowlistCache.test.ts"
    ],
    faults: [
      {
        id: "admit-stale",
        find: "list.restricted && now - list.requested_at > maxStale",
        put: "list.restricted && now - list.requested_at > 2 * maxStale",
        why: "Rules that are too old let no address in."
      },
      {
        id: "admit-stale-instant",
        find: "now - list.requested_at > maxStale",
        put: "now - list.requested_at >= maxStale",
        why: "Rules count up to the greatest age, included."
      },
      {
        id: "admit-stale-open",
        find: "list.restricted && now",
        put: "now",
        why: "An empty list restricts nothing, however old it is."
      },
      {
        id: "admit-other-project",
        find: "list.project_id === candidate.project_id && covers",
        put: "covers",
        why: "The list of another project admits no client."
      },
      {
        id: "admit-covers",
        find: "&& covers(list, candidate.peer, now)",
        put: "",
        why: "Only an address on the list is admitted."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/control-plane/AllowlistCache.ts",
    tests: [
      "packages/proxy/test/control-plane/AllowlistCache.edges.test.ts",
      "packages/proxy/test/control-plane/AllowlistCache.test.ts"
    ],
    faults: [
      {
        id: "lists-recheck",
        find: "        recheck(entry)\n      }\n      const mentioned",
        put: "      }\n      const mentioned",
        why: "A new list ends connections that it no longer covers."
      },
      {
        id: "lists-gone",
        find: "        entry.list = undefined\n        recheck(entry)",
        put: "        recheck(entry)",
        why: "Deleting a project cuts its connections."
      },
      {
        id: "lists-hint",
        find: "entry.notified = Math.max(entry.notified, version)",
        put: "entry.notified = 0",
        why: "A change notification loads the list."
      },
      {
        id: "lists-check-lapsed",
        find: "notified > list.version || expiredSince(list, now) ?",
        put: "notified > list.version ?",
        why: "After a rule has expired a fresh list decides whether the project opens."
      },
      {
        id: "lists-unknown",
        find: "if (entry.list === undefined) return yield* new RulesUnknown",
        put: "if (entry.list === null) return yield* new RulesUnknown",
        why: "A project whose list was never loaded admits no client."
      },
      {
        id: "lists-watch-now",
        find: "if (entry.list === undefined || !covers(entry.list, admitted.peer, monotonic())) cut()",
        put: "",
        why: "A change between the check and the watch cuts at once."
      },
      {
        id: "lists-unwatch",
        find: "entry.watched.delete(watched)\n        entry",
        put: "entry",
        why: "A connection that has ended is not cut."
      },
      {
        id: "lists-expire",
        find: "for (const [, entry] of expired) recheck(entry)",
        put: "",
        why: "An expired rule cuts its connections."
      },
      {
        id: "lists-expire-refresh",
        find: "return Effect.ignore(refresh(watched.map(([project]) => project)))",
        put: "return Effect.void",
        why: "After a rule has expired the list is requested again."
      },
      {
        id: "lists-seen",
        find: "list === undefined || now - seen_at >= keepFresh",
        put: "list === undefined",
        why: "A list that was not used recently is loaded before the check."
      }
    ]
  }
]
