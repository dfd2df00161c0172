/**
 * Where clients reach the Postgres proxy, and the names that it serves (`NARTHEX_PROXY_DOMAIN`).
 *
 * Resolvers do not serve names below `localhost`. While that is the domain, a connection string uses the proxy's own
 * address and names the endpoint in `options` (docs/settings.md).
 */
import { Context, Redacted } from "effect"
import { type Endpoint, EndpointView } from "./Endpoint.ts"

/** RFC 1123 §2.1: labels of letters, digits and hyphens. An IPv4 address has the same form. */
export const isHostName = (text: string): boolean =>
  /^(?=.{1,253}$)[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?(?:\.[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?)*$/.test(
    text
  )

const isIpv6 = (text: string) => /^[\da-f:.]+$/i.test(text) && URL.canParse(`http://[${text}]/`)

/** Whether the text may be a `ProxyLocation.host`: a host name or an IP address. */
export const isProxyHost = (text: string): boolean => isHostName(text) || isIpv6(text)

/** Whether the text may be a `ProxyLocation.domain`: a host name. An address has no names below it. */
export const isProxyDomain = (text: string): boolean => isHostName(text) && !/^\d+(\.\d+){3}$/.test(text)

export interface ProxyLocation {
  readonly domain: string
  readonly host: string
  readonly port: number
  /** Whether the proxy accepts TLS. */
  readonly tls: boolean
}

export const ProxyAddress = Context.Reference<ProxyLocation>("@narthex/core/records/projects/ProxyAddress", {
  defaultValue: () => ({ domain: "localhost", host: "127.0.0.1", port: 5442, tls: false })
})

const hostOf = (proxy: ProxyLocation, endpoint: Endpoint) => `${endpoint.id}.${endpoint.region_id}.${proxy.domain}`

/** The database that every branch has. */
export const databaseName = "postgres"

/** By host name, or by address with the endpoint in `options`. `{role}` and `{password}` stand for a credential. */
const templateOf = (proxy: ProxyLocation, endpoint: Endpoint): string => {
  const byName = proxy.domain !== "localhost"
  const host = byName ? hostOf(proxy, endpoint) : proxy.host.includes(":") ? `[${proxy.host}]` : proxy.host
  const parameters = [
    ...(byName ? [] : [`options=endpoint%3D${endpoint.id}`]),
    ...(proxy.tls ? ["sslmode=require"] : [])
  ]
  const query = parameters.length === 0 ? "" : `?${parameters.join("&")}`
  return `postgresql://{role}:{password}@${host}:${proxy.port}/${databaseName}${query}`
}

export const viewEndpoint = (proxy: ProxyLocation, endpoint: Endpoint): EndpointView => {
  const { address: _address, connections: _connections, generation: _generation, reach: _reach, ...shown } = endpoint
  return new EndpointView({
    ...shown,
    host: hostOf(proxy, endpoint),
    port: proxy.port,
    connection_template: templateOf(proxy, endpoint)
  })
}

/** A connection string that works unchanged. */
export const connectionUri = (
  proxy: ProxyLocation,
  endpoint: Endpoint,
  role: string,
  password: Redacted.Redacted
): Redacted.Redacted => {
  // Functions: in text, `$` would have a meaning.
  const uri = templateOf(proxy, endpoint)
    .replace("{role}", () => role)
    .replace("{password}", () => Redacted.value(password))
  return Redacted.make(uri, { label: "connection uri" })
}
