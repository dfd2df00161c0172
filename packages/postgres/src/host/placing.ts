/**
 * Where a connection is, and the settings that statements of this package rely on. A host's connection may be on
 * another database, print times in another way, and wait without end.
 *
 * Pitfall: leaving a setting behind. A setting of the transaction also holds for the host's next statement in it.
 */

export interface Place {
  /** The id of the server's data, whichever machine serves them. */
  readonly system: string
  readonly database: number
  /** The outbox, which stands for all tables. */
  readonly relation: number
}

/** The place of the tables in schema `$1`, read on a connection of this package. */
export const whereItIs = `
select (select system_identifier::text from pg_control_system()) as system, d.oid as database,
  format('%I.event_outbox', $1::text)::regclass::oid as relation
from pg_database d where d.datname = current_database()`

/** Text as `text.ts` reads it. */
const settings: Readonly<Record<string, string>> = {
  datestyle: "ISO, MDY",
  timezone: "UTC",
  bytea_output: "hex",
  extra_float_digits: "1"
}

export interface Placed {
  readonly system: string
  readonly database: number
  readonly relation: number | null
  readonly permitted: boolean | null
  readonly isolation: string
  /** The host's settings by name, as text. */
  readonly before: Readonly<Record<string, string>>
}

/** A limit that is stricter already, stays. */
const limit = (name: string, value: number) => `set_config('${name}', case
  when (before.limits->>'${name}')::interval between interval '1 millisecond' and $${value}::float8 * interval '1 millisecond'
  then before.limits->>'${name}' else ($${value}::float8)::text end, true)`

/**
 * Reads the place and the host's settings, and sets those of this package. `limits` are in milliseconds. `token` is a
 * setting of its own, by which the end of the call recognises the transaction.
 */
export const placing = (
  { relation }: Place,
  limits: Readonly<Record<string, string>>,
  token: string
): { readonly text: string; readonly params: ReadonlyArray<unknown> } => {
  const set = Object.entries({ ...settings, "narthex.call": token })
  const limited = Object.entries(limits)
  const read = (names: ReadonlyArray<string>) =>
    `jsonb_build_object(${names.map((name) => `'${name}', coalesce(current_setting('${name}', true), '')`).join(", ")})`
  const text = `
with before as materialized (
  select ${read(set.map(([name]) => name))} as settings, ${read(limited.map(([name]) => name))} as limits
)
select (select system_identifier::text from pg_control_system()) as system,
  (select oid from pg_database where datname = current_database()) as database,
  c.oid as relation,
  has_schema_privilege(c.relnamespace, 'usage') and has_table_privilege(c.oid, 'insert') as permitted,
  current_setting('transaction_isolation') as isolation,
  before.settings || before.limits as before,
  ${[
    ...set.map(([name], index) => `set_config('${name}', $${index + 2}, true)`),
    ...limited.map(([name], index) => limit(name, index + 2 + set.length))
  ].join(",\n  ")}
from before left join pg_class c on c.oid = $1::oid and c.relname = 'event_outbox'`
  return { text, params: [relation, ...set.map(([, value]) => value), ...limited.map(([, value]) => value)] }
}

/** Sets what the host had. `same`: it is still the transaction in which `placing` ran. */
export const putBack = (
  { before }: Placed,
  token: string
): { readonly text: string; readonly params: ReadonlyArray<unknown> } => {
  const set = Object.entries(before)
  return {
    text: `
with call as materialized (select coalesce(current_setting('narthex.call', true), '') = $1 as same)
select call.same, ${set.map(([name], index) => `set_config('${name}', $${index + 2}, true)`).join(", ")} from call`,
    params: [token, ...set.map(([, value]) => value)]
  }
}
