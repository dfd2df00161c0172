/** Sessions. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const sessions: ReadonlyArray<FaultsOfFile> = [
  {
    area: "credentials",
    file: "packages/core/src/sign-in/sessionRows.ts",
    tests: [
      "packages/core/test/sign-in/Sessions.ends.test.ts",
      "packages/core/test/sign-in/Sessions.edges.test.ts",
      "packages/core/test/sign-in/Sessions.test.ts",
      "packages/core/test/sign-in/hostSession.test.ts"
    ],
    faults: [
      {
        id: "session-spend",
        find: "    yield* store.spend(session.id_token_digest, DateTime.addDuration(now, spentFor(session)))\n",
        put: "",
        why: "A signed-out session does not come back with its id token."
      },
      {
        id: "session-revoke-event",
        find: "    yield* emit(sessionRevoked(session.active_org_id, session.id))\n",
        put: "",
        why: "The end of a session ends its streams."
      },
      {
        id: "host-session-spent",
        find: "? longestCookie : Duration.days(1)",
        put: "? Duration.days(1) : Duration.days(1)",
        why: "A host's session does not sign in a person again who has signed out."
      },
      {
        id: "session-agent-length",
        find: "device.user_agent === null ? null : described(device.user_agent)",
        put: "device.user_agent",
        why: "A long user agent is cut."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/sign-in/hostSession.ts",
    tests: ["packages/core/test/sign-in/hostSession.test.ts"],
    faults: [
      {
        id: "host-session-person",
        find: "sha256(JSON.stringify([user, own]))",
        put: "sha256(own)",
        why: "No person gets the session of another."
      },
      {
        id: "host-session-ended",
        find: "if (yield* store.isSpent(digest)) return yield* new SignInRequired({})",
        put: "",
        why: "The id of an ended session begins none."
      },
      {
        id: "host-session-window",
        find: "Option.isSome(found) && (yield* lasts(found.value))",
        put: "Option.isSome(found)",
        why: "A session is renewed after its window."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/sign-in/Sessions.ts",
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
        id: "session-auth-time",
        find: "session.user_id !== claims.sub || signedIn !== claims.auth_time",
        put: "session.user_id !== claims.sub",
        why: "A token belongs to its sign-in."
      },
      {
        id: "session-reuse",
        find: "if (claims.gen === session.generation) return false",
        put: "if (claims.gen >= 0) return false",
        why: "A superseded token is noticed."
      },
      {
        id: "session-reuse-observe",
        find: 'reuse === "revoke" || (reuse',
        put: 'reuse !== "grace60" || (reuse',
        why: "Where reuse is observed a superseded token is traded in."
      },
      {
        id: "session-reuse-grace",
        find: "> 60_000",
        put: "> 600_000",
        why: "The grace of a superseded token is a minute."
      },
      {
        id: "session-allowlist",
        find: "if (!maySignIn(yield* AccessPolicy, user)) {",
        put: "if (false) {",
        why: "An address that may no longer sign in is not refreshed."
      },
      {
        id: "session-allowlist-revokes",
        find: 'yield* revoke(session, "allowlist")\n',
        put: "",
        why: "A session whose address may no longer sign in is over."
      },
      {
        id: "session-reused-revokes",
        find: 'yield* revoke(session, "reused")\n',
        put: "",
        why: "The session of a reused token is over."
      },
      {
        id: "session-generation",
        find: "active_org_id: yield* activeOrganization(session),\n            generation: session.generation + 1",
        put: "active_org_id: yield* activeOrganization(session),\n            generation: session.generation",
        why: "Each refresh is a new generation."
      },
      {
        id: "session-active",
        find: "Option.isSome(membership) ? session.active_org_id : personalOrgId",
        put: "Option.isNone(membership) ? session.active_org_id : personalOrgId",
        why: "A member who left acts in their personal organization."
      },
      {
        id: "session-switch-member",
        find: "if (Option.isNone(membership)) return yield* new NotAMember({})",
        put: "",
        why: "A session switches only to an organization of its user."
      },
      {
        id: "session-switch-revoked",
        find: "session === undefined || session.revoked_at !== null) return yield* new SignInRequired({})\n          const membership",
        put: "session === undefined) return yield* new SignInRequired({})\n          const membership",
        why: "A session that is over does not switch."
      },
      {
        id: "session-end-other",
        find: "session.user_id !== user || session.revoked_at !== null)",
        put: "session.revoked_at !== null)",
        why: "A user ends only sessions of their own."
      },
      {
        id: "session-end-twice",
        find: "session.user_id !== user || session.revoked_at !== null)",
        put: "session.user_id !== user)",
        why: "A session ends once."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/core/src/sign-in/activeSession.ts",
    tests: [
      "packages/core/test/sign-in/Sessions.test.ts",
      "packages/core/test/sign-in/Sessions.ends.test.ts",
      "packages/core/test/key-issuing/newSecrets.test.ts"
    ],
    faults: [
      {
        id: "living-revoked",
        find: "session === undefined || session.revoked_at !== null",
        put: "session === undefined",
        why: "A session that was ended is not refreshed."
      },
      {
        id: "living-window",
        find: "DateTime.isGreaterThanOrEqualTo(yield* DateTime.now, session.refreshUntil(window))",
        put: "false",
        why: "A session is refreshed within its window only."
      },
      {
        id: "living-disabled",
        find: "user === undefined || user.disabled_at !== null",
        put: "user === undefined",
        why: "The session of a disabled account is not refreshed."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/http/src/sessions/JoseTokenSigner.ts",
    tests: ["packages/http/test/sessions/JoseTokenSigner.test.ts", "packages/http/test/sessions/SigningKeys.test.ts"],
    faults: [
      {
        id: "token-remembered-key",
        find: "Effect.flatMap(Effect.flatMap(ring.find(known.kid), ours), () => claimsNow(known))",
        put: "claimsNow(known)",
        why: "A token of a retired key is refused, also when it was verified before."
      },
      {
        id: "token-remembered-future",
        find: "() => claimsNow(known)",
        put: "() => Effect.succeed(known.claims)",
        why: "A token from the future is refused, also when it was verified before."
      }
    ]
  },
  {
    area: "credentials",
    file: "packages/postgres/src/migrations/0020_host_session_ends.ts",
    tests: ["packages/postgres/test/stores/hostSessionEnds.test.ts"],
    faults: [
      {
        id: "host-session-ended-by-older",
        find: "interval '400 days'",
        put: "interval '1 day'",
        why: "The id of a host's own session begins no other for 400 days, whichever release ends it."
      },
      {
        id: "host-session-ended-bare",
        find: " and new.id_token_digest <> 'host ' || new.id",
        put: "",
        why: "What nothing can begin again is not kept for 400 days."
      }
    ]
  }
]
