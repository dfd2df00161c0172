/** Tables of endpoints. */
import { type EndpointRecord, endpointSizeText } from "@narthex/api"
import { type Cell, facts, instant, rows } from "../output/table.ts"
import { stateText, yesNo } from "./states.ts"

export type Endpoint = typeof EndpointRecord.Type

const suspendText = (seconds: number): string => {
  if (seconds === -1) return "never"
  if (seconds % 3600 === 0) return `${seconds / 3600} h`
  return seconds % 60 === 0 ? `${seconds / 60} min` : `${seconds} s`
}

/** `branches`: names by id. */
export const endpointRows = (endpoints: ReadonlyArray<Endpoint>, branches: ReadonlyMap<string, string>) =>
  rows(
    ["id", "branch", "type", "size", "state", "disabled", "suspends after", "last active"],
    ...endpoints.map((endpoint) => [
      endpoint.id,
      branches.get(endpoint.branch_id) ?? endpoint.branch_id,
      endpoint.type,
      endpoint.size?.name,
      stateText(endpoint),
      yesNo(endpoint.disabled),
      suspendText(endpoint.suspend_timeout_seconds),
      instant(endpoint.last_active_at) ?? "never"
    ])
  )

/**
 * How a client reaches the endpoint: its host, or the proxy's address and the endpoint in `options`.
 *
 * Pitfall: the endpoint's own host. Under the domain `localhost` it resolves in few places, and has no SNI without TLS.
 */
export const hostPairs = ({
  connection_template,
  host,
  port
}: Pick<Endpoint, "connection_template" | "host" | "port">): ReadonlyArray<readonly [string, string]> => {
  // An API of an older version has no template.
  const uri = connection_template?.replace("{role}:{password}@", "") ?? `postgresql://${host}:${port}`
  const { hostname, port: shown, searchParams } = new URL(uri)
  return [["host", `${hostname}:${shown === "" ? 5432 : shown}`], ...searchParams]
}

const endpointPairs = (endpoint: Endpoint): ReadonlyArray<readonly [string, Cell]> => [
  ["endpoint", endpoint.id],
  ["branch", endpoint.branch_id],
  ["type", endpoint.type],
  ...hostPairs(endpoint),
  ["state", stateText(endpoint)],
  ["disabled", yesNo(endpoint.disabled)],
  ["size", endpointSizeText(endpoint.size)],
  ["suspends after", suspendText(endpoint.suspend_timeout_seconds)],
  ["last active", instant(endpoint.last_active_at) ?? "never"],
  ["created", instant(endpoint.created_at)]
]

export const endpointFacts = (endpoint: Endpoint) => facts(...endpointPairs(endpoint))
