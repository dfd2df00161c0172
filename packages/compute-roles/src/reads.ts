/** Rights to read that the group of readers lacks, as SQL. */
import { firstOid, isUserSchema, readers } from "./roleNames.ts"
import { restrictedAggregates } from "./uncheckedCalls.ts"

interface Reading {
  /** Whether the functions of an owner count. Readers have PUBLIC's rights on all other functions. */
  readonly counts: (owner: string) => string
  /** The role that gets USAGE on the schema `public`. */
  readonly publicTo: string
}

/** The statements that make relations readable, and functions executable: rows of `objid` and `statement`. */
export const missingReadsOf = ({ counts, publicTo }: Reading) => `
  SELECT oid AS objid, format('GRANT USAGE ON SCHEMA %I TO %s', nspname,
    CASE nspname WHEN 'public' THEN '${publicTo}' ELSE '${readers}' END) AS statement
  FROM pg_namespace WHERE ${isUserSchema} AND NOT has_schema_privilege('${readers}', oid, 'USAGE')
  UNION ALL
  SELECT c.oid, format('GRANT SELECT ON %s TO ${readers}', c.oid::regclass)
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
  WHERE ${isUserSchema} AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
    AND NOT has_table_privilege('${readers}', c.oid, 'SELECT')
  UNION ALL
  SELECT p.oid, format('GRANT EXECUTE ON ROUTINE %s TO ${readers}', p.oid::regprocedure)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace
  WHERE p.oid >= ${firstOid} AND ${isUserSchema} AND ${counts("proowner")} AND NOT prosecdef AND p.oid NOT IN (${restrictedAggregates})
    AND NOT has_function_privilege('${readers}', p.oid, 'EXECUTE')`

/** How many statements one transaction executes. */
const batch = 2000

/** Executes some of these statements. Failing ones are skipped, for example if a session holds the object locked. */
export const readingBatch = (missing: string) => `
  DO $do$
  DECLARE
    gift text;
  BEGIN
    SET LOCAL lock_timeout = '100ms';
    FOR gift IN SELECT statement FROM (${missing}) found LIMIT ${batch} LOOP
      BEGIN
        EXECUTE gift;
      EXCEPTION WHEN OTHERS THEN
        NULL;
      END;
    END LOOP;
  END $do$`
