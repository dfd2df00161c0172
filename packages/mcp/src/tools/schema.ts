/** `describe_schema` and `compare_schema`: the objects of a database, and how those of two branches differ. */
import { Effect, Schema } from "effect"
import { Tool } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { branchNamed, branchOf, type FoundBranch } from "../access/names.ts"
import { Refused } from "../access/Refused.ts"
import { makeRunSql, type RunSql } from "../access/sql.ts"
import { reads } from "./hints.ts"
import { mark, marked } from "./marked.ts"
import { branchParameter, projectParameter } from "./parameters.ts"
import { mostBytes } from "./statements.ts"

const users = "n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'"

/** Relations with their columns; constraints and indexes where one table is asked for. */
const relations = `
  SELECT n.nspname AS schema, c.relname AS name,
    CASE c.relkind WHEN 'r' THEN 'table' WHEN 'p' THEN 'table' WHEN 'v' THEN 'view'
      WHEN 'm' THEN 'materialized view' WHEN 'f' THEN 'foreign table' ELSE 'sequence' END AS kind,
    pg_catalog.obj_description(c.oid, 'pg_class') AS comment,
    (SELECT pg_catalog.json_agg(pg_catalog.json_build_object('name', a.attname, 'type',
        pg_catalog.format_type(a.atttypid, a.atttypmod), 'nullable', NOT a.attnotnull, 'default',
        pg_catalog.pg_get_expr(d.adbin, d.adrelid), 'comment', pg_catalog.col_description(c.oid, a.attnum)) ORDER BY a.attnum)
      FROM pg_catalog.pg_attribute a LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns,
    CASE WHEN $2::text IS NULL THEN NULL ELSE
      (SELECT pg_catalog.json_agg(pg_catalog.pg_get_constraintdef(k.oid) ORDER BY k.conname)
        FROM pg_catalog.pg_constraint k WHERE k.conrelid = c.oid) END AS constraints,
    CASE WHEN $2::text IS NULL THEN NULL ELSE
      (SELECT pg_catalog.json_agg(pg_catalog.pg_get_indexdef(i.indexrelid))
        FROM pg_catalog.pg_index i WHERE i.indrelid = c.oid) END AS indexes
  FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
  WHERE ${users} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    AND ($1::text IS NULL OR n.nspname = $1) AND ($2::text IS NULL OR c.relname = $2)
  ORDER BY 1, 2`

/** One line for each object of a database. */
const lines = `
  SELECT line FROM (
    SELECT pg_catalog.format('column %I.%I.%I %s%s%s', n.nspname, c.relname, a.attname,
        pg_catalog.format_type(a.atttypid, a.atttypmod), CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
        coalesce(' DEFAULT ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), '')) AS line
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      JOIN pg_catalog.pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
      LEFT JOIN pg_catalog.pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE ${users} AND c.relkind IN ('r', 'p', 'v', 'm', 'f')
    UNION ALL
    SELECT pg_catalog.format('table %I.%I', n.nspname, c.relname)
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE ${users} AND c.relkind IN ('r', 'p', 'f')
    UNION ALL
    SELECT pg_catalog.format('view %I.%I %s', n.nspname, c.relname, pg_catalog.md5(pg_catalog.pg_get_viewdef(c.oid)))
      FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
      WHERE ${users} AND c.relkind IN ('v', 'm')
    UNION ALL
    SELECT pg_catalog.format('constraint %I.%I %s %s', n.nspname, c.relname, k.conname, pg_catalog.pg_get_constraintdef(k.oid))
      FROM pg_catalog.pg_constraint k JOIN pg_catalog.pg_class c ON c.oid = k.conrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE ${users}
    UNION ALL
    SELECT pg_catalog.pg_get_indexdef(i.indexrelid)
      FROM pg_catalog.pg_index i JOIN pg_catalog.pg_class c ON c.oid = i.indrelid
      JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace WHERE ${users}
    UNION ALL
    SELECT pg_catalog.format('function %s %s', p.oid::pg_catalog.regprocedure, pg_catalog.md5(p.prosrc))
      FROM pg_catalog.pg_proc p JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace WHERE ${users}
  ) all_lines ORDER BY line`

const mostRelations = 1000
const mostLines = 20_000

export const describeSchema = Tool.make("describe_schema", {
  description: "Shows tables and views with their columns and comments; for one table also constraints and indexes.",
  parameters: Schema.Struct({
    project: projectParameter,
    branch: branchParameter,
    schema: Schema.optionalKey(Schema.String.annotate({ description: "Only this schema." })),
    table: Schema.optionalKey(Schema.String.annotate({ description: "Only tables and views of this name." }))
  }),
  success: marked(
    Schema.Struct({
      relations: Schema.Array(Schema.Record(Schema.String, Schema.Json)),
      truncated: Schema.Boolean
    })
  ),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(reads)

export const compareSchema = Tool.make("compare_schema", {
  description: "Shows how the tables, columns, indexes, constraints, views and functions of two branches differ.",
  parameters: Schema.Struct({
    project: projectParameter,
    branch: branchParameter,
    with: Schema.optionalKey(
      Schema.String.annotate({ description: "The other branch, its id or name. Default: its parent." })
    )
  }),
  success: marked(
    Schema.Struct({
      only_in_branch: Schema.Array(Schema.String),
      only_in_other: Schema.Array(Schema.String),
      truncated: Schema.Boolean
    })
  ),
  failure: Refused,
  dependencies: [Caller]
}).annotateMerge(reads)

const linesOf = Effect.fnUntraced(function* (runSql: RunSql, branch: FoundBranch) {
  const { rows, truncated } = yield* runSql(branch, { sql: lines, limit: mostLines, max_bytes: 4 * mostBytes })
  return { found: new Set(rows.map(([line]) => String(line))), truncated: truncated !== null }
})

const noParent = new Refused({
  rule: "no_parent",
  reason: "The branch was copied from no other branch.",
  allowed: "`with`: the id or name of the branch to compare it with."
})

/** Lines of a difference that one answer has. */
const mostDifferences = 1000

export const makeSchemaHandlers = Effect.map(makeRunSql, (runSql) => ({
  describe_schema: Effect.fn("describe_schema")(function* (given: typeof describeSchema.parametersSchema.Type) {
    const branch = yield* branchOf(given.project, given.branch)
    const { columns, rows, truncated } = yield* runSql(branch, {
      sql: relations,
      parameters: [given.schema ?? null, given.table ?? null],
      limit: mostRelations,
      max_bytes: mostBytes
    })
    const objects = rows.map((row) =>
      // The driver has read the values as JSON already.
      Object.fromEntries(columns.map(({ name }, index) => [name, (row[index] ?? null) as Schema.Json]))
    )
    return mark({ relations: objects, truncated: truncated !== null })
  }),
  compare_schema: Effect.fn("compare_schema")(function* (given: typeof compareSchema.parametersSchema.Type) {
    const branch = yield* branchOf(given.project, given.branch)
    const other_id = given.with === undefined ? branch.parent_id : yield* branchNamed(branch.project_id, given.with)
    if (other_id === null) return yield* noParent
    const [own, other] = yield* Effect.all([
      linesOf(runSql, branch),
      Effect.flatMap(branchOf(branch.project_id, other_id), (found) => linesOf(runSql, found))
    ])
    const only_in_branch = [...own.found].filter((line) => !other.found.has(line))
    const only_in_other = [...other.found].filter((line) => !own.found.has(line))
    return mark({
      only_in_branch: only_in_branch.slice(0, mostDifferences),
      only_in_other: only_in_other.slice(0, mostDifferences),
      truncated:
        own.truncated || other.truncated || Math.max(only_in_branch.length, only_in_other.length) > mostDifferences
    })
  })
}))
