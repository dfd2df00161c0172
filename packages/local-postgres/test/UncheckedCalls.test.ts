/**
 * Writers plant functions that Postgres calls without the EXECUTE of the session's role; a reader does not write through
 * them once roles are applied. Before that each of them writes, or it would show nothing.
 * Holds docs/design/proxy.md P24 and P31.
 */
import { assert, describe, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { Effect } from "effect"
import { plantedCalls } from "../../../test/agents/plantedCalls.ts"
import { apply, as, branch, isDenied, open, reader, runningBranch, writer } from "./runningBranch.ts"
import { kinds } from "./support.ts"

const everything = "GRANT EXECUTE ON ALL ROUTINES IN SCHEMA public TO PUBLIC"

/** Rows and large objects. */
const contents = as(
  "writer",
  `SELECT (SELECT count(*)::int FROM kept) AS rows, (SELECT count(*)::int FROM pg_largeobject_metadata) AS objects`
)

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`planted functions on the ${choice} Postgres`, { tags: [tag] }, () =>
    layer(runningBranch(kind), { excludeTestServices: true })((it) => {
      it.effect("a reader writes through no aggregate, range type, operator or cast that a writer has left", () =>
        Effect.gen(function* () {
          yield* as("writer", "CREATE TABLE kept AS SELECT 1 AS n", "CREATE SEQUENCE counter")
          for (const { statements } of plantedCalls) yield* as("writer", ...statements)
          yield* as("writer", everything)
          for (const { calls, way } of plantedCalls) {
            const before = yield* contents
            yield* as("reader", ...calls)
            assert.notDeepEqual(yield* contents, before, way)
          }
          yield* apply(writer, reader)
          const before = yield* contents
          for (const { calls, way } of plantedCalls) {
            yield* Effect.ignore(as("reader", ...calls))
            assert.deepStrictEqual(yield* contents, before, way)
          }
          // Writers can still use the objects that writers made.
          for (const { calls } of plantedCalls) yield* as("writer", ...calls)
        })
      )

      it.effect("a reader takes no lock through an aggregate, an operator or a view that a writer has left", () =>
        Effect.gen(function* () {
          const negated = "LEFTARG = int, RIGHTARG = int, NEGATOR = =#=, RESTRICT = neqsel"
          yield* as(
            "writer",
            "CREATE TABLE locked AS SELECT n % 3 AS n FROM generate_series(1, 300) n",
            "ANALYZE locked",
            `CREATE AGGREGATE evil_lock(bigint)
              (SFUNC = int8pl, STYPE = bigint, INITCOND = '0', FINALFUNC = pg_try_advisory_lock)`,
            "CREATE OPERATOR =#= (FUNCTION = pg_try_advisory_lock, LEFTARG = int, RIGHTARG = int)",
            `CREATE OPERATOR !#= (FUNCTION = int4ne, ${negated})`,
            "CREATE VIEW locking AS SELECT n FROM locked FOR UPDATE",
            "CREATE VIEW around AS SELECT n FROM locking",
            everything
          )
          const estimated = [
            "EXPLAIN SELECT FROM locked WHERE n !#= 1",
            "SELECT FROM pg_locks WHERE locktype = 'advisory'"
          ]
          assert.isNotEmpty(yield* as("reader", ...estimated))
          yield* as("reader", "SELECT evil_lock(1)", "SELECT n FROM locking")
          yield* apply(writer, reader)
          assert.isEmpty(yield* as("reader", ...estimated))
          for (const lock of ["SELECT evil_lock(1)", "SELECT n FROM locking", "SELECT n FROM around"])
            yield* isDenied("reader", lock)
          yield* as("writer", "SELECT evil_lock(1)", "SELECT n FROM around")
        })
      )

      it.effect("temporary objects of an open session do not hold up roles, and stay as they are", () =>
        Effect.gen(function* () {
          const owner = yield* open("writer")
          for (const text of [
            "CREATE TEMP TABLE own AS SELECT 1 AS n",
            "GRANT ALL ON own TO PUBLIC",
            "CREATE TEMP SEQUENCE own_counter",
            "GRANT ALL ON own_counter TO PUBLIC",
            "CREATE TEMP VIEW own_locking AS SELECT n FROM own FOR UPDATE",
            `CREATE FUNCTION pg_temp.own_adds(int, int) RETURNS int LANGUAGE sql SECURITY DEFINER
              AS 'INSERT INTO own VALUES (1) RETURNING n'`,
            "GRANT EXECUTE ON FUNCTION pg_temp.own_adds TO PUBLIC",
            "CREATE AGGREGATE pg_temp.own_evil(int) (SFUNC = pg_temp.own_adds, STYPE = int, INITCOND = '0')",
            "CREATE OPERATOR pg_temp.=#= (FUNCTION = pg_try_advisory_lock, LEFTARG = int, RIGHTARG = int)",
            `CREATE OPERATOR pg_temp.!#= (FUNCTION = int4ne, LEFTARG = int, RIGHTARG = int,
              NEGATOR = OPERATOR(pg_temp.=#=), RESTRICT = neqsel)`
          ])
            yield* owner.unsafe(text)
          yield* apply(writer, reader)
          assert.isFalse(yield* ComputeDriver.use((driver) => driver.needsRoles(branch, [writer, reader])))
          assert.lengthOf(yield* owner.unsafe("SELECT n FROM own_locking"), 1)
        }).pipe(Effect.scoped)
      )

      it.effect(
        "a view whose table locks rows by its policy, or by that of another table, locks none for a reader",
        () =>
          Effect.gen(function* () {
            yield* as(
              "writer",
              "CREATE TABLE held AS SELECT 1 AS n",
              "CREATE TABLE inner_rows AS SELECT 1 AS n",
              "CREATE POLICY p ON inner_rows USING (EXISTS (SELECT FROM held FOR UPDATE))",
              "ALTER TABLE inner_rows ENABLE ROW LEVEL SECURITY",
              "ALTER TABLE inner_rows FORCE ROW LEVEL SECURITY",
              "CREATE TABLE outer_rows AS SELECT 1 AS n",
              "CREATE POLICY p ON outer_rows USING (EXISTS (SELECT FROM inner_rows))",
              "ALTER TABLE outer_rows ENABLE ROW LEVEL SECURITY",
              "ALTER TABLE outer_rows FORCE ROW LEVEL SECURITY",
              "CREATE VIEW inner_view AS SELECT n FROM inner_rows",
              "CREATE VIEW outer_view AS SELECT n FROM outer_rows"
            )
            for (const view of ["inner_view", "outer_view"])
              assert.lengthOf(yield* as("reader", `SELECT n FROM ${view}`), 1)
            yield* apply(writer, reader)
            for (const view of ["inner_view", "outer_view"]) yield* isDenied("reader", `SELECT n FROM ${view}`)
            assert.lengthOf(yield* as("writer", "SELECT n FROM outer_view"), 1)
          })
      )

      it.effect("a function in a view, a policy, a domain, an index or statistics does not write for a reader", () =>
        Effect.gen(function* () {
          const body = "LANGUAGE plpgsql SECURITY DEFINER AS 'BEGIN INSERT INTO public.written VALUES (1); RETURN"
          yield* as(
            "writer",
            "CREATE TABLE written (n int)",
            "CREATE TABLE guarded AS SELECT 1 AS n",
            `CREATE FUNCTION planted(int) RETURNS bool ${body} true; END'`,
            "CREATE FUNCTION planted_indirectly(int) RETURNS bool IMMUTABLE LANGUAGE plpgsql AS 'BEGIN RETURN public.planted($1); END'",
            "CREATE VIEW calling AS SELECT planted(1) AS n",
            "CREATE DOMAIN checked AS int CHECK (planted(VALUE))",
            "CREATE POLICY p ON guarded USING (planted(n))",
            "ALTER TABLE guarded ENABLE ROW LEVEL SECURITY",
            "CREATE INDEX ON guarded (planted_indirectly(n))",
            "CREATE STATISTICS guarding ON planted_indirectly(n), n FROM guarded",
            everything
          )
          yield* apply(writer, reader)
          for (const call of [
            "SELECT n FROM calling",
            "SELECT 1::checked",
            "SELECT n FROM guarded",
            "SELECT FROM guarded WHERE planted_indirectly(1)"
          ])
            yield* isDenied("reader", call)
        })
      )

      it.effect("a reader becomes the owner of nothing: no role can make others its members", () =>
        Effect.gen(function* () {
          yield* as("writer", "CREATE TABLE given AS SELECT 1 AS n", "GRANT CREATE ON SCHEMA public TO PUBLIC")
          yield* isDenied("reader", "GRANT reader TO writer")
          yield* isDenied("writer", "SET ROLE NONE", "ALTER TABLE given OWNER TO reader")
        })
      )
    })
  )
}
