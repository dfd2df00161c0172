/**
 * Every variable of the server and of the standalone platform: its name, how it is read, its default as people read
 * it, and what it means. Documentation is made from this table, and nothing outside it is read.
 *
 * The names are a contract. The command line's own variables are the command line's.
 */
import { Duration } from "effect"
import * as forms from "./forms.ts"

export interface Variable<A> {
  readonly name: string
  readonly form: forms.Form<A>
  /** Is the value secret? Then it may also be given as a file (`…_FILE`), and is never shown. */
  readonly secret: boolean
  readonly default: string
  readonly meaning: string
}

const open = <A>(name: string, form: forms.Form<A>, fallback: string, meaning: string): Variable<A> => ({
  name,
  form,
  secret: false,
  default: fallback,
  meaning
})

const secret = <A>(name: string, form: forms.Form<A>, fallback: string, meaning: string): Variable<A> => ({
  ...open(name, form, fallback, meaning),
  secret: true
})

const store = {
  database_url: secret(
    "DATABASE_URL",
    forms.databaseUrl,
    "unset: the embedded Postgres under the data directory",
    "the store"
  ),
  database_listen_url: secret(
    "DATABASE_LISTEN_URL",
    forms.listenUrl,
    "DATABASE_URL",
    "a direct URL for LISTEN where the other goes through a pooler; `off`: polling alone"
  ),
  data_dir: open("NARTHEX_DATA_DIR", forms.path, "./.narthex", "everything that the embedded parts keep"),
  master_secret: secret(
    "NARTHEX_MASTER_SECRET",
    forms.masterSecret,
    "embedded: made once in the data directory, 0600",
    "wraps signing keys, derives peppers and cookie keys; 32 bytes base64url. With DATABASE_URL it must be given (instances share it), or the process refuses to start"
  ),
  key_peppers: open(
    "NARTHEX_KEY_PEPPERS",
    forms.list("generations (whole numbers from 1)", forms.count),
    "1",
    "generations of the pepper of API keys: new keys get the first, keys of all of them work. To rotate on many instances: `1,2` everywhere, then `2,1`"
  )
}

const listeners = {
  api_host: open("NARTHEX_API_HOST", forms.host, "127.0.0.1", "where the API listens"),
  api_port: open("NARTHEX_API_PORT", forms.port, "4400", "the API's port; 0 takes a free one, as everywhere"),
  api_url: open(
    "NARTHEX_API_URL",
    forms.baseUrl,
    "derived",
    "what the API calls itself: the JWT's issuer and audience"
  ),
  console_host: open("NARTHEX_CONSOLE_HOST", forms.host, "127.0.0.1", "where the console listens"),
  console_port: open("NARTHEX_CONSOLE_PORT", forms.port, "4401", "the console's port"),
  console_url: open(
    "NARTHEX_CONSOLE_URL",
    forms.origin,
    "derived",
    "the console's origin, shown by GET /v1/auth/providers"
  ),
  console_token: secret(
    "NARTHEX_CONSOLE_TOKEN",
    forms.token,
    "embedded: made; with DATABASE_URL none: no such claim is believed",
    "with it the console proves itself to the API, so that the client address which it reports is believed"
  ),
  proxy_host: open("NARTHEX_PROXY_HOST", forms.host, "127.0.0.1", "where the Postgres proxy listens"),
  proxy_port: open("NARTHEX_PROXY_PORT", forms.port, "5442", "the Postgres proxy's port"),
  proxy_domain: open(
    "NARTHEX_PROXY_DOMAIN",
    forms.domain,
    "localhost",
    "endpoint hosts are <endpoint id>.<region>.<domain>. While it is `localhost`, connection_uri uses the proxy's address and carries options=endpoint%3D<id>"
  ),
  proxy_tls_cert: open(
    "NARTHEX_PROXY_TLS_CERT",
    forms.path,
    "unset: plaintext only",
    "PEM file, reloaded when it changes"
  ),
  proxy_tls_key: open(
    "NARTHEX_PROXY_TLS_KEY",
    forms.path,
    "unset: plaintext only",
    "PEM file, reloaded when it changes"
  ),
  proxy_trusted: open(
    "NARTHEX_PROXY_TRUSTED",
    forms.list("networks", forms.network),
    "none",
    "networks whose PROXY protocol v2 header is believed (and required)"
  ),
  proxy_token: secret(
    "NARTHEX_PROXY_TOKEN",
    forms.token,
    "embedded: made; with DATABASE_URL none: /v1/proxy/* is closed",
    "what proxies show to /v1/proxy/*"
  ),
  admin_host: open("NARTHEX_ADMIN_HOST", forms.host, "127.0.0.1", "where metrics are served"),
  admin_port: open("NARTHEX_ADMIN_PORT", forms.port, "4409", "metrics, loopback unless told otherwise"),
  trusted_hops: open(
    "NARTHEX_TRUSTED_HOPS",
    forms.hops,
    "0",
    "how many X-Forwarded-For entries to believe, counted from the right; the console uses it too"
  ),
  shutdown_grace: open(
    "NARTHEX_SHUTDOWN_GRACE",
    forms.duration,
    "10 seconds",
    "how long running requests may take at the end"
  )
}

const people = {
  providers: secret(
    "NARTHEX_PROVIDERS",
    forms.providers,
    "none (standalone: the development ones)",
    'JSON: [{"id","name","issuer","client_ids":[…],"client_secret"?,"algorithms"?,"email_trust"?: "email_verified"|"never"}]. Issuers are https; http only on loopback'
  ),
  dev_providers: open(
    "NARTHEX_DEV_PROVIDERS",
    forms.words("true", "false", "insecure"),
    "true in standalone while API, console and proxy listen on loopback, else false",
    "two development identity providers, on loopback always. `true` with a non-loopback listener: the process refuses to start, unless the value is `insecure`; never when NODE_ENV=production"
  ),
  dev_provider_ports: open(
    "NARTHEX_DEV_PROVIDER_PORTS",
    forms.list("two ports", forms.port),
    "4402,4403",
    "the ports of the development identity providers"
  ),
  open_signup: open("NARTHEX_OPEN_SIGNUP", forms.flag, "true", "false: new accounts are pending"),
  sign_in_allowlist: open(
    "NARTHEX_SIGN_IN_ALLOWLIST",
    forms.list("user@dom and @dom", forms.allowlistEntry),
    "none",
    "user@dom, @dom; others get email_not_allowed"
  ),
  invitations_bypass_gate: open(
    "NARTHEX_INVITATIONS_BYPASS_GATE",
    forms.flag,
    "false",
    "true: a first sign-in with an invitation is enabled at once"
  ),
  id_token_replay: open(
    "NARTHEX_ID_TOKEN_REPLAY",
    forms.words("allow", "reject"),
    "allow",
    "or `reject`; tokens of revoked sessions are refused in any case"
  ),
  session_reuse: open(
    "NARTHEX_SESSION_REUSE",
    forms.words("observe", "grace60", "revoke"),
    "observe",
    "or `grace60`, `revoke`"
  ),
  jwt_lifetime: open(
    "NARTHEX_JWT_LIFETIME",
    forms.durationUpTo(Duration.minutes(15), "15 minutes"),
    "15 minutes",
    "shorter only"
  ),
  session_window: open(
    "NARTHEX_SESSION_WINDOW",
    forms.durationUpTo(Duration.hours(12), "12 hours"),
    "12 hours",
    "shorter only"
  )
}

const platform = {
  region: open(
    "NARTHEX_REGION",
    forms.region,
    "the first of NARTHEX_REGIONS",
    "the region that this instance emits events from; must be in the catalog, else the process refuses to start"
  ),
  regions: open(
    "NARTHEX_REGIONS",
    forms.list("regions (lower-case letters, digits and dashes)", forms.region),
    "local",
    "regions made at the very first start, first one the default; afterwards the catalog is the operator's"
  ),
  compute: open(
    "NARTHEX_COMPUTE",
    forms.words("local", "static", "memory"),
    "local",
    "`local`, `static` (with NARTHEX_STATIC_ENDPOINTS), `memory`"
  ),
  static_endpoints: open(
    "NARTHEX_STATIC_ENDPOINTS",
    forms.list("host:port, or absolute paths of sockets", forms.computeAddress),
    "none",
    "the Postgres servers that NARTHEX_COMPUTE=static hands out, each to one branch, for good"
  ),
  postgres_bin: open(
    "NARTHEX_POSTGRES_BIN",
    forms.path,
    "found: the system's, else npm's",
    "`system`, `npm`, or a directory with `postgres` and `initdb`"
  ),
  allowlist_refresh: open(
    "NARTHEX_ALLOWLIST_REFRESH",
    forms.duration,
    "30 seconds",
    "how often the proxy reads allowlists anew"
  ),
  allowlist_max_stale: open(
    "NARTHEX_ALLOWLIST_MAX_STALE",
    forms.duration,
    "10 minutes",
    "after it without a control plane, projects with rules refuse new connections; those whose last known list was empty stay open (logged)"
  ),
  event_ring: open("NARTHEX_EVENT_RING", forms.count, "1024", "events kept in memory for resuming, per organization"),
  event_retention: open("NARTHEX_EVENT_RETENTION", forms.duration, "24 hours", "how long the event log keeps events"),
  event_heartbeat: open(
    "NARTHEX_EVENT_HEARTBEAT",
    forms.duration,
    "15 seconds",
    "silence on a stream before a heartbeat"
  ),
  stream_max_age: open("NARTHEX_STREAM_MAX_AGE", forms.duration, "30 minutes", "a stream also ends with its JWT")
}

const limits = {
  rate_limits: open(
    "NARTHEX_RATE_LIMITS",
    forms.words("on", "off"),
    "on; standalone on loopback: off",
    "off switches off every limit of the next rows, stream counts included"
  ),
  limit_exchange: open("NARTHEX_LIMIT_EXCHANGE", forms.count, "300", "sign-ins a minute and client address"),
  limit_cli_exchange: open("NARTHEX_LIMIT_CLI_EXCHANGE", forms.count, "120", "CLI logins a minute and client address"),
  limit_failures: open(
    "NARTHEX_LIMIT_FAILURES",
    forms.count,
    "600",
    "failed authentications a minute and client address"
  ),
  limit_reports: open("NARTHEX_LIMIT_REPORTS", forms.count, "60", "reported secrets an hour and client address"),
  limit_refresh: open("NARTHEX_LIMIT_REFRESH", forms.count, "120", "refreshes a minute and session"),
  limit_key_creation: open("NARTHEX_LIMIT_KEY_CREATION", forms.count, "600", "new keys an hour and user"),
  limit_keys: open("NARTHEX_LIMIT_KEYS", forms.count, "1000", "live keys per user and organization"),
  limit_streams: open("NARTHEX_LIMIT_STREAMS", forms.count, "100", "open streams per principal"),
  limit_org_streams: open("NARTHEX_LIMIT_ORG_STREAMS", forms.count, "1000", "open streams per organization"),
  limit_instance_streams: open("NARTHEX_LIMIT_INSTANCE_STREAMS", forms.count, "10000", "open streams per instance"),
  limit_stream_opens: open("NARTHEX_LIMIT_STREAM_OPENS", forms.count, "50", "new streams a second and principal")
}

const output = {
  log_level: open(
    "NARTHEX_LOG_LEVEL",
    forms.words("trace", "debug", "info", "warn", "error", "fatal", "none"),
    "info",
    "the least that is logged"
  ),
  log_format: open(
    "NARTHEX_LOG_FORMAT",
    forms.words("pretty", "json"),
    "pretty on a terminal, else json",
    "how it is logged"
  ),
  otlp_endpoint: open("OTEL_EXPORTER_OTLP_ENDPOINT", forms.baseUrl, "off", "where traces and metrics are sent"),
  otlp_headers: secret("OTEL_EXPORTER_OTLP_HEADERS", forms.headers, "none", "name=value pairs to send them with")
}

export const variables = { ...store, ...listeners, ...people, ...platform, ...limits, ...output }
