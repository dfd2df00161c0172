/** The cost of a claim: pages that it reads, with few and with many operations waiting. */
import { assert, layer } from "@effect/vitest"
import { classOf, OperationAction } from "@narthex/core"
import { Effect } from "effect"
import { Database } from "../../src/index.ts"
import { testDatabase } from "../support/TestDatabase.ts"

const waiting = 20_000
/** More than a descent of each index, of two organizations and projects: at most 150 were seen. A scan reads many more. */
const fewPages = 200

/** Operations with `branch` and `project` as functions of their number `n`, as SQL. */
const queue = (
  count: number,
  columns: { readonly branch: string; readonly org?: string; readonly copies?: string }
) => {
  const { branch, copies = "null", org = "'org'" } = columns
  return `insert into operation (id, org_id, project_id, branch_id, copies, action, status, failures_count, initiator,
      created_at, updated_at)
    select 'op-' || gen_random_uuid(), ${org}, 'prj', ${branch}, ${copies}, 'create_branch', 'scheduling', 0,
      '{"type":"system","id":null,"name":null}', now(), now()
    from generate_series(1, ${count}) as n`
}

const claim = "select id from operation_claim_in('branches', 'w', now(), now() + interval '30 seconds', 1000, 3)"

interface Plan {
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
  readonly "Actual Rows": number
}

/** Pages that the second claim reads; the first one fills the caches of the session. */
const pagesOfAClaim = Effect.gen(function* () {
  const { query, transaction } = yield* Database
  return yield* transaction(
    Effect.gen(function* () {
      // As the store claims.
      yield* query("plans", "select set_config('plan_cache_mode', 'force_generic_plan', true)")
      const first = yield* query("claim", claim)
      const [row] = yield* query<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
        "explain",
        `explain (analyze, buffers, format json) ${claim}`
      )
      const plan = row?.["QUERY PLAN"][0]?.Plan
      if (plan === undefined) throw new Error("no plan")
      assert.lengthOf(first, 1)
      assert.strictEqual(plan["Actual Rows"], 1)
      return plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]
    })
  )
})

const tables = [
  ...["operation", "operation_head", "operation_turn", "operation_person_turn"],
  ...["membership", "organization_founder", "organization"]
]
const emptied = Effect.flatMap(Database, ({ query }) => query("empty", `truncate ${tables.join(", ")} cascade`))

/** Organizations of one person, and as many of others, so that reading all of them would show. */
const organizations = [
  `insert into organization select 'org ' || n, 'x', false, now(), now() from generate_series(1, ${waiting}) n`,
  `insert into membership (org_id, user_id, role, joined_at)
   select 'org ' || n, case when n <= 3 then 'ada' else 'user ' || n end, 'owner', now()
   from generate_series(1, ${waiting}) n`,
  "insert into organization_founder select org_id, user_id from membership"
]

const backlogs: ReadonlyArray<readonly [name: string, statements: ReadonlyArray<string>]> = [
  ["one branch", [queue(waiting, { branch: "'br'" }), queue(5, { branch: "'other ' || n" })]],
  ["one organization", [queue(waiting, { branch: "'br ' || n" })]],
  [
    "the organizations of one person",
    [...organizations, queue(waiting, { branch: "'br ' || n", org: "'org ' || n % 3 + 1" })]
  ],
  [
    "a parent with as many copies as may run",
    [queue(waiting, { branch: "'br ' || n", copies: "'parent'" }), queue(5, { branch: "'other ' || n" })]
  ]
]

layer(testDatabase, { excludeTestServices: true })("A claim on Postgres", (it) => {
  for (const [name, statements] of backlogs)
    it.effect(`a claim reads few pages although ${waiting} operations wait on ${name}`, () =>
      Effect.gen(function* () {
        const { query } = yield* Database
        yield* emptied
        // A transaction cannot hold the locks of so many branches, so the heads are put afterwards, as in the migration.
        yield* query("fill", "alter table operation disable trigger operation_changed")
        for (const statement of statements) yield* query("fill", statement)
        yield* query("fill", "select count(operation_put_head(o)) from (select * from operation order by position) o")
        yield* query("fill", "alter table operation enable trigger operation_changed")
        // The parent's places are taken.
        yield* query(
          "run",
          `update operation set lease_until = now() + interval '1 hour', lease_owner = 'x'
           where id in (select id from operation where copies = 'parent' order by position limit 3)`
        )
        yield* query("analyze", `analyze ${tables.join(", ")}`)
        assert.isBelow(yield* pagesOfAClaim, fewPages)
      })
    )

  it.effect("the classes of actions are those of the core", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      const rows = yield* query<{ readonly action: string; readonly class: string }>(
        "classes",
        "select action, operation_class(action) as class from unnest($1::text[]) as action",
        [[...OperationAction.literals]]
      )
      assert.deepStrictEqual(
        rows,
        OperationAction.literals.map((action) => ({ action, class: classOf(action) }))
      )
    })
  )

  it.effect("a runner of an older release claims deletions among branches, after those", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* emptied
      yield* query("fill", queue(1, { branch: "'br 1'" }))
      yield* query("fill", queue(1, { branch: "'br 2'" }))
      yield* query("delete", "update operation set action = 'delete_timeline' where branch_id = 'br 1'")
      yield* query("head", "update operation_head set class = 'deletions' where branch_id = 'br 1'")
      const older = query<{ readonly branch_id: string }>(
        "claim",
        "select branch_id from operation_claim('branches', 'w', now(), now() + interval '30 seconds', 1, 3)"
      )
      assert.deepStrictEqual(
        [...(yield* older), ...(yield* older), ...(yield* older)].map(({ branch_id }) => branch_id),
        ["br 2", "br 1"]
      )
    })
  )

  it.effect("operations that an older release left unfinished are claimable after the migration", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* emptied
      yield* query("fill", queue(3, { branch: "'br'" }))
      yield* query("fill", queue(2, { branch: "null" }))
      yield* query("end", "update operation set status = 'finished' where id = (select min(id) from operation)")
      const heads = yield* query<{ readonly n: number }>(
        "heads",
        `select count(*)::int as n from operation o join operation_head h on h.operation_id = o.id
         where o.branch_id is null or o.position = (select min(position) from operation e
           where e.branch_id = o.branch_id and e.status = 'scheduling')`
      )
      const all = yield* query<{ readonly n: number }>("all", "select count(*)::int as n from operation_head")
      assert.deepStrictEqual(heads, all)
    })
  )
})
