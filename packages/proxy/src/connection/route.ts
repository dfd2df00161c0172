/**
 * ROUTE: which endpoint a client means, and the startup packet without the words that were for us.
 *
 * Pure. A client says it in the server name of TLS, in `options` or behind its user name; it may say it more than once,
 * but not differently.
 *
 * Pitfall: removing the suffix from the user name alone. libpq sends the user name as the database where none is given,
 * so it is removed from both.
 */
import { Data, Result } from "effect"
import { EndpointId } from "@narthex/core"
import { parameter, type Startup } from "../wire/startup.ts"

export interface Route {
  readonly endpoint_id: EndpointId
  readonly startup: Startup
}

/** No endpoint is named, or several. `named` is what the client said, in latin1. */
export class NoRoute extends Data.TaggedError("NoRoute")<{
  readonly reason: "none" | "malformed" | "contradictory"
  readonly named: ReadonlyArray<string>
}> {}

const endpointId = /^ep-[0-9a-z](?:[0-9a-z-]{0,58}[0-9a-z])?$/

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
  return Result.succeed({ endpoint_id: EndpointId.make(first), startup: { ...startup, parameters } })
}

/** `<endpoint id>.<region>.<domain>`; any other name says nothing about an endpoint. */
function labelOf(servername: string | undefined, domain: string): string | undefined {
  const name = (servername ?? "").toLowerCase().replace(/\.$/, "")
  const tail = `.${domain.toLowerCase()}`
  if (!name.endsWith(tail)) return undefined
  const [label, region, ...more] = name.slice(0, -tail.length).split(".")
  return region !== undefined && more.length === 0 && label?.startsWith("ep-") ? label : undefined
}

/** Takes `endpoint=…` out of command-line options, the way Postgres splits them: at spaces that no backslash escapes. */
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
