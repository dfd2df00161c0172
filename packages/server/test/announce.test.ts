/** The announcement of a process at its start: its parts, and no address that another process may listen on. */
import { assert, describe, it } from "@effect/vitest"
import { defaultUrl } from "@narthex/cli"
import { ConfigProvider, Effect } from "effect"
import { settleAddresses } from "../src/addresses.ts"
import { readyLine, readyText } from "../src/announce.ts"
import { internalUrl, type Role, rolesOf } from "../src/platform.ts"
import { loadSettings } from "../src/settings/Settings.ts"

const everything: ReadonlyArray<Role> = ["api", "runner", "console", "proxy"]

const settingsOf = (environment: Readonly<Record<string, string>>) =>
  loadSettings({ standalone: true, terminal: false }).pipe(
    Effect.provide(ConfigProvider.layer(ConfigProvider.fromUnknown(environment)))
  )

const rest = { compute_accounts: "own", data_dir: "/data", first: true, pid: 4_711 } as const

/** The members of the line that are addresses, and the names of the table's rows. */
const said = (roles: ReadonlyArray<Role>) =>
  Effect.gen(function* () {
    const settings = yield* settingsOf({ NARTHEX_PROXY_HOST: "::1" })
    const addresses = yield* settleAddresses(settings)
    const up = { addresses, providers: [], roles, settings, ...rest }
    const { admin, api, console: web, proxy, ready } = JSON.parse(readyLine(up))
    return { line: { admin, api, proxy, ready, web }, text: readyText(up) }
  })

describe("the announcement of a start", () => {
  it.effect("the announcement names every listener of the whole platform, an IPv6 address in brackets", () =>
    Effect.gen(function* () {
      const { line, text } = yield* said(everything)
      assert.deepStrictEqual(line, {
        ready: true,
        api: "http://127.0.0.1:4400",
        web: "http://127.0.0.1:4401",
        proxy: "[::1]:5442",
        admin: "http://127.0.0.1:4409"
      })
      for (const part of ["API  ", "Console  ", "Postgres proxy  ", "project create first"]) assert.include(text, part)
    })
  )

  it.effect("the announcement has no next commands on a store that has an account", () =>
    Effect.gen(function* () {
      const settings = yield* settingsOf({})
      const up = { addresses: yield* settleAddresses(settings), providers: [], roles: everything, settings, ...rest }
      const text = readyText({ ...up, first: false })
      assert.notInclude(text, "project create")
      assert.include(text, "Ctrl-C stops everything.")
    })
  )

  it.effect("the announcement leaves out what the process does not run, and the next commands without an API", () =>
    Effect.gen(function* () {
      const { line, text } = yield* said(["runner"])
      assert.deepStrictEqual(line, {
        ready: true,
        api: undefined,
        web: undefined,
        proxy: undefined,
        admin: "http://127.0.0.1:4409"
      })
      for (const part of ["API", "Console", "Postgres proxy", "project create"]) assert.notInclude(text, part)
    })
  )

  it.effect("a process runs the proxy only with a token: given, or generated with an embedded store", () =>
    Effect.gen(function* () {
      const shared = {
        DATABASE_URL: "postgresql:///narthex",
        NARTHEX_MASTER_SECRET: Buffer.alloc(32, 1).toString("base64url")
      }
      const runs = (environment: Readonly<Record<string, string>>) =>
        Effect.map(settingsOf(environment), (settings) => rolesOf(settings, everything).includes("proxy"))
      assert.isTrue(yield* runs({}))
      assert.isFalse(yield* runs(shared))
      assert.isTrue(yield* runs({ ...shared, NARTHEX_PROXY_TOKEN: "token" }))
    })
  )

  it.effect("console and proxy reach the API of their own process directly, or else where the settings say", () =>
    Effect.gen(function* () {
      const urlFor = Effect.fnUntraced(function* (roles: ReadonlyArray<Role>, internal?: string) {
        const settings = yield* settingsOf({
          NARTHEX_API_URL: "https://api.example.com",
          NARTHEX_API_HOST: "0.0.0.0",
          NARTHEX_DEV_PROVIDERS: "false",
          ...(internal === undefined ? {} : { NARTHEX_API_INTERNAL_URL: internal })
        })
        return internalUrl({ settings, addresses: yield* settleAddresses(settings), roles })
      })
      assert.strictEqual(yield* urlFor(everything), "http://127.0.0.1:4400")
      assert.strictEqual(yield* urlFor(["console"]), "https://api.example.com")
      assert.strictEqual(yield* urlFor(["console"], "http://10.0.0.7:4400"), "http://10.0.0.7:4400")
      assert.strictEqual(yield* urlFor(everything, "http://10.0.0.7:4400"), "http://10.0.0.7:4400")
    })
  )

  it.effect("the next commands name the API only if it is not at the command line's default address", () =>
    Effect.gen(function* () {
      const textAt = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
        const settings = yield* settingsOf(environment)
        const addresses = yield* settleAddresses(settings)
        assert.isTrue(addresses.api.url === defaultUrl || environment["NARTHEX_API_PORT"] !== undefined)
        return readyText({ addresses, providers: [], roles: everything, settings, ...rest })
      })
      assert.notInclude(yield* textAt({}), "NARTHEX_URL=")
      assert.include(yield* textAt({ NARTHEX_API_PORT: "4500" }), "NARTHEX_URL=http://127.0.0.1:4500 ")
    })
  )

  it.effect("the announcement says where local databases share the account of the process", () =>
    Effect.gen(function* () {
      const settings = yield* settingsOf({})
      const up = { addresses: yield* settleAddresses(settings), providers: [], settings, ...rest }
      const shared = { ...up, roles: everything, compute_accounts: "shared" } as const
      assert.strictEqual(JSON.parse(readyLine(shared)).compute_accounts, "shared")
      assert.include(readyText(shared), "share the account of this process")
      const elsewhere = { ...up, roles: ["api"], compute_accounts: "shared" } as const
      assert.notProperty(JSON.parse(readyLine(elsewhere)), "compute_accounts")
      assert.notInclude(readyText({ ...up, roles: everything }), "share the account")
    })
  )

  it.effect("the announcement names the mode, its reason, and what follows from it", () =>
    Effect.gen(function* () {
      const announced = Effect.fnUntraced(function* (environment: Readonly<Record<string, string>>) {
        const settings = yield* settingsOf(environment)
        const addresses = yield* settleAddresses(settings)
        const up = { addresses, providers: [], roles: everything, settings, ...rest }
        const { mode, mode_because } = JSON.parse(readyLine(up))
        return { mode, because: mode_because.join("; "), text: readyText(up) }
      })
      const here = yield* announced({})
      assert.strictEqual(here.mode, "development")
      assert.match(here.text, /Mode +development \(.*\): development providers on, rate and stream limits off/)
      const served = yield* announced({ NARTHEX_API_URL: "https://api.example.com", NARTHEX_TRUSTED_HOPS: "1" })
      assert.strictEqual(served.mode, "production")
      for (const part of ["NARTHEX_API_URL", "NARTHEX_TRUSTED_HOPS"]) assert.include(served.because, part)
      assert.match(served.text, /Mode +production \(.*\): development providers off, rate and stream limits on/)
    })
  )
})
