/** Quotas: what is compared, and what is counted. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const quotas: ReadonlyArray<FaultsOfFile> = [
  {
    area: "quotas",
    file: "packages/core/src/quotas/Quota.ts",
    tests: ["packages/core/test/quotas/Quota.test.ts"],
    faults: [
      {
        id: "quota-one-too-many",
        find: "held + more > allowed",
        put: "held + more > allowed + 1",
        why: "The last place of a quota is the number that is allowed."
      },
      {
        id: "quota-override-ignored",
        find: "return overrides[quota] ?? general",
        put: "return general",
        why: "The operator's number for an organization applies."
      },
      {
        id: "quota-personal-like-team",
        find: 'personal && quota !== "organizations"',
        put: "false && personal && quota",
        why: "A personal organization has its share of the quotas."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/quotas/Quotas.ts",
    tests: ["packages/core/test/quotas/Quotas.test.ts"],
    faults: [
      {
        id: "quota-copy-not-expected",
        find: "if (bytes > before) yield* store.expectBytes(org, to, bytes)",
        put: "",
        why: "Copies that are scheduled count before they are measured."
      },
      {
        id: "quota-copy-of-any-size",
        find: "Math.max(1, bytes)",
        put: "1",
        why: "A copy takes as much disk as its parent."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/quotas/QuotaStore.ts",
    tests: ["packages/core/test/quotas/QuotaStore.test.ts", "packages/core/test/quotas/Quotas.test.ts"],
    faults: [
      {
        id: "quota-scheduled-starts-free",
        find: 'unfinished.some((it) => it.action === "start_compute" && it.endpoint_id === endpoint.id)',
        put: "unfinished.length < 0",
        why: "A start that is scheduled takes the place of a running compute, with a suspend behind it too."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/postgres/src/quotas/PostgresQuotaStore.ts",
    tests: ["packages/postgres/test/stores/QuotaStore.test.ts"],
    faults: [
      {
        id: "quota-lock-none",
        find: "hashtextextended(name, 0)",
        put: "hashtextextended(name || random()::text, 0)",
        why: "Parallel creations of an organization wait for each other."
      },
      {
        id: "quota-deleted-branch-free",
        find: "where not d.branch_id in (select",
        put: "where true or not d.branch_id in (select",
        why: "The disk of a branch counts until its data is gone."
      }
    ]
  }
]
