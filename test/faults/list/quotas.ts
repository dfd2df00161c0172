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
        id: "quota-person-others",
        find: "organization_person(own.org_id) = it.person",
        put: "true",
        why: "An organization that counts for another owner is not counted for this one."
      },
      {
        id: "quota-person-scheduled",
        find: "o.action in ('create_timeline', 'create_branch')",
        put: "false",
        why: "Branches that wait for their copy take no disk."
      },
      {
        id: "quota-person-removed",
        find: "(b.deleted_at is not null) = exists (",
        put: "b.deleted_at is not null or not exists (",
        why: "Branches whose data is removed take no disk of their person."
      },
      {
        id: "quota-deleted-branch-free",
        find: "where not d.branch_id in (select",
        put: "where true or not d.branch_id in (select",
        why: "The disk of a branch counts until its data is gone."
      },
      {
        id: "size-of-half-made-data",
        find: "case when making then null else $2::timestamptz end",
        put: "$2::timestamptz",
        why: "A branch whose data is being made or replaced has no size."
      },
      {
        id: "size-expected-shown",
        find: "case when measured_at is not null then bytes end as size_bytes",
        put: "bytes as size_bytes",
        why: "What is expected of a copy is not a size that was measured."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/runner/DiskMeasurement.ts",
    tests: ["packages/core/test/runner/DiskMeasurement.test.ts"],
    faults: [
      {
        id: "measurement-hangs-the-loop",
        find: "abandonable(turn.withPermitsIfAvailable(1)(measured), Effect.sleep(deadline), grace)",
        put: "Effect.map(turn.withPermitsIfAvailable(1)(measured), Result.succeed)",
        why: "A machine that does not answer stops no later measurement."
      },
      {
        id: "measurements-pile-up",
        find: "abandonable(turn.withPermitsIfAvailable(1)(measured),",
        put: "abandonable(Effect.asSome(measured),",
        why: "While a measurement that was given up has not ended, no other begins."
      },
      {
        id: "measurement-without-nudge",
        find: 'data["status"] === "finished" &&',
        put: 'data["status"] === "never" &&',
        why: "A branch that was made or reset is measured at once."
      },
      {
        id: "measurement-without-pause",
        find: "yield* Effect.sleep(rest)",
        put: "yield* Effect.yieldNow",
        why: "Many changes lead to one measurement."
      },
      {
        id: "measurement-rest-constant",
        find: "Duration.max(pause, Duration.times(took, restFactor))",
        put: "pause",
        why: "Measuring takes a small part of the time."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/core/src/projects/Branch.ts",
    tests: ["packages/core/test/quotas/BranchSizes.test.ts"],
    faults: [
      {
        id: "size-of-former-data",
        find: "changing ? { size_bytes: null, size_measured_at: null } : ",
        put: "",
        why: "The size of former data is not shown for data that replaces it."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/cli/src/output/renderTable.ts",
    tests: ["packages/cli/test/table.test.ts"],
    faults: [
      {
        id: "size-in-words-for-programs",
        find: "if (now !== undefined && cell instanceof Bytes) return",
        put: "if (cell instanceof Bytes) return",
        why: "A pipe gets sizes in bytes."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/api/src/schemas/sizeText.ts",
    tests: ["packages/api/test/sizeText.test.ts"],
    faults: [
      {
        id: "size-unit-before-rounding",
        find: "Number((bytes / 1000 ** n).toFixed(1)) < 1000",
        put: "bytes / 1000 ** n < 1000",
        why: "A size of 999,960 bytes is shown as 1.0 MB."
      }
    ]
  },
  {
    area: "quotas",
    file: "packages/local-postgres/src/computes/diskUsage.ts",
    tests: ["packages/local-postgres/test/diskUsage.test.ts"],
    faults: [
      {
        id: "one-branch-hides-all-sizes",
        find: "if (measured.length === 0) return",
        put: "if (failures.length > 0) return",
        why: "A branch that cannot be read does not keep the others from being measured."
      },
      {
        id: "size-without-what-cannot-be-read",
        find: "complaints.every((line) => gone.test(line))",
        put: "true",
        why: "What cannot be read is not counted as nothing: the last size applies."
      },
      {
        id: "no-size-while-files-go",
        find: "if (code !== 0 && !(code === 1 &&",
        put: "if (code !== 0 && !(code === 0 &&",
        why: "A file that goes while a branch is measured does not keep its size from being known."
      },
      {
        id: "nothing-counted-is-nothing",
        find: "return code === 1 && isGone ? 0 : undefined",
        put: "return 0",
        why: "A program that has counted nothing does not make a branch empty."
      }
    ]
  }
]
