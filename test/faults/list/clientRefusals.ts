/** The clients that allowlists refused. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const clientRefusals: ReadonlyArray<FaultsOfFile> = [
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/ClientRefusal.ts",
    tests: ["packages/core/test/allowlist/ClientRefusal.test.ts"],
    faults: [
      {
        id: "refusals-role-form",
        find: "role !== null && isRoleName(role) ? role : null",
        put: "role",
        why: "What a stranger types where the role belongs may be a password."
      },
      {
        id: "refusals-merged",
        find: "merged.set(key, same === undefined ? refusal : merge(same, refusal))",
        put: "merged.set(key, refusal)",
        why: "Several entries of one address at one endpoint are added up."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/core/src/allowlist/ClientRefusals.ts",
    tests: ["packages/http/test/handlers/clientRefusals.test.ts"],
    faults: [
      {
        id: "refusals-visible-roles",
        find: "store.list(project, visibleRoles(caller), page)",
        put: "store.list(project, visibleRoles(caller) && null, page)",
        why: "Members and agent keys do not see the roles of others."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/outcomes/PendingRefusals.ts",
    tests: ["packages/proxy/test/outcomes/PendingRefusals.test.ts"],
    faults: [
      {
        id: "refusals-pending-bounded",
        find: "if (entries.size > mostOfProject) this.#dropOldest(project_id)",
        put: "if (entries.size > 10 * mostOfProject) this.#dropOldest(project_id)",
        why: "A flood at one project does not fill the report."
      },
      {
        id: "refusals-pending-fair",
        find: "b[1].size > a[1].size ? b : a",
        put: "b[1].size < a[1].size ? b : a",
        why: "A flood at some projects does not hide a refusal at another."
      }
    ]
  },
  {
    area: "proxy",
    file: "packages/proxy/src/control-plane/RefusalReports.ts",
    tests: ["packages/proxy/test/control-plane/RefusalReports.test.ts"],
    faults: [
      {
        id: "refusals-same-number",
        find: "if (unanswered !== undefined && now() - unanswered.made < keptFor) return unanswered",
        put: "",
        why: "A report without an answer is sent again as it was."
      },
      {
        id: "refusals-older-server",
        find: 'return sent.failure._tag === "ReportRejected" ? afterRejection : interval',
        put: "return interval",
        why: "A control plane without the call is not asked every ten seconds."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/commands/ipAllowRefusals.ts",
    tests: ["packages/cli/test/ipAllowRefusals.test.ts"],
    faults: [
      {
        id: "refusals-offered-though-allowed",
        find: "    return allowed\n",
        put: '    return address === ""\n',
        why: "An address that may connect is not offered to be allowed."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/requests/recentRefusals.ts",
    tests: ["packages/console/test/project/overview.test.ts"],
    faults: [
      {
        id: "refusals-of-all-days-as-of-an-hour",
        find: "DateTime.toEpochMillis(last_at) >= since",
        put: "since > 0",
        why: "The overview counts the refusals of the last hour."
      },
      {
        id: "refusals-counted-by-endpoint",
        find: "new Set(recent.map(({ address }) => address)).size",
        put: "recent.length",
        why: "An address that was refused at two endpoints is one client."
      },
      {
        id: "refusals-overview-fails-with-them",
        find: "(read) => Effect.orElseSucceed(read, () => undefined)",
        put: "(read) => read",
        why: "The overview is shown by an API that does not list refused clients."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/routes/allowlistRoutes.tsx",
    tests: ["packages/console/test/project/allowlist.test.ts"],
    faults: [
      {
        id: "refusals-at-deleted-endpoints-linked",
        find: "listed.length < mostRead ? new",
        put: "listed.length === 0 ? new",
        why: "A refusal at a deleted endpoint has no link."
      },
      {
        id: "refusals-console-prefilled",
        find: "return Result.isSuccess(parseCidrOrAddress(address)) ? {",
        put: 'return address !== "" ? {',
        why: "A link cannot put any text into the form."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/core/src/retention.ts",
    tests: ["packages/core/test/retention.test.ts"],
    faults: [
      {
        id: "refusals-retention",
        find: "  yield* (yield* ClientRefusalStore).purge(before(refusalLimits.retention))\n",
        put: "  yield* ClientRefusalStore\n",
        why: "Addresses of refused clients are purged after seven days."
      }
    ]
  },
  {
    area: "allowlist",
    file: "packages/postgres/src/allowlist/PostgresClientRefusalStore.ts",
    tests: ["packages/postgres/test/stores/ClientRefusalStore.test.ts"],
    faults: [
      {
        id: "refusals-once",
        find: "where last.sequence < excluded.sequence returning 1",
        put: "returning 1",
        why: "A report that is sent again counts once."
      },
      {
        id: "refusals-bounded",
        find: "order by r.position desc offset $2",
        put: "order by r.position offset $2",
        why: "The last refusals of a project stay, and older ones go."
      }
    ]
  }
]
