import { assert, describe, it } from "@effect/vitest"
import {
  AccessPolicy,
  defaultQuotas,
  EmittingRegion,
  EventSettings,
  KeyLimit,
  ProxyAddress,
  QuotaPolicy,
  RetentionPolicy,
  RunnerPolicy,
  SessionPolicy,
  SizeCatalog,
  WaitLimit,
  WebhookNetworks
} from "@narthex/core"
import { smallSize } from "@narthex/core/testing"
import { defaultRateLimits, RateLimits } from "@narthex/http"
import { Context, Duration, Effect, Layer, Redacted, Result } from "effect"
import { settleAddresses } from "../../src/addresses.ts"
import { layerReferences } from "../../src/references.ts"
import type { Settings } from "../../src/settings/Settings.ts"
import { settingsMarkdown, settingsTable, settingsText } from "../../src/settings/settingsTable.ts"
import { variablesOf } from "../../src/settings/Variable.ts"
import { variables } from "../../src/settings/variables.ts"
import { inFile, load, provider, providers, secret, shared, size, sizes, within } from "./environment.ts"

/** Comparable: secrets by what they hold. */
const plain = (settings: Settings): unknown =>
  JSON.parse(
    JSON.stringify(settings, (_, value: unknown) => (Redacted.isRedacted(value) ? Redacted.value(value) : value))
  )

describe("settings without any variable", () => {
  it.effect("without variables, a server has the documented settings", () =>
    Effect.gen(function* () {
      const { dev_providers, events, limits, sessions, ...rest } = yield* load()
      assert.isNull(rest.database)
      assert.isNull(rest.master_secret)
      assert.deepStrictEqual(rest.key_peppers, [1])
      assert.isTrue(rest.data_dir.endsWith("/.narthex"))
      assert.deepStrictEqual(rest.api, { host: "127.0.0.1", port: 4400, url: null, internal_url: null })
      assert.deepStrictEqual(rest.console, { host: "127.0.0.1", port: 4401, url: null, token: null })
      const most = { connections: 10_000, org_connections: 1_000, endpoint_connections: 90 }
      assert.deepStrictEqual(rest.proxy, {
        host: "127.0.0.1",
        port: 5442,
        domain: "localhost",
        tls: null,
        limits: most,
        processes: 1,
        trusted: [],
        token: null
      })
      assert.deepStrictEqual(rest.admin, { host: "127.0.0.1", port: 4409 })
      assert.deepStrictEqual(rest.access, { open_signup: true, sign_in_allowlist: [], invitations_bypass_gate: false })
      assert.deepStrictEqual([rest.region, rest.regions, rest.compute], [null, ["local"], "local"])
      assert.deepStrictEqual(
        [rest.trusted_hops, rest.log, rest.telemetry],
        [0, { level: "Info", format: "json", requests: "errors" }, null]
      )
      assert.isNull(dev_providers)
      assert.strictEqual(Duration.toMinutes(sessions.jwt_lifetime), 15)
      assert.strictEqual(Duration.toHours(sessions.window), 12)
      assert.deepStrictEqual([sessions.reuse, sessions.id_token_replay], ["observe", "allow"])
      assert.strictEqual(Duration.toHours(events.retention), 24)
      assert.deepStrictEqual(limits, {
        creation_per_minute: 240,
        org_creation_per_minute: 1200,
        calls_per_second: 16,
        streams: 100
      })
    })
  )

  it.effect("npm start on loopback has development providers and no limits", () =>
    Effect.gen(function* () {
      const { dev_providers, limits } = yield* load({}, true)
      assert.deepStrictEqual(dev_providers, { ports: [4402, 4403] })
      assert.isNull(limits)
    })
  )

  it.effect.each(["NARTHEX_API_HOST", "NARTHEX_CONSOLE_HOST", "NARTHEX_PROXY_HOST"])(
    "npm start with %s beyond loopback has limits and no development providers",
    (name) =>
      Effect.gen(function* () {
        const { dev_providers, limits } = yield* load({ [name]: "0.0.0.0" }, true)
        assert.isNull(dev_providers)
        assert.isNotNull(limits)
      })
  )

  it.effect("setting every variable to its default, or to nothing, changes no setting", () =>
    Effect.gen(function* () {
      const before = plain(yield* load())
      const spelled = variablesOf(variables).filter(
        ({ default: value, fallback }) => value !== null && fallback !== "none"
      )
      assert.isAtLeast(spelled.length, 35)
      const env = Object.fromEntries(spelled.map(({ fallback, name }) => [name, fallback]))
      assert.deepStrictEqual(plain(yield* load(env)), before)
      assert.deepStrictEqual(
        plain(yield* load(Object.fromEntries(settingsTable.map(({ name }) => [name, ""])))),
        before
      )
    })
  )

  it("each documented default reads as the value that runs", () => {
    for (const { default: value, fallback, name, read } of variablesOf(variables)) {
      if (value === null) continue
      if (Array.isArray(value) && value.length === 0) assert.strictEqual(fallback, "none", name)
      else assert.deepStrictEqual(Result.getOrThrow(read(fallback)), value, name)
    }
  })

  it.effect("without variables, the references of the core and the API have their own defaults", () =>
    Effect.gen(function* () {
      const settings = yield* load()
      const addresses = yield* settleAddresses(settings)
      const region = EmittingRegion.defaultValue()
      const references = yield* Layer.build(
        layerReferences(settings, region, addresses, { console: null, proxy: null })
      )
      assert.deepStrictEqual(Context.get(references, AccessPolicy), AccessPolicy.defaultValue())
      assert.deepStrictEqual(Context.get(references, SessionPolicy), SessionPolicy.defaultValue())
      assert.deepStrictEqual(Context.get(references, EventSettings), EventSettings.defaultValue())
      assert.strictEqual(Context.get(references, KeyLimit), KeyLimit.defaultValue())
      assert.deepStrictEqual(Context.get(references, WaitLimit), WaitLimit.defaultValue())
      assert.deepStrictEqual(Context.get(references, RateLimits), defaultRateLimits)
      assert.deepStrictEqual(Context.get(references, RetentionPolicy), RetentionPolicy.defaultValue())
      assert.deepStrictEqual(Context.get(references, QuotaPolicy), defaultQuotas)
      assert.deepStrictEqual(Context.get(references, RunnerPolicy), { ...RunnerPolicy.defaultValue(), region })
      assert.deepStrictEqual(Context.get(references, ProxyAddress), ProxyAddress.defaultValue())
      assert.deepStrictEqual(Context.get(references, WebhookNetworks), WebhookNetworks.defaultValue())
    })
  )
})

describe("settings", () => {
  it.effect("every variable sets its own setting", () =>
    Effect.gen(function* () {
      const settings = yield* load({
        ...shared,
        DATABASE_LISTEN_URL: "postgresql://direct.example/narthex",
        NARTHEX_API_URL: "https://api.example/",
        NARTHEX_CONSOLE_URL: "https://console.example/",
        NARTHEX_CONSOLE_TOKEN: "console-token",
        NARTHEX_PROXY_TLS_CERT: "cert.pem",
        NARTHEX_PROXY_TLS_KEY: "key.pem",
        NARTHEX_PROXY_TLS_REQUIRED: "true",
        NARTHEX_PROXY_PROCESSES: "auto",
        NARTHEX_PROXY_CONNECTIONS: "11",
        NARTHEX_PROXY_ORG_CONNECTIONS: "12",
        NARTHEX_PROXY_ENDPOINT_CONNECTIONS: "13",
        NARTHEX_PROXY_TRUSTED: "10.0.0.0/8, ::1",
        NARTHEX_WEBHOOK_NETWORKS: "192.168.0.0/16, fd00::/8",
        NARTHEX_SIGN_IN_ALLOWLIST: "ada@example.com,@example.org",
        NARTHEX_REGIONS: "eu-west,us-east",
        NARTHEX_REGION: "us-east",
        NARTHEX_JWT_LIFETIME: "30 seconds",
        NARTHEX_LOG_LEVEL: "warn",
        OTEL_EXPORTER_OTLP_ENDPOINT: "http://collector.example:4318",
        ...providers({ ...provider, client_secret: "hunter3", algorithms: ["RS256"], email_trust: "never" })
      })
      assert.strictEqual(Redacted.value(settings.database?.url ?? Redacted.make("")), shared.DATABASE_URL)
      assert.isTrue(settings.listen)
      assert.strictEqual(settings.api.url, "https://api.example")
      assert.strictEqual(settings.console.url, "https://console.example")
      assert.deepStrictEqual(settings.proxy.tls, { cert: "cert.pem", key: "key.pem", required: true })
      assert.strictEqual(settings.proxy.processes, "auto")
      assert.deepStrictEqual(settings.proxy.limits, {
        connections: 11,
        org_connections: 12,
        endpoint_connections: 13
      })
      assert.deepStrictEqual(settings.proxy.trusted.map(String), ["10.0.0.0/8", "::1/128"])
      assert.deepStrictEqual(settings.webhook_networks.map(String), ["192.168.0.0/16", "fd00::/8"])
      assert.deepStrictEqual(settings.access.sign_in_allowlist, ["ada@example.com", "@example.org"])
      assert.deepStrictEqual([settings.region, settings.regions], ["us-east", ["eu-west", "us-east"]])
      assert.strictEqual(Duration.toSeconds(settings.sessions.jwt_lifetime), 30)
      assert.strictEqual(settings.log.level, "Warn")
      assert.strictEqual(settings.telemetry?.endpoint, "http://collector.example:4318")
      assert.strictEqual(settings.providers[0]?.email_trust, "never")
      const shownTo = JSON.stringify(settings) + String(settings.providers[0]?.client_secret)
      for (const word of ["hunter2", "hunter3", secret, "console-token"]) assert.notInclude(shownTo, word)
    })
  )

  it.effect("a secret in a file is read without a byte order mark and the line feed at its end", () =>
    Effect.gen(function* () {
      const settings = yield* load({
        DATABASE_URL_FILE: yield* inFile(`${shared.DATABASE_URL}\n`),
        NARTHEX_MASTER_SECRET_FILE: yield* inFile(`${secret}\r\n`),
        NARTHEX_PROVIDERS_FILE: yield* inFile(`\ufeff${JSON.stringify([provider])}`)
      })
      assert.strictEqual(Redacted.value(settings.database?.url ?? Redacted.make("")), shared.DATABASE_URL)
      assert.strictEqual(Redacted.value(settings.master_secret ?? Redacted.make("")), secret)
      assert.strictEqual(settings.providers[0]?.id, "google")
    })
  )

  it.effect("DATABASE_LISTEN_URL=off switches notifications off", () =>
    Effect.gen(function* () {
      assert.isFalse((yield* load({ ...shared, DATABASE_LISTEN_URL: "off" })).listen)
      assert.isFalse((yield* load({ DATABASE_LISTEN_URL: "off" })).listen)
    })
  )

  it.effect("development providers run beyond loopback only as `insecure`", () =>
    Effect.gen(function* () {
      const open = { NARTHEX_API_HOST: "0.0.0.0", NARTHEX_DEV_PROVIDERS: "insecure", NARTHEX_DEV_PROVIDER_PORTS: "0,0" }
      assert.deepStrictEqual((yield* load(open, true)).dev_providers, { ports: [0, 0] })
    })
  )

  it.effect("NARTHEX_RATE_LIMITS switches all limits on and off", () =>
    Effect.gen(function* () {
      assert.isNotNull((yield* load({ NARTHEX_RATE_LIMITS: "on" }, true)).limits)
      assert.isNull((yield* load({ NARTHEX_RATE_LIMITS: "off" })).limits)
    })
  )
})

describe("quotas", () => {
  it.effect("a server has the documented quotas, with its limits off too, unless others are set", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual((yield* load({ NARTHEX_RATE_LIMITS: "off" })).quotas, defaultQuotas)
      const given = yield* load({
        NARTHEX_QUOTA_PROJECTS: "7",
        NARTHEX_QUOTA_DISK: "3 TiB",
        NARTHEX_QUOTA_PERSONAL_PERCENT: "50"
      })
      const { disk_bytes, personal_percent, projects } = given.quotas
      assert.deepStrictEqual([projects, disk_bytes, personal_percent], [7, 3 * 1024 ** 4, 50])
    })
  )

  it.effect("a catalog of sizes has its numbers in bytes, and none unless it is set", () =>
    Effect.gen(function* () {
      assert.isNull((yield* load({})).sizes)
      const { sizes: found } = yield* load(sizes(size, { ...size, name: "large", cpus: 2, default: undefined }))
      const settings = yield* load(sizes(size))
      const addresses = yield* settleAddresses(settings)
      const own = layerReferences(settings, EmittingRegion.defaultValue(), addresses, { console: null, proxy: null })
      assert.deepStrictEqual(Context.get(yield* Layer.build(own), SizeCatalog), [smallSize])
      assert.deepStrictEqual(found, [smallSize, { ...smallSize, name: "large", cpus: 2, default: false }])
    }).pipe(Effect.scoped)
  )

  it.effect.each(["0 GiB", "200", "200 GB", "-1 GiB", "9999999999 TiB", "GiB"])(
    "a disk quota of %s is refused",
    (text) =>
      Effect.gen(function* () {
        const { mistakes } = yield* Effect.flip(load({ NARTHEX_QUOTA_DISK: text }))
        assert.deepStrictEqual(mistakes, ['NARTHEX_QUOTA_DISK must be a size like "200 GiB".'])
      })
  )
})

describe("the table of settings", () => {
  it("the table of settings has every variable once, with a default and a meaning", () => {
    const names = settingsTable.map(({ name }) => name)
    assert.strictEqual(new Set(names).size, names.length)
    for (const row of settingsTable) {
      assert.match(row.name, /^[A-Z][A-Z0-9_]+$/)
      assert.isNotEmpty(row.default)
      assert.isNotEmpty(row.meaning)
      assert.include(settingsMarkdown(), `\`${row.name}\``)
    }
  })

  it("the table of settings offers a file for every secret", () => {
    const secrets = settingsTable.filter((row) => row.secret).map(({ name }) => name)
    assert.includeMembers(secrets, [
      "DATABASE_URL",
      "NARTHEX_MASTER_SECRET",
      "NARTHEX_CONSOLE_TOKEN",
      "NARTHEX_PROXY_TOKEN",
      "NARTHEX_PROVIDERS"
    ])
  })

  it.effect("narthex-server settings says which variables are given, and shows no value", () =>
    Effect.gen(function* () {
      const text = yield* within({ ...shared, NARTHEX_API_PORT: "wrong" }, settingsText)
      assert.match(text, /^DATABASE_URL \(or DATABASE_URL_FILE\)\n {4}given\n/m)
      assert.match(text, /^NARTHEX_API_PORT\n {4}given\n/m)
      assert.match(text, /^NARTHEX_API_HOST\n {4}default: 127\.0\.0\.1\n/m)
      assert.notInclude(text, "hunter2")
      assert.notInclude(text, secret)
    })
  )
})
