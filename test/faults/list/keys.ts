/** API keys. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const keys: ReadonlyArray<FaultsOfFile> = [
  {
    area: "credentials",
    file: "packages/core/src/keys/KeySecret.ts",
    tests: ["packages/core/test/keys/KeySecret.test.ts"],
    faults: [
      {
        id: "secret-checksum",
        find: "pattern.test(text) && hasChecksum(text)",
        put: "pattern.test(text)",
        why: "A mistyped key is noticed by its checksum."
      },
      {
        id: "secret-crc",
        find: "crc & 1 ? 0xedb88320 : 0",
        put: "crc & 1 ? 0xedb88321 : 0",
        why: "The checksum is CRC-32."
      },
      {
        id: "secret-unsigned",
        find: "(crc ^ 0xffffffff) >>> 0",
        put: "(crc ^ 0xffffffff) >>> 1",
        why: "The checksum has 32 bits."
      },
      {
        id: "secret-hint",
        find: "slice(-4)",
        put: "slice(0, 4)",
        why: "A hint shows the last four characters."
      },
      {
        id: "secret-pad",
        find: 'digits.padStart(width, "0")',
        put: "digits",
        why: "A key always has the same length."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/key-issuing/ApiKeys.ts",
    tests: ["packages/core/test/key-issuing/ApiKeys.test.ts", "packages/core/test/key-issuing/newSecrets.test.ts"],
    faults: [
      {
        id: "key-pending",
        find: 'if (accountState(yield* AccessPolicy, user) === "pending")',
        put: "if (false)",
        why: "A pending account makes no keys."
      },
      {
        id: "key-member",
        find: "if (Option.isNone(yield* accounts.findMembership(org, user.id)))",
        put: "if (false)",
        why: "Only a member makes keys of an organization."
      },
      {
        id: "key-limit",
        find: "(yield* store.countLive(org, user.id, now)) >= limit",
        put: "(yield* store.countLive(org, user.id, now)) > limit",
        why: "A user has at most as many keys as the limit says."
      },
      {
        id: "key-scope-gone",
        find: "          yield* lockScope(org, wanted.scope)\n",
        put: "",
        why: "A key is not made for what has just ended."
      },
      {
        id: "key-expiry",
        find: "Duration.days(wanted.expires_in_days)",
        put: "Duration.hours(wanted.expires_in_days)",
        why: "The life of a key counts in days."
      },
      {
        id: "key-rotate-creator",
        find: "row.key.created_by.id !== creator.user.id)",
        put: "false)",
        why: "Only its maker rotates a key."
      },
      {
        id: "key-rotate-expired",
        find: 'if (row.key.expiredAt(now)) return yield* new Conflict({ reason: "The key has expired. Create a new one." })',
        put: "",
        why: "An expired key is not rotated."
      },
      {
        id: "key-rotate-min",
        find: "DateTime.min(it.dies_at, dies_at)",
        put: "DateTime.max(it.dies_at, dies_at)",
        why: "A rotation never lengthens an old secret's life."
      },
      {
        id: "key-rotate-dead",
        find: "DateTime.isGreaterThan(it.dies_at, now))\n            .map",
        put: "DateTime.isLessThan(it.dies_at, now))\n            .map",
        why: "A secret that is over does not come back with a rotation."
      },
      {
        id: "key-rotate-event",
        find: "          yield* emit(apiKeyRevoked(row.org_id, id))\n          return new",
        put: "          return new",
        why: "A rotation ends the streams of the old secret."
      },
      {
        id: "key-list-own",
        find: "all ? null : caller.user.id",
        put: "null",
        why: "A member sees their own keys."
      },
      {
        id: "key-list-narrow",
        find: 'caller.kind === "api_key" && caller.scope.type !== "organization"',
        put: "false",
        why: "A narrow key sees itself alone."
      },
      {
        id: "key-revoke-event",
        find: "          yield* emit(apiKeyRevoked(org, id))\n",
        put: "",
        why: "A revoked key's streams end."
      },
      {
        id: "key-report-dead",
        find: "digests.includes(digest) && (dies_at === null || DateTime.isGreaterThan(dies_at, now))",
        put: "digests.includes(digest)",
        why: "A secret that died in a rotation reports no key."
      },
      {
        id: "key-scope-org",
        find: "const project = yield* projects.find(org, requestedId(ProjectId, scope.project_id))\n          if (Option.isNone(project))",
        put: "const project = yield* projects.findAnywhere(requestedId(ProjectId, scope.project_id))\n          if (Option.isNone(project))",
        why: "A key's project is one of its organization."
      },
      {
        id: "key-scope-branch",
        find: "scope.project_id !== undefined && scope.project_id !== branch.project_id",
        put: "false",
        why: "A key's branch is one of its project."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/keys/KeyUses.ts",
    tests: ["packages/core/test/keys/KeyUses.test.ts"],
    faults: [
      {
        id: "use-first",
        find: "key.last_used_at === null && !uses.has(key.id)",
        put: "key.last_used_at === null && uses.has(key.id)",
        why: "The first use of a key is written at once."
      },
      {
        id: "use-often",
        find: "return first ? write([use]) : undefined",
        put: "return write([use])",
        why: "Later uses are gathered."
      },
      {
        id: "use-end",
        find: "      yield* Effect.addFinalizer(() => flush)\n",
        put: "",
        why: "Gathered uses are written at the end."
      },
      {
        id: "use-flush",
        find: "        uses.clear()\n",
        put: "",
        why: "A use is written once."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/keys/KeyDigester.ts",
    tests: ["packages/core/test/keys/KeyDigester.test.ts"],
    faults: [
      {
        id: "digest-former",
        find: "(old) => [current, ...old] as const",
        put: "() => [current] as const",
        why: "A secret is found under a former pepper."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/keys/hmacByHash.ts",
    tests: ["packages/core/test/keys/hmacByHash.test.ts"],
    faults: [
      {
        id: "hmac-latin1",
        find: 'inner.write(text, block, "utf8")',
        put: 'inner.write(text, block, "binary")',
        why: "Two texts do not have one digest because bits of their characters are lost."
      },
      {
        id: "hmac-secret-stays",
        find: "inner.fill(0, block, end)",
        put: "inner.fill(0, end, end)",
        why: "A secret is gone from shared memory when its digest is made."
      }
    ]
  }
]
