/**
 * ROUTE: which endpoint a client names, and the startup packet without that name.
 *
 * Pure. A client names the endpoint in the server name of TLS, in `options`, or as a suffix of the user name. It may do
 * so more than once if the names are equal.
 *
 * Pitfall: removing the suffix from the user name only. If no database is given libpq sends the user name as the
 * database, so the suffix is removed from both.
 */
import { EndpointId, longestRoleName, twinSuffix } from "@narthex/core"
import { Data, Result } from "effect"
import { type Parameter, parameter, type Startup } from "../wire/startup.ts"

export interface Route {
  readonly endpoint_id: EndpointId
  readonly startup: Startup
}

/**
 * The client names no endpoint, an invalid one, or several, or a reserved role. `named` holds the names as sent, in
 * latin1.
 */
export class NoRoute extends Data.TaggedError("NoRoute")<{
  readonly reason: "none" | "malformed" | "contradictory" | "reserved"
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
  // The supervisor, the groups and the roles of Postgres are for no client. latin1: a character is a byte. Postgres would take the part of a longer name that it keeps.
  const kept = role.slice(0, longestRoleName)
  if (kept.endsWith(twinSuffix) || /^(?:pg_|narthex)/.test(kept))
    return Result.fail(new NoRoute({ reason: "reserved", named: [role] }))
  return Result.succeed({ endpoint_id: EndpointId.make(first), startup: { ...startup, parameters } })
}

/**
 * The startup packet for a read-only endpoint: of the twin of its role. `undefined` if the name of the role is too long
 * to have one.
 *
 * Pitfall: leaving the database to Postgres. Without one it takes the name of the user, which is another one now.
 */
export const asTwin = (startup: Startup): Startup | undefined => {
  const user = parameter(startup, "user") ?? ""
  if (user === "") return startup
  if (user.length + twinSuffix.length > longestRoleName) return undefined
  const database = parameter(startup, "database") || user
  const others = startup.parameters.filter(([name]) => name !== "user" && name !== "database")
  const named: ReadonlyArray<Parameter> = [
    ["user", user + twinSuffix],
    ["database", database]
  ]
  return { ...startup, parameters: [...named, ...others] }
}

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
