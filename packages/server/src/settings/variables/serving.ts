/** Variables of the processes: what they store, where they listen, what they print. */
import { ProxyAddress } from "@narthex/core"
import { defaultSchema } from "@narthex/postgres"
import { defaultConnectionLimits, defaultProxySettings } from "@narthex/proxy"
import * as forms from "../forms.ts"
import { optional, secret, variable } from "../Variable.ts"

const proxy = ProxyAddress.defaultValue()
const loopback = "127.0.0.1"

export const store = {
  database: {
    url: secret(
      "DATABASE_URL",
      forms.databaseUrl,
      "unset: an embedded Postgres under the data directory",
      "The Postgres that stores everything."
    ),
    listen_url: secret(
      "DATABASE_LISTEN_URL",
      forms.listenUrl,
      "DATABASE_URL",
      "A direct URL for LISTEN, for when DATABASE_URL goes through a pooler. `off`: new events are found by polling alone."
    )
  },
  schema: variable(
    "DATABASE_SCHEMA",
    forms.schema,
    defaultSchema,
    "The schema of all tables of the store. It is made if there is none. Stores in one database with different schemas have nothing in common."
  ),
  data_dir: variable(
    "NARTHEX_DATA_DIR",
    forms.path,
    "./.narthex",
    "The directory of everything that the embedded parts keep."
  ),
  compute_dir: optional(
    "NARTHEX_COMPUTE_DIR",
    forms.path,
    "`computes` in NARTHEX_DATA_DIR",
    "The directory of the databases of branches with NARTHEX_COMPUTE=local. In production, a directory on another file system than the store's: what tenants write then cannot fill the store's disk."
  ),
  cpu_group: optional(
    "NARTHEX_CPU_GROUP",
    forms.path,
    "none: the processes of computes have a lower priority",
    "With NARTHEX_COMPUTE=local: the directory of the CPU control group of this process, which it may divide, as `Delegate=yes` gives it to a unit of systemd. Computes yield the CPU to the platform, and each organization gets the same share of what is left, however many databases run for it. Sizes (NARTHEX_SIZES) limit computes only with such a group, and their memory only where it has the controller `memory`."
  ),
  compute_standby: optional(
    "NARTHEX_COMPUTE_STANDBY",
    forms.duration,
    "a second process does not start",
    "With NARTHEX_COMPUTE=local: a runner that finds the directory of the computes held by another process waits, and takes over when that one ends, or kills it after it has shown no sign of life for this long. At least 40 seconds. It listens once it has taken over. Set it in both processes."
  ),
  master_secret: secret(
    "NARTHEX_MASTER_SECRET",
    forms.masterSecret,
    "embedded Postgres: generated once in the data directory, mode 0600",
    "Wraps signing keys; peppers, cookie keys and tokens derive from it. 32 random bytes as base64url. With DATABASE_URL it is required, because all instances share it. If it is lost, all API keys and sessions become invalid."
  ),
  key_peppers: variable(
    "NARTHEX_KEY_PEPPERS",
    forms.nonEmptyList("generations (whole numbers from 1)", forms.count),
    [1],
    "Generations of the pepper of API keys. New keys get the first; keys of every listed generation work. To rotate on several instances: `1,2` on all of them, then `2,1`."
  )
}

export const listeners = {
  api: {
    host: variable("NARTHEX_API_HOST", forms.host, loopback, "The address that the API listens on."),
    port: variable("NARTHEX_API_PORT", forms.port, 4400, "The port of the API. For every port, 0 takes a free one."),
    url: optional(
      "NARTHEX_API_URL",
      forms.baseUrl,
      "derived from host and port",
      "The API's URL as clients reach it: issuer and audience of session tokens."
    ),
    internal_url: optional(
      "NARTHEX_API_INTERNAL_URL",
      forms.baseUrl,
      "a process with the role api: its own listener; otherwise NARTHEX_API_URL",
      "The API's URL as the console and the Postgres proxy reach it, which avoids the public load balancer."
    )
  },
  console: {
    host: variable("NARTHEX_CONSOLE_HOST", forms.host, loopback, "The address that the console listens on."),
    port: variable("NARTHEX_CONSOLE_PORT", forms.port, 4401, "The port of the console."),
    url: optional(
      "NARTHEX_CONSOLE_URL",
      forms.origin,
      "derived from host and port",
      "The console's origin as browsers reach it. GET /v1/auth/providers shows it."
    ),
    token: secret(
      "NARTHEX_CONSOLE_TOKEN",
      forms.token,
      "embedded Postgres: generated; with DATABASE_URL: unset, and reported client addresses are ignored",
      "Proves to the API that a request comes from the console, so that the client address that it reports is used."
    )
  },
  proxy: {
    host: variable("NARTHEX_PROXY_HOST", forms.host, proxy.host, "The address that the Postgres proxy listens on."),
    port: variable("NARTHEX_PROXY_PORT", forms.port, proxy.port, "The port of the Postgres proxy."),
    domain: variable(
      "NARTHEX_PROXY_DOMAIN",
      forms.domain,
      proxy.domain,
      "The domain of endpoint hosts: <endpoint id>.<region>.<domain>. With `localhost`, connection_uri uses the proxy's address and carries options=endpoint%3D<id>."
    ),
    tls_cert: optional(
      "NARTHEX_PROXY_TLS_CERT",
      forms.path,
      "unset: plaintext only",
      "The proxy's certificate chain, a PEM file. Reloaded when it changes."
    ),
    tls_key: optional(
      "NARTHEX_PROXY_TLS_KEY",
      forms.path,
      "unset: plaintext only",
      "The private key of the certificate, a PEM file. Reloaded when it changes."
    ),
    tls_required: variable(
      "NARTHEX_PROXY_TLS_REQUIRED",
      forms.flag,
      false,
      "Whether the proxy refuses connections without TLS. It needs a certificate."
    ),
    processes: variable(
      "NARTHEX_PROXY_PROCESSES",
      forms.processes,
      1,
      "How many processes serve the connections of the Postgres proxy, all on its port. `1`: the process itself. `auto`: one for each core. The limits below are numbers of each process."
    ),
    limits: {
      connections: variable(
        "NARTHEX_PROXY_CONNECTIONS",
        forms.count,
        defaultConnectionLimits.connections,
        "Connections of one process of the proxy. At most half of them are of clients that have not proved themselves."
      ),
      org_connections: variable(
        "NARTHEX_PROXY_ORG_CONNECTIONS",
        forms.count,
        defaultConnectionLimits.org_connections,
        "Connections of one process of the proxy to the endpoints of one organization."
      ),
      endpoint_connections: variable(
        "NARTHEX_PROXY_ENDPOINT_CONNECTIONS",
        forms.count,
        defaultConnectionLimits.endpoint_connections,
        "Connections of one process of the proxy to one endpoint. Fewer than max_connections of its Postgres, so that some stay for the platform."
      )
    },
    trusted: variable(
      "NARTHEX_PROXY_TRUSTED",
      forms.list("networks", forms.network),
      [],
      "Networks of load balancers that send a PROXY protocol v2 header. Connections from them must begin with it; other clients cannot use it."
    ),
    token: secret(
      "NARTHEX_PROXY_TOKEN",
      forms.token,
      "embedded Postgres: generated; with DATABASE_URL: unset, and /v1/proxy/* is closed",
      "The credential of Postgres proxies at /v1/proxy/*."
    )
  },
  admin: {
    host: variable(
      "NARTHEX_ADMIN_HOST",
      forms.host,
      loopback,
      "The address that /health, /ready and /metrics are served on, also by narthex-proxy. They need no credential."
    ),
    port: variable("NARTHEX_ADMIN_PORT", forms.port, 4409, "The port of /health, /ready and /metrics.")
  },
  mcp_proxy: optional(
    "NARTHEX_MCP_PROXY",
    forms.address,
    "unset: /mcp is open only where the API and one process of the proxy are the same process",
    "The Postgres proxy that the API connects to for the agents of /mcp, with the agent's address in a PROXY protocol v2 header. The proxy has the API's machine in NARTHEX_PROXY_TRUSTED."
  ),
  trusted_hops: variable(
    "NARTHEX_TRUSTED_HOPS",
    forms.hops,
    0,
    "How many reverse proxies stand in front of the API and the console: so many X-Forwarded-For entries are trusted, counted from the right."
  ),
  webhook_networks: variable(
    "NARTHEX_WEBHOOK_NETWORKS",
    forms.list("networks", forms.network),
    [],
    "Networks that webhooks may lead to although they are not of the public internet, for receivers inside. Every organization can then send to them."
  ),
  shutdown_grace: variable(
    "NARTHEX_SHUTDOWN_GRACE",
    forms.duration,
    defaultProxySettings.shutdown_grace,
    "How long running requests and transactions may take after SIGTERM."
  )
}

export const output = {
  log: {
    level: variable("NARTHEX_LOG_LEVEL", forms.logLevel, "Info", "The lowest level that is logged."),
    format: optional(
      "NARTHEX_LOG_FORMAT",
      forms.words("pretty", "json"),
      "on a terminal: pretty; otherwise: json",
      "The form of the log, which goes to stderr."
    ),
    requests: variable(
      "NARTHEX_LOG_REQUESTS",
      forms.words("all", "errors", "none"),
      "errors",
      "Which requests to the API have a line in the log: `errors` are those that are refused or fail."
    )
  },
  telemetry: {
    endpoint: optional(
      "OTEL_EXPORTER_OTLP_ENDPOINT",
      forms.baseUrl,
      "unset: off",
      "The OpenTelemetry collector that traces and metrics are sent to."
    ),
    headers: secret(
      "OTEL_EXPORTER_OTLP_HEADERS",
      forms.headers,
      "none",
      "Headers for the collector: name=value pairs, separated by commas."
    )
  }
}
