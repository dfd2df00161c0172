/** The cost of a claim: pages that it reads, with few and with many operations waiting. */
import { assert, layer } from "@effect/vitest"
import { classOf, OperationAction, OperationStore, RegionId } from "@narthex/core"
import { DateTime, Effect, Layer, Option } from "effect"
import { Database } from "../../src/index.ts"
import { PostgresOperationStore } from "../../src/operations/PostgresOperationStore.ts"
import { testDatabase } from "../support/TestDatabase.ts"

const waiting = 20_000
/** More than a descent of each index, of two organizations: at most 150 were seen. A scan reads many more. */
const fewPages = 200

/** Operations with `branch` and `project` as functions of their number `n`, as SQL. */
const queue = (
  count: number,
  columns: { readonly branch: string; readonly org?: string; readonly copies?: string }
) => {
  const { branch, copies = "null", org = "'org'" } = columns
  return `insert into narthex.operation (id, region_id, org_id, project_id, branch_id, copies, action, status, failures_count, initiator,
      created_at, updated_at)
    select 'op-' || gen_random_uuid(), 'eu-1', ${org}, 'prj', ${branch}, ${copies}, 'create_branch', 'scheduling', 0,
      '{"type":"system","id":null,"name":null}', now(), now()
    from generate_series(1, ${count}) as n`
}

/** Notes each statement. */
const asking = (asked: Array<readonly [text: string, params: ReadonlyArray<unknown>]>) =>
  Layer.effect(
    Database,
    Effect.map(Database, (database) =>
      Database.of({
        ...database,
        query: (operation, text, params = []) => {
          asked.push([text, params])
          return database.query(operation, text, params)
        }
      })
    )
  )

interface Plan {
  readonly "Shared Hit Blocks": number
  readonly "Shared Read Blocks": number
}

/** Pages that the statements of the second claim read; the first one fills the caches of the session. */
const pagesOfAClaim = Effect.gen(function* () {
  const { query, transaction } = yield* Database
  const asked: Array<readonly [text: string, params: ReadonlyArray<unknown>]> = []
  const store = PostgresOperationStore.layer.pipe(Layer.provide(asking(asked)))
  const first = yield* OperationStore.use((it) =>
    Effect.flatMap(DateTime.now, (now) =>
      it.claim({
        class: "branches",
        region_id: RegionId.make("eu-1"),
        worker: "w",
        now,
        lease_until: DateTime.add(now, { seconds: 30 }),
        per_org: 1_000,
        per_parent: 3
      })
    )
  ).pipe(Effect.provide(store))
  assert.isTrue(Option.isSome(first))
  // The first statement makes the settings with which the second one is planned.
  const plans = yield* transaction(
    Effect.forEach(asked, ([text, params]) =>
      query<{ readonly "QUERY PLAN": ReadonlyArray<{ readonly Plan: Plan }> }>(
        "explain",
        `explain (analyze, buffers, format json) ${text}`,
        params
      )
    )
  )
  const pages = plans.flat().flatMap((row) => row["QUERY PLAN"].map(({ Plan }) => Plan))
  assert.lengthOf(pages, 2)
  return pages.reduce((sum, plan) => sum + plan["Shared Hit Blocks"] + plan["Shared Read Blocks"], 0)
})

const tables = ["narthex.operation", "narthex.operation_head", "narthex.operation_turn"]
const emptied = Effect.flatMap(Database, ({ query }) => query("empty", `truncate ${tables.join(", ")} cascade`))

const backlogs: ReadonlyArray<readonly [name: string, statements: ReadonlyArray<string>]> = [
  ["one branch", [queue(waiting, { branch: "'br'" }), queue(5, { branch: "'other ' || n" })]],
  ["one organization", [queue(waiting, { branch: "'br ' || n" })]],
  ["three organizations", [queue(waiting, { branch: "'br ' || n", org: "'org ' || n % 3 + 1" })]],
  [
    "a parent with as many copies as may run",
    [queue(waiting, { branch: "'br ' || n", copies: "'parent'" }), queue(5, { branch: "'other ' || n" })]
  ],
  [
    "as many parents in an organization whose turn comes later",
    [
      queue(waiting, { branch: "'br ' || n", copies: "'parent ' || n" }),
      queue(3, { branch: "'other ' || n", org: "'early ' || n" })
    ]
  ]
]

layer(testDatabase, { excludeTestServices: true })("A claim on Postgres", (it) => {
  for (const [name, statements] of backlogs)
    it.effect(`a claim reads few pages although ${waiting} operations wait on ${name}`, () =>
      Effect.gen(function* () {
        const { query, transaction } = yield* Database
        yield* emptied
        // A transaction cannot hold the locks of so many branches, so the heads are put afterwards.
        yield* query("fill", "alter table narthex.operation disable trigger operation_changed")
        for (const statement of statements) yield* query("fill", statement)
        yield* transaction(
          Effect.andThen(
            query("fill", "set local search_path = narthex"),
            query(
              "fill",
              "select count(operation_put_head(o)) from (select * from narthex.operation order by position) o"
            )
          )
        )
        yield* query("fill", "alter table narthex.operation enable trigger operation_changed")
        // The parent's places are taken.
        yield* query(
          "run",
          `update narthex.operation set lease_until = now() + interval '1 hour', lease_owner = 'x'
           where id in (select id from narthex.operation where copies = 'parent' order by position limit 3)`
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
        "select action, narthex.operation_class(action) as class from unnest($1::text[]) as action",
        [[...OperationAction.literals]]
      )
      assert.deepStrictEqual(
        rows,
        OperationAction.literals.map((action) => ({ action, class: classOf(action) }))
      )
    })
  )

  it.effect("a branch's first unfinished operation, and each without a branch, has a head", () =>
    Effect.gen(function* () {
      const { query } = yield* Database
      yield* emptied
      yield* query("fill", queue(3, { branch: "'br'" }))
      yield* query("fill", queue(2, { branch: "null" }))
      yield* query(
        "end",
        "update narthex.operation set status = 'finished' where id = (select min(id) from narthex.operation)"
      )
      const heads = yield* query<{ readonly n: number }>(
        "heads",
        `select count(*)::int as n from narthex.operation o join narthex.operation_head h on h.operation_id = o.id
         where o.branch_id is null or o.position = (select min(position) from narthex.operation e
           where e.branch_id = o.branch_id and e.status = 'scheduling')`
      )
      const all = yield* query<{ readonly n: number }>("all", "select count(*)::int as n from narthex.operation_head")
      assert.deepStrictEqual(heads, all)
    })
  )
})
