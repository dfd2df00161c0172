/** The ends of database credentials. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "credentials"
const ends = ["packages/core/test/provisioning/Credentials.ends.test.ts"]
const lists = ["packages/core/test/provisioning/Credentials.lists.test.ts"]
const reconciling = ["packages/core/test/runner/RoleReconciler.test.ts"]

export const credentials: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/key-issuing/ApiKeys.ts",
    tests: ends,
    faults: [
      {
        id: "credentials-key",
        find: "yield* roles.revoke({ api_key_ids: [id] }, now)",
        put: "yield* roles.revoke({ api_key_ids: [] }, now)",
        why: "A revoked key ends the credentials that it minted."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/provisioning/Credentials.ts",
    tests: ends,
    faults: [
      {
        id: "credentials-held",
        find: "yield* held(caller, access, now)",
        put: "yield* Effect.asVoid(Effect.succeed(held))",
        why: "A caller whose key or membership has ended since the call was admitted mints nothing."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/provisioning/lifetime.ts",
    tests: lists,
    faults: [
      {
        id: "credentials-agent-day",
        find: "if (latest !== null && DateTime.isGreaterThan(asked, latest))",
        put: "if (latest !== null && latest === asked)",
        why: "An agent cannot ask for more than a day."
      },
      {
        id: "credentials-with-key",
        find: "return Result.succeed(earliest(asked, withKey))",
        put: "return Result.succeed(asked)",
        why: "A credential expires with the key that minted it."
      },
      {
        id: "credentials-own-branch",
        find: "branch.made_by_key_id === caller.api_key_id &&",
        put: "branch.made_by_agent &&",
        why: "An agent's credential lives a day at most on a branch that another key made."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/authorization/visibleRoles.ts",
    tests: lists,
    faults: [
      {
        id: "credentials-visible",
        find: 'caller.kind === "api_key" && caller.capability === "agent"',
        put: 'caller.kind === "session" && caller.user.id === ""',
        why: "An agent key sees the credentials that it minted, and no others."
      }
    ]
  },
  {
    area,
    file: "packages/core/src/runner/RoleReconciler.ts",
    tests: reconciling,
    faults: [
      {
        id: "credentials-turn",
        find: "yield* Ref.set(ended, refs.length < batch ? null : (refs.at(-1)?.branch_id ?? null))",
        put: "yield* Ref.set(ended, null)",
        why: "Branches whose operations are stuck do not keep others from their turn."
      },
      {
        id: "credentials-rights",
        find: "return needs && (yield* run(correct(branch)))",
        put: "return needs && false",
        why: "Rights that a session made on a running compute are corrected."
      },
      {
        id: "credentials-unanswered",
        find: "const due = rounds >= roundsUnanswered",
        put: "const due = false",
        why: "A compute that cannot be compared has its roles applied all the same."
      },
      {
        id: "credentials-one-pending",
        find: "if ((yield* applying(ref.branch_id)) !== undefined) return false",
        put: "",
        why: "One unfinished operation is enough."
      },
      {
        id: "credentials-still-runs",
        find: "if ((yield* pending.unfinished(ref.branch_id, { limit: 1 })).length > 0) return false",
        put: "",
        why: "The compute of a deleted branch runs until its deletion has ended."
      }
    ]
  }
]
