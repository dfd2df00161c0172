/** Who is calling, and who still follows a stream. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const authentication: ReadonlyArray<FaultsOfFile> = [
  {
    area: "authorization",
    file: "packages/http/src/server/HttpConventions.ts",
    tests: ["packages/http/test/handlers/paths.test.ts", "packages/http/test/handlers/refusals.test.ts"],
    faults: [
      {
        id: "path-semicolon",
        find: "if (/[;#]/.test(path) || ",
        put: "if (",
        why: "A raw ; or # makes an unknown path."
      },
      {
        id: "path-respelled",
        find: "allowedMethods(unescaped(path).toLowerCase()).length > 0",
        put: "false",
        why: "A path has one spelling."
      },
      {
        id: "problem-detail",
        find: "detail = detailOf(problem.code)",
        put: "detail",
        why: "Every problem says what to do next."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/http/src/middleware/Authentication.ts",
    tests: ["packages/http/test/handlers/refusals.test.ts"],
    faults: [
      {
        id: "bearer-words",
        find: "Effect.fail(new InvalidTokenProblem({}))",
        put: "Effect.fail(new UnauthenticatedProblem({}))",
        why: "A malformed credential is invalid, not missing."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/server/src/settings/mode.ts",
    tests: ["packages/server/test/settings/mode.test.ts"],
    faults: [
      {
        id: "mode-hops",
        find: "trusted_hops > 0",
        put: "false",
        why: "Trusted hops mean production."
      },
      {
        id: "mode-url",
        find: "url === null || isLoopbackHost(new URL(url).hostname)",
        put: "url === null || url !== null",
        why: "A public URL means production."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/guard/callers.ts",
    tests: [
      "packages/core/test/guard/Authentication.sessions.test.ts",
      "packages/core/test/guard/Authentication.test.ts"
    ],
    faults: [
      {
        id: "authentication-disabled",
        find: "if (found === undefined || found.user.disabled_at !== null) return",
        put: "if (found === undefined) return",
        why: "The key of a disabled account opens nothing."
      },
      {
        id: "authentication-secret-over",
        find: "DateTime.isGreaterThanOrEqualTo(at.now, presented.dies_at)",
        put: "DateTime.isGreaterThan(at.now, presented.dies_at)",
        why: "A rotated secret is over at its very end."
      },
      {
        id: "authentication-secret",
        find: "presented === undefined || secretIsOver || ended",
        put: "presented === undefined || ended",
        why: "A rotated secret opens nothing after its grace."
      },
      {
        id: "authentication-revoked",
        find: "|| ended ||",
        put: "||",
        why: "A revoked key opens nothing."
      },
      {
        id: "authentication-expired",
        find: "|| key.expiredAt(at.now))",
        put: ")",
        why: "An expired key opens nothing."
      },
      {
        id: "authentication-departed",
        find: 'revoked_reason === "membership_ended" ? null : found.role',
        put: "found.role",
        why: "Coming back does not revive the keys that the departure ended."
      },
      {
        id: "authentication-forged-user",
        find: "user.id !== claims.sub || user.disabled_at",
        put: "user.disabled_at",
        why: "A token speaks for its session's own user."
      },
      {
        id: "authentication-session-user",
        find: "user.id !== claims.sub || user.disabled_at !== null",
        put: "user.id !== claims.sub",
        why: "The session of a disabled account is over."
      },
      {
        id: "authentication-session-revoked",
        find: "session.revoked_at !== null || DateTime",
        put: "DateTime",
        why: "A revoked session is over."
      },
      {
        id: "authentication-window",
        find: "session.revoked_at !== null || DateTime.isGreaterThanOrEqualTo(at.now, session.refreshUntil(window))",
        put: "session.revoked_at !== null",
        why: "A session ends with its window."
      },
      {
        id: "authentication-token",
        find: "if (DateTime.isGreaterThanOrEqualTo(at.now, expires_at)) return Result.fail(new TokenExpired({}))",
        put: "",
        why: "An expired token has to be refreshed."
      },
      {
        id: "authentication-demotion",
        find: ".filter((permission) => stored.has(permission))",
        put: "",
        why: "A demotion acts at once."
      },
      {
        id: "authentication-promotion",
        find: "[...permissionsOf(claims.role)].filter",
        put: "[...stored].filter",
        why: "A promotion acts at the next refresh."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/guard/Authentication.ts",
    tests: [
      "packages/core/test/guard/Authentication.sessions.test.ts",
      "packages/core/test/guard/Authentication.test.ts"
    ],
    faults: [
      {
        id: "authentication-use",
        find: "uses.noteAt(found.value.key.key, from, at.now)",
        put: "undefined as Effect.Effect<void> | undefined",
        why: "The use of a key is recorded."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/requestSpan.ts",
    tests: ["packages/core/test/requestSpan.test.ts"],
    faults: [
      {
        id: "span-untraced",
        find: "fiber.getRef(References.TracerEnabled) ? traced(call) : call",
        put: "traced(call)",
        why: "Without tracing a request makes no spans."
      },
      {
        id: "span-traced",
        find: "fiber.getRef(References.TracerEnabled) ? traced(call) : call",
        put: "call",
        why: "With tracing a request has its spans."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/authorization/effectivePermissions.ts",
    tests: ["packages/api/test/effectivePermissions.test.ts", "packages/core/test/authorization/Roles.test.ts"],
    faults: [
      {
        id: "usable-scope",
        find: "width[scope] >= width[use.reach] &&\n",
        put: "",
        why: "A narrow key shows no permission that reaches further."
      },
      {
        id: "usable-own",
        find: '(capability !== "agent" || effect === "read")',
        put: "true",
        why: "An agent key shows only those own permissions that read."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/guard/streamAuthority.ts",
    tests: [
      "packages/core/test/guard/streamAuthority.ends.test.ts",
      "packages/core/test/guard/streamAuthority.test.ts"
    ],
    faults: [
      {
        id: "authority-revoked",
        find: "row.key.revoked_at !== null ||",
        put: "",
        why: "The stream of a revoked key ends."
      },
      {
        id: "authority-expired",
        find: "|| row.key.expiredAt(now)) return",
        put: ") return",
        why: "The stream of an expired key ends."
      },
      {
        id: "authority-secret",
        find: "secret === undefined || !sameEnd",
        put: "!sameEnd",
        why: "The stream of a secret that was removed ends."
      },
      {
        id: "authority-same-end",
        find: "!sameEnd(secret.dies_at, principal.secret?.dies_at ?? null)",
        put: "false",
        why: "A rotation ends the streams that the old secret opened."
      },
      {
        id: "authority-session",
        find: "session !== undefined && session.revoked_at === null &&",
        put: "session !== undefined &&",
        why: "The stream of a revoked session ends."
      },
      {
        id: "authority-window",
        find: "&& DateTime.isLessThan(now, session.refreshUntil(window))",
        put: "",
        why: "The stream of a session ends with its window."
      },
      {
        id: "authority-disabled",
        find: "user === undefined || user.disabled_at !== null",
        put: "user === undefined",
        why: "The stream of a disabled account ends."
      },
      {
        id: "authority-pending",
        find: 'if (accountState(yield* AccessPolicy, user) === "pending") return false',
        put: "",
        why: "A pending account follows no stream."
      },
      {
        id: "authority-member",
        find: 'membership === undefined || !(yield* Roles).permissionsOf(membership.role).has("read")',
        put: "membership === undefined",
        why: "A member whose role may not read follows no stream."
      },
      {
        id: "authority-project",
        find: "project_id === null || Option.isSome(yield* projects.find(org_id, project_id))",
        put: "true",
        why: "The stream of a project that is gone ends."
      }
    ]
  }
]
