/** The contents of a branch, to compare before and after attempts to write. */
import { openSession, type Session, sqlstate } from "./Session.ts"

/** The relations that the ways of `test/agents/ways.ts` try to write. */
export const objectsOfMain = [
  "create table kept as select 1 as n",
  "create sequence counter",
  "select nextval('counter')",
  "create view shown as select n from kept",
  "create function owned_write() returns void language sql security definer as 'insert into kept values (666)'",
  "select lo_from_bytea(4711, 'kept')"
]

const text = `select (select array_agg(n order by n) from kept)::text as rows,
  (select last_value::text || is_called::text from counter) as position,
  (select array_agg(relname || ':' || relkind::text || coalesce(relacl::text, '') order by relname)
     from pg_class where relnamespace = 'public'::regnamespace)::text as relations,
  (select array_agg(attname order by attnum) from pg_attribute where attrelid = 'kept'::regclass)::text as columns,
  (select count(*) from pg_proc where pronamespace = 'public'::regnamespace)::text as functions,
  (select count(*) from pg_namespace where nspname !~ '^pg_')::text as schemas,
  (select array_agg(oid::text || coalesce(lomacl::text, '')) from pg_largeobject_metadata)::text as objects,
  (select encode(lo_get(4711), 'escape')) as object,
  (select count(*) from pg_roles)::text as roles,
  obj_description('kept'::regclass) as comment`

export const contents = async (uri: string, from: string): Promise<string> => {
  const session = await openSession(uri, from)
  try {
    const [row] = await session.query(text)
    return JSON.stringify(row)
  } finally {
    session.close()
  }
}

/** Runs statements in one session, each whether or not the one before it succeeded. The SQLSTATE of each, or `done`. */
export const attempt = async (uri: string, from: string, statements: ReadonlyArray<string>) => {
  let session: Session | undefined
  const outcomes: Array<string> = []
  try {
    for (const statement of statements) {
      session ??= await openSession(uri, from)
      const outcome = await session.query(statement).then(
        () => "done",
        (error: unknown) => sqlstate(error) ?? "closed"
      )
      outcomes.push(outcome)
      if (outcome === "closed") {
        session.close()
        session = undefined
      }
    }
  } finally {
    session?.close()
  }
  return outcomes
}
