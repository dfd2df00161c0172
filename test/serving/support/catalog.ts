/** The objects of a schema, as Postgres writes them: a row for each, with the order of columns. */
export const catalog = (schema: string) => `
select 'relation' as kind,
  format('%s %s %s %s %s', relname, relkind, relpersistence, reloptions, relacl) as definition
from pg_class where relnamespace = '${schema}'::regnamespace
union all
select 'column', format('%s.%s %s %s not null: %s %s %s %s %s %s', attrelid::regclass, attname,
  row_number() over (partition by attrelid order by attnum), format_type(atttypid, atttypmod), attnotnull, attidentity,
  attgenerated, attcollation::regcollation, attstorage, pg_get_expr(adbin, adrelid))
from pg_attribute join pg_class c on c.oid = attrelid left join pg_attrdef on adrelid = attrelid and adnum = attnum
where relnamespace = '${schema}'::regnamespace and attnum > 0 and not attisdropped
union all
select 'constraint', format('%s %s %s', conrelid::regclass, conname, pg_get_constraintdef(oid))
from pg_constraint where connamespace = '${schema}'::regnamespace
union all
select 'index', indexdef from pg_indexes where schemaname = '${schema}'
union all
select 'function', format('%s %s', pg_get_functiondef(oid), proacl)
from pg_proc where pronamespace = '${schema}'::regnamespace
union all
select 'trigger', pg_get_triggerdef(t.oid) from pg_trigger t
join pg_class c on c.oid = tgrelid where relnamespace = '${schema}'::regnamespace and not tgisinternal
union all
select 'sequence', s::text
from (select sequencename, data_type, start_value, min_value, max_value, increment_by, cycle, cache_size
  from pg_sequences where schemaname = '${schema}') as s
union all
select 'view', format('%s %s', viewname, definition) from pg_views where schemaname = '${schema}'
order by 1, 2`
