import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema } from "effect"
import { InvalidSettings } from "../../src/settings/Settings.ts"
import { settingsTable } from "../../src/settings/settingsTable.ts"
import { type Env, inFile, load, mistakes, provider, providers, secret, shared, size, sizes } from "./environment.ts"

describe("settings are refused", () => {
  const wrong: ReadonlyArray<readonly [env: Env, sentence: string, standalone?: boolean]> = [
    [{ DATABASE_URL: shared.DATABASE_URL }, "NARTHEX_MASTER_SECRET must be given with DATABASE_URL"],
    [{ DATABASE_URL: "mysql://db", NARTHEX_MASTER_SECRET: secret }, "DATABASE_URL must be a postgres://"],
    [
      { DATABASE_URL: "postgres://me@a:5432,b:5432/x", NARTHEX_MASTER_SECRET: secret },
      "with one host (for several servers"
    ],
    [{ DATABASE_URL: "postgres://me@a,b/x", NARTHEX_MASTER_SECRET: secret }, "with one host (for several servers"],
    [{ DATABASE_LISTEN_URL: shared.DATABASE_URL }, "DATABASE_LISTEN_URL is given without DATABASE_URL"],
    [{ DATABASE_SCHEMA: "pg_own" }, "DATABASE_SCHEMA must be the name of a schema: at most 63 bytes, not beginning"],
    [{ NARTHEX_MASTER_SECRET: "short" }, "NARTHEX_MASTER_SECRET must be 32 bytes as base64url (43 characters)."],
    [{ NARTHEX_MASTER_SECRET: "a".repeat(64) }, "NARTHEX_MASTER_SECRET must be 32 bytes"],
    [
      { NARTHEX_MASTER_SECRET_FILE: "/nowhere/secret" },
      "NARTHEX_MASTER_SECRET_FILE names a file that cannot be read (ENOENT)."
    ],
    [{ NARTHEX_API_PORT: "65536" }, "NARTHEX_API_PORT must be a port from 0 to 65535."],
    [{ NARTHEX_API_PORT: "4400x" }, "NARTHEX_API_PORT must be a port"],
    [{ NARTHEX_API_PORT: "0x10" }, "NARTHEX_API_PORT must be a port"],
    [{ NARTHEX_API_HOST: "two words" }, "NARTHEX_API_HOST must be an IP address or a host name."],
    [{ NARTHEX_API_URL: "api.example" }, "NARTHEX_API_URL must be an http or https URL"],
    [{ NARTHEX_CONSOLE_URL: "https://console.example/app" }, "NARTHEX_CONSOLE_URL must be an http or https origin"],
    [{ NARTHEX_CONSOLE_TOKEN: "two words" }, "NARTHEX_CONSOLE_TOKEN must be visible ASCII"],
    [
      { NARTHEX_PROXY_TLS_CERT: "cert.pem" },
      "NARTHEX_PROXY_TLS_CERT and NARTHEX_PROXY_TLS_KEY must be given together."
    ],
    [{ NARTHEX_PROXY_TLS_REQUIRED: "true" }, "NARTHEX_PROXY_TLS_REQUIRED is on without a certificate"],
    [{ NARTHEX_PROXY_PROCESSES: "0" }, 'NARTHEX_PROXY_PROCESSES must be a whole number from 1 to 256, or "auto".'],
    [{ NARTHEX_PROXY_TRUSTED: "10.0.0.0/33" }, "NARTHEX_PROXY_TRUSTED must be a comma-separated list of networks."],
    [{ NARTHEX_MCP_PROXY: "proxy.internal" }, "NARTHEX_MCP_PROXY must be an address like proxy.internal:5442."],
    [{ NARTHEX_MCP_PROXY: "2001:db8::1:5442" }, "NARTHEX_MCP_PROXY must be an address like"],
    [{ NARTHEX_PROXY_DOMAIN: "10.0.0.1" }, "NARTHEX_PROXY_DOMAIN must be a domain name."],
    [{ NARTHEX_OPEN_SIGNUP: "yes" }, 'NARTHEX_OPEN_SIGNUP must be "true" or "false".'],
    [{ NARTHEX_OPEN_SIGNUP: "False" }, 'NARTHEX_OPEN_SIGNUP must be "true" or "false".'],
    [
      { NARTHEX_SIGN_IN_ALLOWLIST: "example.com" },
      "NARTHEX_SIGN_IN_ALLOWLIST must be a comma-separated list of user@dom and @dom."
    ],
    [{ NARTHEX_SIGN_IN_ALLOWLIST: "@example.com," }, "NARTHEX_SIGN_IN_ALLOWLIST must be"],
    [{ NARTHEX_SESSION_REUSE: "strict" }, 'NARTHEX_SESSION_REUSE must be "observe" or "grace60" or "revoke".'],
    [
      { NARTHEX_JWT_LIFETIME: "16 minutes" },
      "NARTHEX_JWT_LIFETIME must be a length of time from 1 second to 15 minutes."
    ],
    [{ NARTHEX_JWT_LIFETIME: "0 seconds" }, "NARTHEX_JWT_LIFETIME must be a length of time from 1 second"],
    [
      { NARTHEX_SESSION_WINDOW: "13 hours" },
      "NARTHEX_SESSION_WINDOW must be a length of time from 1 second to 12 hours."
    ],
    [{ NARTHEX_SESSION_WINDOW: "Infinity" }, "NARTHEX_SESSION_WINDOW must be"],
    [{ NARTHEX_SHUTDOWN_GRACE: "-1 seconds" }, 'NARTHEX_SHUTDOWN_GRACE must be a length of time like "15 minutes".'],
    [{ NARTHEX_SHUTDOWN_GRACE: "soon" }, "NARTHEX_SHUTDOWN_GRACE must be"],
    [{ NARTHEX_EVENT_RETENTION: "86400" }, "NARTHEX_EVENT_RETENTION must be"],
    [{ NARTHEX_LIMIT_CREATION: "0" }, "NARTHEX_LIMIT_CREATION must be a whole number of at least 1."],
    [{ NARTHEX_LIMIT_CREATION: "1.5" }, "NARTHEX_LIMIT_CREATION must be a whole number"],
    [{ NARTHEX_TRUSTED_HOPS: "-1" }, "NARTHEX_TRUSTED_HOPS must be a whole number from 0 to 16."],
    [{ NARTHEX_REGIONS: "eu west" }, "NARTHEX_REGIONS must be a comma-separated list of regions"],
    [{ NARTHEX_REGIONS: "eu,us,eu" }, 'NARTHEX_REGIONS names "eu" twice.'],
    [{ NARTHEX_COMPUTE: "cloud" }, 'NARTHEX_COMPUTE must be "local" or "static" or "kubernetes" or "memory".'],
    [{ NARTHEX_COMPUTE: "kubernetes" }, "NARTHEX_KUBERNETES must be given with NARTHEX_COMPUTE=kubernetes."],
    ...["", "{}", '{"storage_class":"fast","snapshot_class":"fast","storage":"10 GB"}', '{"storage":"fast"}'].map(
      (choices) =>
        [
          { NARTHEX_COMPUTE: "kubernetes", NARTHEX_KUBERNETES: choices },
          choices === ""
            ? "NARTHEX_KUBERNETES must be given"
            : "NARTHEX_KUBERNETES must be a JSON object with the storage_class"
        ] as const
    ),
    ...[
      '{"address":"db.example:5432"}',
      '{"address":"db.example:5432","tls":"maybe"}',
      '{"address":"127.0.0.1.example:1"}'
    ].map(
      (server) =>
        [
          { NARTHEX_COMPUTE: "static", NARTHEX_STATIC_COMPUTES: `[${server}]` },
          "NARTHEX_STATIC_COMPUTES must be a JSON list of"
        ] as const
    ),
    [{ NARTHEX_COMPUTE_UIDS: "0-10" }, "NARTHEX_COMPUTE_UIDS must be a range of uids from 1000 on"],
    [{ NARTHEX_COMPUTE_SHARED_ACCOUNT: "yes" }, 'NARTHEX_COMPUTE_SHARED_ACCOUNT must be "accept".'],
    [{ NARTHEX_COMPUTE_STANDBY: "30 seconds" }, "NARTHEX_COMPUTE_STANDBY must be at least 40s."],
    [{ NARTHEX_COMPUTE: "static" }, "NARTHEX_STATIC_COMPUTES must be given with NARTHEX_COMPUTE=static."],
    [{ NARTHEX_DEV_PROVIDERS: "true" }, "only `npm start` runs development providers"],
    [{ NARTHEX_DEV_PROVIDERS: "true", NARTHEX_API_HOST: "0.0.0.0" }, "beyond loopback", true],
    [{ NARTHEX_DEV_PROVIDERS: "true", NARTHEX_PROXY_HOST: "::" }, "beyond loopback", true],
    [{ NARTHEX_DEV_PROVIDERS: "true", NARTHEX_CONSOLE_HOST: "192.0.2.1" }, "beyond loopback", true],
    [{ NARTHEX_DEV_PROVIDERS: "true", NARTHEX_API_URL: "https://api.example.com" }, "NARTHEX_API_URL is beyond", true],
    [{ NARTHEX_DEV_PROVIDERS: "true", NARTHEX_TRUSTED_HOPS: "2" }, "while NARTHEX_TRUSTED_HOPS says", true],
    [{ NARTHEX_SIGN_IN_ALLOWLIST: "*@example.com" }, "NARTHEX_SIGN_IN_ALLOWLIST must be"],
    [{ NARTHEX_SIGN_IN_ALLOWLIST: "@*.example.com" }, "NARTHEX_SIGN_IN_ALLOWLIST must be"],
    [{ NARTHEX_DEV_PROVIDERS: "true", NODE_ENV: "production" }, "NODE_ENV=production", true],
    [{ NARTHEX_DEV_PROVIDERS: "insecure", NODE_ENV: "production" }, "NODE_ENV=production", true],
    [
      { NARTHEX_DEV_PROVIDER_PORTS: "4402" },
      "NARTHEX_DEV_PROVIDER_PORTS must be two ports, separated by a comma.",
      true
    ],
    [
      { NARTHEX_API_PORT: "5000", NARTHEX_CONSOLE_PORT: "5000" },
      "NARTHEX_API_PORT and NARTHEX_CONSOLE_PORT are both 5000",
      true
    ],
    [{ NARTHEX_ADMIN_PORT: "4403" }, "NARTHEX_ADMIN_PORT and NARTHEX_DEV_PROVIDER_PORTS (second) are both 4403", true],
    [{ NARTHEX_SIZES: "[]" }, "NARTHEX_SIZES must be a JSON list of sizes"],
    [sizes({ ...size, default: false }), "Expected distinct names, and one size that is the default"],
    [sizes(size, { ...size, default: false }), "Expected distinct names, and one size that is the default"],
    [sizes({ ...size, memory: "64 MiB" }), '0.memory: Expected a size like "4 GiB", of at least 128 MiB'],
    [sizes({ ...size, disk: "20" }), "0.disk"],
    [sizes({ ...size, cpus: 0 }), "0.cpus"],
    [sizes({ ...size, name: "Small" }), "0.name"],
    [sizes({ ...size, ram: "1 GiB" }), "0.ram"],
    [{ NARTHEX_PROVIDERS: "[" }, "NARTHEX_PROVIDERS must be a JSON list of providers"],
    [providers({ ...provider, issuer: "http://id.example" }), "0.issuer: must be an https URL, or http on loopback"],
    [providers({ ...provider, client_ids: [] }), "0.client_ids: must name at least one client id"],
    [providers({ ...provider, algorithms: ["HS256"] }), "0.algorithms.0"],
    [providers({ ...provider, algorithms: ["none"] }), "0.algorithms.0"],
    [providers({ ...provider, id: "goo gle" }), "0.id: must be 1 to 63 letters"],
    [providers({ ...provider, client: "typo" }), "0.client"],
    [
      providers(provider, { ...provider, client_ids: ["client-2"] }),
      'NARTHEX_PROVIDERS names the provider "google" twice.'
    ],
    [
      providers(provider, { ...provider, id: "other" }),
      'gives the client id "client-1" of the issuer https://accounts.google.com twice.'
    ]
  ]

  it.effect.each(wrong)("settings %j are refused: %s", ([env, sentence, standalone]) =>
    Effect.gen(function* () {
      const found = yield* mistakes(env, standalone)
      assert.lengthOf(found, 1, found.join("\n"))
      assert.include(found[0], sentence)
      assert.match(found[0] ?? "", /\.$/)
    })
  )

  it.effect("invalid settings are refused with all mistakes at once, without the value of a secret", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(
        load({
          DATABASE_URL: "mysql://root:hunter2@db",
          NARTHEX_MASTER_SECRET: "hunter2",
          NARTHEX_PROXY_TOKEN: "hunter2 hunter2",
          NARTHEX_API_PORT: "many",
          NARTHEX_OPEN_SIGNUP: "perhaps",
          NARTHEX_PROXY_TLS_KEY: "key.pem",
          ...providers({ ...provider, client_secret: { hunter2: true }, issuer: 7 })
        })
      )
      assert.instanceOf(error, InvalidSettings)
      assert.lengthOf(error.mistakes, 7)
      assert.notInclude(error.message, "hunter2")
      for (const mistake of error.mistakes) assert.include(error.message, mistake)
    })
  )

  it.effect("a secret that is given twice, or whose file is empty, is refused", () =>
    Effect.gen(function* () {
      const both = { NARTHEX_PROXY_TOKEN: "token", NARTHEX_PROXY_TOKEN_FILE: yield* inFile("token") }
      assert.deepStrictEqual(yield* mistakes(both), [
        "NARTHEX_PROXY_TOKEN and NARTHEX_PROXY_TOKEN_FILE are both set; set only one of them."
      ])
      assert.deepStrictEqual(yield* mistakes({ NARTHEX_PROXY_TOKEN_FILE: yield* inFile("\n") }), [
        "NARTHEX_PROXY_TOKEN_FILE names an empty file."
      ])
    })
  )

  it.effect.prop(
    "for any text of the variables, settings load or are refused in sentences",
    [Schema.String],
    ([text]) =>
      Effect.gen(function* () {
        const env = Object.fromEntries(
          settingsTable.filter(({ name }) => !name.endsWith("_FILE")).map(({ name }) => [name, text])
        )
        const outcome = yield* Effect.result(load(env, true))
        if (Result.isSuccess(outcome)) return assert.strictEqual(text, "")
        for (const mistake of outcome.failure.mistakes) assert.match(mistake, /^[A-Z][\s\S]*\.$/)
      })
  )
})
