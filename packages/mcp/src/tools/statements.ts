/** `run_sql` and `explain_sql`: one statement on a branch, with limits of time, rows and bytes. */
import { Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { branchOf } from "../access/names.ts"
import { Refused } from "../access/Refused.ts"
import { makeRunSql } from "../access/sql.ts"
import { destroys } from "./hints.ts"
import { mark, marked } from "./marked.ts"
import { branchParameter, projectParameter, sqlParameter } from "./parameters.ts"

const defaultRows = 100
const mostRows = 1000

/** Bytes of values in one result: more would fill the context of most models. */
export const mostBytes = 256 * 1024

const Parameter = Schema.Union([Schema.String, Schema.Finite, Schema.Boolean, Schema.Null, Schema.Json])

export const runSqlTool = Tool.make("run_sql", {
  description:
    "Runs one statement of SQL on a branch, in a session of its own that ends with it. On main it only reads: the database refuses everything else. In a sandbox everything is allowed.",
  parameters: Schema.Struct({
    project: projectParameter,
    branch: branchParameter,
    sql: sqlParameter,
    parameters: Schema.optionalKey(
      Schema.Array(Parameter)
        .check(Schema.isMaxLength(1000))
        .annotate({ description: "The values of $1, $2 and so on." })
    ),
    limit: Schema.optionalKey(
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: mostRows })).annotate({
        description: "The most rows of the answer. Default: 100."
      })
    )
  }),
  success: marked(
    Schema.Struct({
      access: Schema.Literals(["read_write", "read_only"]),
      command: Schema.NullOr(Schema.String),
      columns: Schema.Array(Schema.Struct({ name: Schema.String, type: Schema.String })),
      rows: Schema.Array(Schema.Array(Schema.Json)),
      truncated: Schema.NullOr(Schema.Literals(["rows", "bytes"])).annotate({
        description: "Which limit has cut the rows. `null`: all are here."
      })
    })
  ),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(destroys)

export const explainSql = Tool.make("explain_sql", {
  description:
    "Shows the plan of a statement. With `analyze` the statement runs: on main it can only read; in a sandbox it has its effects.",
  parameters: Schema.Struct({
    project: projectParameter,
    branch: branchParameter,
    sql: sqlParameter,
    analyze: Schema.optionalKey(
      Schema.Boolean.annotate({ description: "Whether to run the statement and measure it. Default: false." })
    )
  }),
  success: marked(Schema.Struct({ plan: Schema.Array(Schema.String), truncated: Schema.Boolean })),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(destroys)

/** The driver has read the values as JSON already. */
const asJson = (rows: ReadonlyArray<ReadonlyArray<unknown>>) => rows as ReadonlyArray<ReadonlyArray<Schema.Json>>

export const makeStatementHandlers = Effect.map(makeRunSql, (runSql) => ({
  run_sql: Effect.fn("run_sql")(function* (given: typeof runSqlTool.parametersSchema.Type) {
    const branch = yield* branchOf(given.project, given.branch)
    const { access, columns, command, rows, truncated } = yield* runSql(branch, {
      sql: given.sql,
      parameters: given.parameters ?? [],
      limit: given.limit ?? defaultRows,
      max_bytes: mostBytes
    })
    return mark({ access, command, columns, rows: asJson(rows), truncated })
  }),
  explain_sql: Effect.fn("explain_sql")(function* (given: typeof explainSql.parametersSchema.Type) {
    const branch = yield* branchOf(given.project, given.branch)
    const options = given.analyze === true ? "ANALYZE, BUFFERS" : "COSTS"
    const { rows, truncated } = yield* runSql(branch, {
      sql: `EXPLAIN (${options}) ${given.sql}`,
      limit: mostRows,
      max_bytes: mostBytes
    })
    return mark({ plan: rows.map(([line]) => String(line)), truncated: truncated !== null })
  })
}))
