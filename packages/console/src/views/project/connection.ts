/**
 * How programs connect: a connection as its parts, and the lines that people paste for psql, `.env`, Node, Python and
 * JDBC, or as a URI. Pure.
 */
import type { EndpointShown } from "../records.ts"

export interface Connection {
  readonly user: string
  readonly password: string
  readonly host: string
  readonly port: number
  readonly database: string
  /** The parameters of the query, decoded: `sslmode`, `options`. */
  readonly parameters: ReadonlyArray<readonly [name: string, value: string]>
}

/** The database that every branch has (docs/design/api.md). */
const database = "postgres"
const dots = "••••••••"

/** The parts of a connection string of the API; `null` for any other text. */
export const readConnection = (uri: string): Connection | null => {
  const url = URL.canParse(uri) ? new URL(uri) : null
  if (url === null || url.hostname === "") return null
  return {
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    host: url.hostname,
    port: url.port === "" ? 5432 : Number(url.port),
    database: decodeURIComponent(url.pathname.slice(1)) || database,
    parameters: [...url.searchParams]
  }
}

/** The connection of an endpoint as far as it is known before a password exists. */
export const maskedConnection = ({
  connection_template,
  host,
  port
}: Pick<EndpointShown, "connection_template" | "host" | "port">): Connection => {
  const known = connection_template?.replace("{role}", "role").replace("{password}", encodeURIComponent(dots))
  const read = known === undefined ? null : readConnection(known)
  // An API of an older version has no template.
  return read ?? { user: "role", password: dots, host, port, database, parameters: [] }
}

/** A password that is shown as dots stays readable; everything else is encoded. */
const encoded = (text: string) => (text === dots ? text : encodeURIComponent(text))

const queryOf = (parameters: Connection["parameters"]) =>
  parameters.length === 0
    ? ""
    : `?${parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&")}`

export const uriOf = ({ database, host, parameters, password, port, user }: Connection): string =>
  `postgresql://${encoded(user)}:${encoded(password)}@${host}:${port}/${encoded(database)}${queryOf(parameters)}`

/** The shell reads nothing in single quotes; one inside of them ends, is escaped, and begins again. */
const quoted = (text: string) => `'${text.replaceAll("'", String.raw`'\''`)}'`

const jdbc = ({ database, host, parameters, password, port, user }: Connection) => {
  const known = [`user=${encoded(user)}`, `password=${encoded(password)}`]
  const more = parameters.map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  return `jdbc:postgresql://${host}:${port}/${encoded(database)}?${[...known, ...more].join("&")}`
}

/** The tabs, in their order. */
export const tabs = [
  { id: "psql", label: "psql", lines: (connection: Connection) => `psql ${quoted(uriOf(connection))}` },
  { id: "env", label: ".env", lines: (connection: Connection) => `DATABASE_URL="${uriOf(connection)}"` },
  {
    id: "node",
    label: "Node",
    lines: (connection: Connection) =>
      `import pg from "pg"\n\nconst client = new pg.Client(${JSON.stringify(uriOf(connection))})\nawait client.connect()`
  },
  {
    id: "python",
    label: "Python",
    lines: (connection: Connection) =>
      `import psycopg\n\nwith psycopg.connect(${JSON.stringify(uriOf(connection))}) as connection:\n    print(connection.execute("select version()").fetchone())`
  },
  { id: "jdbc", label: "JDBC", lines: jdbc },
  { id: "uri", label: "URI", lines: uriOf }
] as const

export type TabId = (typeof tabs)[number]["id"]

/** An unknown tab is the first. */
export const tabNamed = (id: string | null): (typeof tabs)[number] => tabs.find((tab) => tab.id === id) ?? tabs[0]

/** The lines of each program. */
export const linesOf = (connection: Connection) =>
  tabs.map(({ id, label, lines }) => ({ id, label, text: lines(connection) }))
