/** The order of the house: what each package may import, and the order of the folders and files of its `src`. */

const effect = ["effect", "effect/"]
const node = ["@effect/platform-node/", "node:"]

/** package → what its `src` may import; a prefix ending in `/` allows the modules below it. */
export const allowed: Record<string, ReadonlyArray<string>> = {
  core: ["effect", "effect/encoding", "ulid", "ipaddr.js"],
  api: [...effect, "@narthex/core"],
  postgres: [...effect, "@narthex/core", "@effect/sql-pg", "@effect/sql-pg/"],
  "compute-roles": [...effect, "@narthex/core", "@narthex/core/testing", "@effect/sql-pg"],
  "local-postgres": [
    ...effect,
    "@narthex/core",
    "@narthex/compute-roles",
    "@effect/sql-pg",
    "@effect/sql-pg/",
    "node:"
  ],
  kubernetes: [...effect, "@narthex/core", "@narthex/compute-roles", "@effect/sql-pg", "yaml", "node:"],
  http: [...effect, "@narthex/core", "@narthex/api", "@effect/platform-node", "jose", ...node],
  proxy: [...effect, "@narthex/core", "@narthex/api", "node:"],
  mcp: [...effect, "@narthex/api", "@effect/sql-pg/", "node:"],
  cli: [...effect, "@narthex/api", "@narthex/mcp", "jq-wasm/inline", ...node],
  console: [
    ...effect,
    "@narthex/api",
    "jose",
    "openid-client",
    "preact",
    "preact/",
    "preact-render-to-string",
    ...node
  ],
  narthex: [
    ...effect,
    "@narthex/core",
    "@narthex/core/testing",
    "@narthex/api",
    "@narthex/http/web",
    "@narthex/postgres"
  ],
  "dev-providers": ["effect", "@narthex/http", "oidc-provider", "node:"],
  server: [...effect, "@narthex/", ...node]
}

const record = (domain: string) => `records/${domain}`
const service = (domain: string) => `services/${domain}`

/**
 * package → its folders and root files from the lowest up: each imports only what stands before it, types included. A
 * folder inside a folder may have a place of its own; else it has that of its parent.
 */
export const order: Record<string, ReadonlyArray<string>> = {
  core: [
    ...["Entropy.ts", "Ids.ts", "means.ts", "StorageError.ts", "becauseOf.ts", "requestSpan.ts"],
    ...["Refusals.ts", "Page.ts", "Digest.ts", "records/memory"],
    ...["accounts", "audit", "regions", "keys", "projects", "sessions", "limits", "idempotency", "events"].map(record),
    ...["operations", "computes", "allowlist", "webhooks", "cli-login", "quotas", "overviews"].map(record),
    ...["access", "purge"].map(record),
    ...["Transaction.ts", "rules", "services/events/ring", "services/events/streams"],
    ...["audit", "regions", "operations", "quotas", "allowlist", "access", "own-events"].map(service),
    ...["sign-in", "keys", "cli-login", "organizations", "overviews", "projects", "proxy-requests", "webhooks"].map(
      service
    ),
    ...["runner", "memoryPorts.ts", "retention.ts", "CoreServices.ts", "index.ts"]
  ],
  postgres: [
    ...["migrations", "driver", "host", "database", "adopt.ts", "migrate.ts"],
    ...["accounts", "regions", "keys", "projects", "sessions", "limits", "idempotency", "events"],
    ...["audit", "operations", "quotas", "allowlist", "webhooks", "access", "overviews", "cli-login", "purge"],
    ...["PostgresTransaction.ts", "PostgresStorage.ts", "index.ts"]
  ],
  proxy: [
    ...["networks", "wire", "scram", "outcomes", "allowlist", "control-plane"],
    ...["limits", "compute", "relay", "opening"],
    ...["ProxyConfig.ts", "listen.ts", "connectWithin.ts", "makeProxy.ts", "Proxy.ts", "index.ts"]
  ],
  mcp: ["sql", "access", "tools", "server", "index.ts"],
  api: ["problems", "schemas", "audit", "rules", "groups", "Api.ts", "openapi", "client", "index.ts"],
  http: [
    ...["ClientAddress.ts", "privateFile.ts", "MasterSecret.ts", "masterSecretFile.ts"],
    ...["ServerIdentity.ts", "Draining.ts", "toProblem.ts", "transport", "webhooks"],
    ...["sessions", "limits", "middleware", "events", "handlers", "docs", "server", "web.ts", "index.ts"]
  ],
  narthex: ["failures", "options", "composition", "host", "layerHttp.ts", "ControlPlane.ts", "testing.ts", "index.ts"],
  "compute-roles": [
    ...["roleNames.ts", "uncheckedCalls.ts", "loginsUnderWay.ts", "endsWithin.ts", "SuperuserSession.ts", "reads.ts"],
    ...["SharedObjects.ts", "RoleGroups.ts", "Withdrawals.ts", "MintedRoles.ts", "settledAccess.ts"],
    ...["roleDifference.ts", "applyRoles.ts", "index.ts"]
  ],
  "local-postgres": ["machine", "cluster", "store", "computes", "index.ts"],
  kubernetes: ["access", "api", "objects", "computes", "index.ts"],
  cli: [
    ...["failures", "environment", "output", "input", "contexts", "connection", "login"],
    ...["names", "following", "tables", "connecting", "completion", "commands"],
    ...["help", "root.ts", "narthex.ts", "runCli.ts", "main.ts", "manner.ts", "index.ts"]
  ],
  console: [
    ...["ConsoleConfig.ts", "web", "components", "shell", "views", "api", "sessions", "relay", "requests", "routes"],
    ...["Console.ts", "ConsoleServer.ts", "index.ts"]
  ],
  "dev-providers": [
    ...["BoundedMap.ts", "DevAccount.ts", "DevClient.ts", "MemoryAdapter.ts", "SigningKey.ts", "IdToken.ts"],
    ...["loopbackServer.ts", "pages.ts", "problem.ts", "answerSignIn.ts", "issuerConfiguration.ts", "library.ts"],
    ...["loadLater.ts", "Issuer.ts", "DevProviders.ts", "index.ts"]
  ],
  server: [
    ...["settings", "adapters", "version.ts", "freePort.ts", "addresses.ts", "processMetrics.ts"],
    ...["listeners.ts", "ClosingServer.ts", "admin.ts", "logging.ts", "telemetry.ts", "store.ts"],
    ...["computeHome.ts", "kubernetes.ts", "computes.ts", "devProviders.ts", "identity.ts", "metricCatalog.ts"],
    ...["references.ts", "sumMetrics.ts", "proxyProcesses.ts", "proxy.ts", "mcp.ts", "platform.ts"],
    ...["announce.ts", "manner.ts", "run.ts", "controlPlaneAnswers.ts", "doctor"],
    ...[
      "operatorAudit.ts",
      "regionCommands.ts",
      "quotaCommands.ts",
      "operator.ts",
      "main.ts",
      "server.ts",
      "proxyServer.ts"
    ],
    "index.ts"
  ]
}
