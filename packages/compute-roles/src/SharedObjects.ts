/**
 * Owners and rights of the objects of users. All minted roles can use them, and dumps do not show it.
 *
 * 1. Objects belong to `pg_database_owner`, also those that a session made under the name of its role.
 * 2. The group of readers reads them.
 * 3. Rights of the groups are recorded as initial ones (`pg_init_privs`). `pg_dump` prints only what differs from initial rights,
 *    so grants to our groups do not reach a server that lacks the groups.
 *
 * A new object gets all that by the event trigger `narthex_shares`, in the transaction that makes it. It also revokes EXECUTE
 * from PUBLIC on functions with the rights of their definer. Later changes are put right when roles are applied.
 * Extensions that a session has made under the name of its role belong to the role until it is dropped.
 *
 * Pitfall: default privileges in place of the trigger. `pg_dump` prints them.
 * Pitfall: granting USAGE on the schema `public` to the readers. `pg_dump` takes the standard rights of this schema for its
 * initial ones, whatever is recorded. On a compute PUBLIC has no other members than writers and readers.
 */
import type { PgClient } from "@effect/sql-pg"
import { Effect } from "effect"
import { missingReadsOf, readingBatch } from "./reads.ts"
import { firstOid, isUserSchema, isUsers, owners, readers, writers } from "./roleNames.ts"

/** The group of writers, which earlier versions had own all objects, and its members. */
const formerOwners = `
  SELECT '${writers}'::regrole::oid
  UNION ALL SELECT member FROM pg_auth_members JOIN pg_roles r ON r.oid = member
  WHERE roleid = '${writers}'::regrole AND NOT rolsuper`

/** The sequence of a column, and parts of a type, follow the object that they depend on. */
const follows = `EXISTS (SELECT FROM pg_depend d WHERE d.classid = s.classid AND d.objid = s.objid
    AND (deptype = 'i' OR deptype = 'a' AND type = 'sequence'))`

/** The catalogs of objects that change their owner. An index of `pg_shdepend` begins with them. */
const owned = ["class", "namespace", "proc", "type", "operator", "collation", "conversion", "statistic_ext"]
  .concat("largeobject", "ts_dict", "ts_config")
  .map((name) => `'pg_${name}'::regclass`)
  .join(", ")

const handovers = `
  SELECT objid, format('ALTER %s %s OWNER TO ${owners}', CASE
      WHEN type IN ('function', 'procedure', 'aggregate') THEN 'ROUTINE' WHEN type = 'composite type' THEN 'TYPE'
      WHEN type = 'statistics object' THEN 'STATISTICS' ELSE upper(type) END, identity) AS statement
  FROM pg_shdepend s, pg_identify_object(classid, objid, 0)
  WHERE dbid = (SELECT oid FROM pg_database WHERE datname = current_database())
    AND refclassid = 'pg_authid'::regclass AND refobjid = ANY (ARRAY(${formerOwners})) AND s.deptype = 'o'
    AND classid IN (${owned})
    AND coalesce(schema, '') !~ '^pg_' AND NOT ${follows}`

/** Default privileges that earlier versions gave, of roles that own nothing any more. */
const formerDefaults = `
  SELECT 0::oid, format('ALTER DEFAULT PRIVILEGES FOR ROLE %s REVOKE ALL ON %s FROM %s', defaclrole::regrole,
    CASE defaclobjtype WHEN 'r' THEN 'TABLES' WHEN 'S' THEN 'SEQUENCES' WHEN 'n' THEN 'SCHEMAS' ELSE 'FUNCTIONS' END,
    grantee::regrole)
  FROM pg_default_acl, aclexplode(defaclacl)
  WHERE defaclrole IN (${formerOwners}) AND defaclnamespace = 0 AND defaclobjtype IN ('r', 'S', 'n', 'f')
    AND grantee IN ('${readers}'::regrole, '${writers}'::regrole) AND grantee <> defaclrole
  UNION ALL
  SELECT 0::oid, format('ALTER DEFAULT PRIVILEGES FOR ROLE %s GRANT EXECUTE ON FUNCTIONS TO PUBLIC', defaclrole::regrole)
  FROM pg_default_acl
  WHERE defaclrole IN (${formerOwners}) AND defaclnamespace = 0 AND defaclobjtype = 'f'
    AND NOT EXISTS (SELECT FROM aclexplode(defaclacl) WHERE grantee = 0)`

/** `item` is of type aclitem: `<role>=<rights>/<grantor>`. */
const isOfGroups = `item::text ~ '^(${readers}|${writers})='`

/** Objects whose rights `pg_dump` prints: their rights, and those that they would have without any statement. */
const objectsWithRights = `
  SELECT 'pg_class'::regclass AS classid, c.oid AS objid, relacl AS rights,
    acldefault(CASE relkind WHEN 'S' THEN 's' ELSE 'r' END::"char", relowner) AS standard
  FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace WHERE ${isUserSchema} AND relkind IN ('r', 'p', 'v', 'm', 'f', 'S')
  UNION ALL
  SELECT 'pg_namespace'::regclass, oid, nspacl, acldefault('n', nspowner)
  FROM pg_namespace WHERE ${isUserSchema} AND nspname <> 'public'
  UNION ALL
  SELECT 'pg_proc'::regclass, p.oid, proacl, acldefault('f', proowner)
  FROM pg_proc p JOIN pg_namespace n ON n.oid = pronamespace WHERE p.oid >= ${firstOid} AND ${isUserSchema}`

/** A join would read all of them for one new object. */
const recorded = "pg_init_privs WHERE objoid = objid AND classoid = classid AND objsubid = 0"

/** An extension has initial rights of its own. */
const unrecorded = `
  SELECT objid, format('DELETE FROM pg_init_privs WHERE objoid = %1$s AND classoid = %2$s AND objsubid = 0', objid, classid::oid)
    || CASE WHEN initial IS NULL THEN '' ELSE format('; INSERT INTO pg_init_privs VALUES (%s, %s, 0, %L, %L)',
      objid, classid::oid, coalesce(privtype, 'i'), initial) END AS statement
  FROM (${objectsWithRights}) them,
  LATERAL (SELECT (SELECT initprivs FROM ${recorded}), (SELECT privtype FROM ${recorded}) OFFSET 0) present,
  LATERAL (SELECT ARRAY(SELECT item FROM unnest(rights) item WHERE ${isOfGroups}) AS given OFFSET 0) groups,
  LATERAL (SELECT CASE WHEN privtype = 'e' THEN ARRAY(SELECT item FROM unnest(initprivs) item WHERE NOT ${isOfGroups}) || given
    WHEN given <> '{}' THEN standard || given END AS initial) wanted
  WHERE initprivs IS DISTINCT FROM initial`

const missingReads = missingReadsOf({ counts: isUsers, publicTo: "PUBLIC" })

/** The statements that put all of that right: rows of `objid` and `statement`. */
export const missingShares = [handovers, missingReads, formerDefaults, unrecorded].join(" UNION ALL ")

/** Functions that would write for readers from the beginning. */
const open = `
  SELECT oid, format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', oid::regprocedure) FROM pg_proc
  WHERE prosecdef AND aclcontains(coalesce(proacl, acldefault('f', proowner)), makeaclitem(0, proowner, 'EXECUTE', false))`

const executed = (statements: string) => `
        FOR share IN SELECT statement FROM (${statements}) found WHERE objid = ANY (made) LOOP
          BEGIN
            EXECUTE share;
          EXCEPTION WHEN OTHERS THEN
            NULL;
          END;
        END LOOP;`

export const triggerName = "narthex_shares"

/**
 * The event trigger, which is part of an extension that every database has: `pg_dump` prints no event trigger of an extension,
 * and nothing of `pg_catalog`. A statement that fails is repeated when roles are applied. The supervisor needs no trigger.
 */
export const shareTrigger = `
      CREATE OR REPLACE FUNCTION pg_catalog.${triggerName}() RETURNS event_trigger
      LANGUAGE plpgsql SECURITY DEFINER
      SET search_path = pg_catalog, pg_temp SET plan_cache_mode = force_generic_plan AS $share$
      DECLARE
        made oid[] := ARRAY(SELECT objid FROM pg_event_trigger_ddl_commands() WHERE objid IS NOT NULL);
        share text;
      BEGIN
        IF made = '{}' OR session_user = current_user THEN
          RETURN;
        END IF;
        ${executed(`${handovers} UNION ALL ${missingReads} UNION ALL ${open}`)}
        ${executed(unrecorded)}
      END $share$;
      IF NOT EXISTS (SELECT FROM pg_event_trigger WHERE evtname = '${triggerName}') THEN
        CREATE EVENT TRIGGER ${triggerName} ON ddl_command_end EXECUTE FUNCTION pg_catalog.${triggerName}();
        ALTER EXTENSION plpgsql ADD EVENT TRIGGER ${triggerName};
      END IF;`

/** Puts right what the trigger has not done. An object that a session holds locked is left out; the next call finds it. */
export const shareObjects = Effect.fn("shareObjects")(function* (sql: PgClient.PgClient) {
  const missing = Effect.map(
    sql.unsafe<{ readonly n: number }>(`SELECT count(*)::int AS n FROM (${missingShares}) found`),
    ([found]) => found?.n ?? 0
  )
  let left = yield* missing
  while (left > 0) {
    yield* sql.unsafe(readingBatch(missingShares))
    const still = yield* missing
    if (still >= left) return
    left = still
  }
})
