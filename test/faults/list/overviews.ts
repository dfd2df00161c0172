/** What answers include: who sees what of it. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "authorization"
const handlers = ["packages/http/test/handlers/overviews.test.ts"]
const contract = ["packages/postgres/test/stores/OverviewStore.test.ts"]

export const overviews: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/core/src/overviews/Overviews.ts",
    tests: handlers,
    faults: [
      {
        id: "overviews-people-for-narrow-keys",
        find: "mayListMembers ? asked : { ...asked, people: [] }",
        put: "asked",
        why: "A key of one project lists no members, so it sees no names of people (docs/design/api.md A32)."
      },
      {
        id: "overviews-endpoints-beyond-the-branch",
        find: "branchScopeOf(caller))",
        put: "null)",
        why: "A branch key sees the endpoints of its branch alone (docs/design/api.md A30)."
      }
    ]
  },
  {
    area,
    file: "packages/http/src/handlers/projectParts.ts",
    tests: handlers,
    faults: [
      {
        id: "overviews-every-part",
        find: "asked.includes(part)",
        put: "asked.length > 0 || asked.includes(part)",
        why: "A part that is not asked for is neither read nor answered (docs/design/api.md A28)."
      }
    ]
  },
  {
    area,
    file: "packages/postgres/src/overviews/PostgresOverviewStore.ts",
    tests: contract,
    faults: [
      {
        id: "overviews-foreign-names",
        find: "where org_id = $1 and id = any ($2::text[]) and deleted_at is null)",
        put: "where $1::text is not null and id = any ($2::text[]) and deleted_at is null)",
        why: "Names are those of the organization."
      },
      {
        id: "overviews-any-endpoint",
        find: "  order by rank limit 1) shown on true",
        put: "  order by rank desc limit 1) shown on true",
        why: "The state of a project is that of the default branch's read-write endpoint."
      }
    ]
  }
]
