/**
 * ROUTE: which endpoint a client names, and the startup packet without that name.
 *
 * Pure. A client names the endpoint in the server name of TLS, in `options`, or as a suffix of the user name. It may do
 * so more than once if the names are equal.
 *
 * Pitfall: removing the suffix from the user name only. If no database is given libpq sends the user name as the
 * database, so the suffix is removed from both.
 */
import { EndpointId, twinSuffix } from "@narthex/core"
import { Data, Result } from "effect"
import { type Parameter, parameter, type Startup } from "../wire/startup.ts"

export interface Route {
  readonly endpoint_id: EndpointId
  /** The role as the client sent it, in latin1. */
  readonly role: string
  readonly startup: Startup
}

/** The client names no endpoint, an invalid one, or several. `named` holds the names as sent, in latin1. */
export class NoRoute extends Data.TaggedError("NoRoute")<{
  readonly reason: "none" | "malformed" | "contradictory"
  readonly named: ReadonlyArray<string>
}> {}

const endpointId = /^ep-[0-9a-z](?:[0-9a-z-]{0,58}[0-9a-z])?$/

/** The endpoint of a connection. `domain` is the suffix of the host names of endpoints. */
export const route = (
  startup: Startup,
  servername: string | undefined,
  domain: string
): Result.Result<Route, NoRoute> => {
  const label = labelOf(servername, domain)
  const options = fromOptions(parameter(startup, "options") ?? "")
  const user = parameter(startup, "user") ?? ""
  const suffix = /^(.+)\.(ep-[0-9a-z-]+)$/.exec(user)
  const named = [label, ...options.named, suffix?.[2]].filter((id) => id !== undefined)
  const [first] = named
  if (first === undefined) return Result.fail(new NoRoute({ reason: "none", named }))
  if (named.some((id) => id !== first)) return Result.fail(new NoRoute({ reason: "contradictory", named }))
  if (!endpointId.test(first)) return Result.fail(new NoRoute({ reason: "malformed", named }))

  const parameters = startup.parameters.flatMap(([name, value]): Startup["parameters"] => {
    if (name === "options" && options.named.length > 0) return options.rest === "" ? [] : [[name, options.rest]]
    const carriesSuffix = name === "user" || (name === "database" && value === user)
    return [[name, carriesSuffix ? (suffix?.[1] ?? value) : value]]
  })
  const role = suffix?.[1] ?? user
  return Result.succeed({ endpoint_id: EndpointId.make(first), role, startup: { ...startup, parameters } })
}

/**
 * The startup packet for the compute: protocol 3.0 without options of the protocol, which the proxy negotiates itself. On a
 * read-only endpoint it names the twin of the role.
 *
 * Pitfall: leaving the database to Postgres. Postgres would take the name of the user, which differs for a twin.
 */
export const upstream = (startup: Startup, role: string, twin: boolean): Startup => {
  const parameters = startup.parameters.filter(([name]) => !isProtocolOption(name))
  if (!twin) return { ...startup, version: 0x30000, parameters }
  const database = parameter(startup, "database") || role
  const named: ReadonlyArray<Parameter> = [
    ["user", role + twinSuffix],
    ["database", database]
  ]
  const others = parameters.filter(([name]) => name !== "user" && name !== "database")
  return { ...startup, version: 0x30000, parameters: [...named, ...others] }
}

/** The options of the protocol that a client asks for. */
export const protocolOptions = ({ parameters }: Startup): ReadonlyArray<string> =>
  parameters.flatMap(([name]) => (isProtocolOption(name) ? [name] : []))

const isProtocolOption = (name: string) => name.startsWith("_pq_.")

/** The first label of `<endpoint id>.<region>.<domain>`; `undefined` for every other name. */
function labelOf(servername: string | undefined, domain: string): string | undefined {
  if (servername === undefined) return undefined
  const name = servername.toLowerCase().replace(/\.$/, "")
  const tail = `.${domain.toLowerCase()}`
  if (!name.endsWith(tail)) return undefined
  const [label, region, ...more] = name.slice(0, -tail.length).split(".")
  return region !== undefined && more.length === 0 && label?.startsWith("ep-") ? label : undefined
}

/** Removes `endpoint=…` from command-line options. They are split as Postgres does: at spaces without a backslash. */
function fromOptions(options: string): { readonly named: ReadonlyArray<string>; readonly rest: string } {
  const named: Array<string> = []
  const rest: Array<string> = []
  for (const [word] of options.matchAll(/(?:\\[\s\S]|[^\s\\])+/g)) {
    if (!word.startsWith("endpoint=")) rest.push(word)
    else {
      named.push(word.slice("endpoint=".length))
      if (rest.at(-1) === "-c") rest.pop()
    }
  }
  return { named, rest: rest.join(" ") }
}
