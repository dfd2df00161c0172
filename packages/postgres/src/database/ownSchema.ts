/**
 * The schema that has the tables. Statements of this package name it `narthex`, and `Database` puts its name there. So
 * no statement depends on the search path of the session that runs it, which may be a host's.
 */

export const defaultSchema = "narthex"

/** Expected of the name of a schema: a mistake is a sentence with these words. */
export const formOfSchema = "the name of a schema: at most 63 bytes, not beginning with pg_, and not information_schema"

export const isSchemaName = (name: string): boolean => {
  const { length } = new TextEncoder().encode(name)
  const reserved = name.startsWith("pg_") || name === "information_schema"
  return length >= 1 && length <= 63 && name.isWellFormed() && !name.includes("\0") && !reserved
}

/** The name as an identifier of SQL. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

const named = /'?narthex\./g

/** Makes the text of a statement one about this schema. Names in literals, as of `nextval('narthex.…')`, are escaped for them. */
export const inSchema = (schema: string): ((text: string) => string) => {
  if (schema === defaultSchema) return (text) => text
  const plain = `${quoted(schema)}.`
  const literal = `'${plain.replaceAll("'", "''")}`
  return (text) => text.replaceAll(named, (found) => (found.startsWith("'") ? literal : plain))
}
