/** The decision, and whose credentials open what. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const decision: ReadonlyArray<FaultsOfFile> = [
  {
    area: "authorization",
    file: "packages/core/src/rules/authorization/decide.ts",
    tests: ["packages/core/test/authorization/decide.edges.test.ts", "packages/core/test/authorization/decide.test.ts"],
    faults: [
      {
        id: "decide-pending",
        find: 'caller.account_state === "pending" && !passesPending(policy, caller, ids)',
        put: 'caller.account_state === "pending" && !policy.pending',
        why: "A pending account's key ends itself and no other key."
      },
      {
        id: "decide-ex-member",
        find: '!(policy.ex_member && caller.kind === "session")',
        put: "!policy.ex_member",
        why: "The key of an ex-member does nothing."
      },
      {
        id: "decide-session",
        find: 'if (policy.kind === "session") return refuse("session_required", "session", "api_key")',
        put: "",
        why: "What only a person may do a key may not."
      },
      {
        id: "decide-ends-other",
        find: "return ids.api_key_id === caller.api_key_id ? undefined : refuse",
        put: "return ids.api_key_id !== caller.api_key_id ? undefined : refuse",
        why: "A key may end itself and no other."
      },
      {
        id: "decide-scope",
        find: "if (!reaches(policy, caller, ids)) return",
        put: 'if (reaches(policy, caller, ids) && policy.target === "none") return',
        why: "A key acts inside its scope only."
      },
      {
        id: "decide-effect",
        find: "effectsOf[caller.capability].has(policy.effect) &&",
        put: "",
        why: "A read-only key changes nothing."
      },
      {
        id: "decide-agent-never",
        find: '&& !(caller.capability === "agent" && policy.agent === "never")',
        put: "",
        why: "What is closed to agents an agent key may not do."
      },
      {
        id: "decide-read-mint",
        find: 'read: new Set<CallEffect>(["self", "read"])',
        put: 'read: new Set<CallEffect>(["self", "read", "mint"])',
        why: "A read-only key mints no secrets."
      },
      {
        id: "decide-agent-write",
        find: 'agent: new Set<CallEffect>(["self", "read", "sandbox", "mint"])',
        put: 'agent: new Set<CallEffect>(["self", "read", "write", "sandbox", "mint"])',
        why: "An agent key works in sandboxes only."
      },
      {
        id: "decide-width-order",
        find: "{ organization: 2, project: 1, branch: 0 }",
        put: "{ organization: 2, project: 1, branch: 1 }",
        why: "A branch key does not reach what needs a project key."
      },
      {
        id: "decide-branch",
        find: "ids.branch_id === undefined || ids.branch_id === scope.branch_id",
        put: "true",
        why: "A branch key does not reach another branch."
      },
      {
        id: "decide-agent-made",
        find: 'rule === "not_main" || branch.made_by_agent',
        put: 'rule === "not_main" || true',
        why: "An agent key changes only branches that an agent key made."
      }
    ]
  },
  {
    area: "authorization",
    file: "packages/core/src/services/access/callers.ts",
    tests: [
      "packages/core/test/access/Authentication.sessions.test.ts",
      "packages/core/test/access/Authentication.test.ts"
    ],
    faults: [
      {
        id: "authentication-secret-over",
        find: "DateTime.isGreaterThanOrEqualTo(at.now, presented.dies_at)",
        put: "DateTime.isGreaterThan(at.now, presented.dies_at)",
        why: "A rotated secret is over at its very end."
      },
      {
        id: "authentication-departed",
        find: 'revoked_reason === "membership_ended" ? null : found.role',
        put: "found.role",
        why: "Coming back does not revive the keys that the departure ended."
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
    file: "packages/core/src/services/access/streamAuthority.ts",
    tests: [
      "packages/core/test/access/streamAuthority.ends.test.ts",
      "packages/core/test/access/streamAuthority.test.ts"
    ],
    faults: [
      {
        id: "authority-revoked",
        find: "row.key.revoked_at !== null ||",
        put: "",
        why: "The stream of a revoked key ends."
      },
      {
        id: "authority-same-end",
        find: "!sameEnd(secret.dies_at, principal.secret?.dies_at ?? null)",
        put: "false",
        why: "A rotation ends the streams that the old secret opened."
      },
      {
        id: "authority-window",
        find: "&& DateTime.isLessThan(now, session.refreshUntil(window))",
        put: "",
        why: "The stream of a session ends with its window."
      },
      {
        id: "authority-project",
        find: "project_id === null || Option.isSome(yield* projects.find(org_id, project_id))",
        put: "true",
        why: "The stream of a project that is gone ends."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/services/sign-in/Sessions.ts",
    tests: [
      "packages/core/test/sign-in/Sessions.edges.test.ts",
      "packages/core/test/sign-in/Sessions.test.ts",
      "packages/core/test/sign-in/Sessions.ends.test.ts"
    ],
    faults: [
      {
        id: "session-replay",
        find: 'id_token_replay === "reject"',
        put: 'id_token_replay === "allow"',
        why: "Where replays are rejected an id token begins one session."
      },
      {
        id: "session-spent",
        find: "if (!fresh) return yield* new InvalidIdToken",
        put: "if (fresh === null) return yield* new InvalidIdToken",
        why: "A signed-out id token begins no session."
      },
      {
        id: "session-reuse-grace",
        find: "> 60_000",
        put: "> 600_000",
        why: "The grace of a superseded token is a minute."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/services/sign-in/sessionRows.ts",
    tests: [
      "packages/core/test/sign-in/Sessions.ends.test.ts",
      "packages/core/test/sign-in/Sessions.edges.test.ts",
      "packages/core/test/sign-in/Sessions.test.ts",
      "packages/core/test/sign-in/hostSession.test.ts"
    ],
    faults: [
      {
        id: "session-revoke-event",
        find: "    yield* emit(sessionRevoked(session.active_org_id, session.id))\n",
        put: "",
        why: "The end of a session ends its streams."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/services/keys/ApiKeys.ts",
    tests: ["packages/core/test/keys/ApiKeys.test.ts", "packages/core/test/keys/newSecrets.test.ts"],
    faults: [
      {
        id: "key-report-dead",
        find: "digests.includes(digest) && (dies_at === null || DateTime.isGreaterThan(dies_at, now))",
        put: "digests.includes(digest)",
        why: "A secret that died in a rotation reports no key."
      },
      {
        id: "key-rotate-min",
        find: "DateTime.min(it.dies_at, dies_at)",
        put: "DateTime.max(it.dies_at, dies_at)",
        why: "A rotation never lengthens an old secret's life."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/services/sign-in/acceptInvitation.ts",
    tests: [
      "packages/core/test/organizations/OwnInvitations.test.ts",
      "packages/core/test/sign-in/SignIn.invitations.test.ts"
    ],
    faults: [
      {
        id: "invitation-of-demoted",
        find: "return may ? person : undefined",
        put: "return may || person?.disabled_at === null ? person : undefined",
        why: "An inviter who lost the right brings no one in."
      }
    ]
  }
]
