/** Holds docs/design/library.md N3. */
import { assert, describe, it } from "@effect/vitest"
import { defaultRetention, defaultRunnerSettings, KeyDigester, RetentionPolicy, RunnerPolicy } from "@narthex/core"
import { Duration, Effect, Layer, Redacted } from "effect"
import {
  ControlPlane,
  type ControlPlaneOptions,
  createControlPlane,
  isNarthexError,
  memory,
  postgres
} from "../src/index.ts"

/** An object with a member that throws when it is read. */
const breaking = (member: string): object =>
  Object.defineProperty({}, member, {
    enumerable: true,
    get: () => {
      throw new Error("s3cret")
    }
  })

const refusal = async (options: ControlPlaneOptions) => {
  const made: unknown = await createControlPlane({ log: "off", ...options }).catch((error: unknown) => error)
  if (!isNarthexError(made)) return assert.fail("The options were accepted.")
  assert.strictEqual(made.code, "invalid_options")
  return made.message
}

describe("the options of a control plane", () => {
  it("storage that outlives the process is refused without a secret, with a sentence that says how to make one", async () => {
    const message = await refusal({ storage: { ...memory(), durable: true } })
    assert.match(message, /^secret: .*outlives the process.*openssl rand -base64 32/)
  })

  it("a secret of another length is refused without being shown", async () => {
    const message = await refusal({ secret: "much-too-short" })
    assert.match(message, /^secret: expected 32 bytes/)
    assert.notInclude(message, "much-too-short")
  })

  it("a secret is taken from the function that reads it", async () => {
    const secret = "A".repeat(43)
    const cp = await createControlPlane({ storage: { ...memory(), durable: true }, secret: async () => `${secret}\n` })
    await cp.close()
  })

  it("a provider that is not one is refused with the member that is wrong", async () => {
    const provider = { id: "google", name: "Google", issuer: "ftp://accounts.google.com", client_ids: ["me"] }
    assert.match(await refusal({ identity: [provider] }), /^identity: [\s\S]*issuer/)
  })

  it("a base path is refused unless it is one", async () => {
    for (const basePath of ["control", "/a b", "/a/../b", "/a?b", "https://example.com/control"])
      assert.match(await refusal({ basePath }), /^basePath: /)
  })

  it("an option that does not exist is refused with the names of those that do", async () => {
    // A mistake that the types find, made in JavaScript.
    const misspelt: object = { storge: memory() }
    assert.match(await refusal(misspelt), /^storge: there is no such option.* storage, /)
    const address: object = { clientAddress: "x-forwarded-for" }
    assert.match(await refusal(address), /^clientAddress: expected a function/)
  })

  it("a limit that is not a number from zero is refused, so that it does not end every limit", async () => {
    assert.match(await refusal({ limits: { quotas: { projects: Number.NaN } } }), /^limits\.quotas\.projects: /)
    assert.match(await refusal({ limits: { keys: -1 } }), /^limits\.keys: /)
    assert.match(await refusal({ grace: Number.NaN }), /^grace: /)
  })

  it("every option and each of its members is refused by its name, unless it has the form that its type says", async () => {
    const wrongs: ReadonlyArray<readonly [wrong: unknown, says: string]> = [
      [null, "options: expected an object"],
      [{ storage: "postgresql://localhost/shop" }, "storage: expected memory(), postgres(url)"],
      [{ storage: { durable: true } }, "storage: expected memory(), postgres(url)"],
      [{ storage: Promise.resolve(memory()) }, "storage: expected memory(), postgres(url)"],
      [{ secret: 42 }, "secret: expected text or a function"],
      [{ secret: async () => undefined }, "secret: expected 32 bytes"],
      [{ secret: () => Promise.reject(new Error("no vault")) }, "secret: the function that reads it failed"],
      [{ identity: { id: "google" } }, "identity: expected an array or a Layer"],
      [{ computes: {} }, "computes: expected a Layer"],
      [{ regions: "eu-1" }, "regions: expected an array of text"],
      [{ regions: new Array(3) }, "regions: expected an array of text"],
      // biome-ignore lint/suspicious/noSparseArray: a hole is what is tested.
      [{ regions: ["eu-1", , "us-1"] }, "regions: expected an array of text"],
      [{ identity: new Array(1) }, "identity: "],
      [{ signup: { open_signup: "false" } }, "signup.open_signup: expected true or false, not a string"],
      [{ signup: { sign_in_allowlist: "@example.com" } }, "signup.sign_in_allowlist: expected an array of addresses"],
      [{ signup: { sign_in_allowlist: ["example.com"] } }, "signup.sign_in_allowlist: expected an array of addresses"],
      [{ signup: { sign_in_allowlist: new Array(1) } }, "signup.sign_in_allowlist: expected an array of addresses"],
      [{ signup: { allowlist: [] } }, "signup.allowlist: there is no such member"],
      [{ sessions: { lifetime: 60 } }, "sessions.lifetime: there is no such member"],
      [{ sessions: { window: 3_600_000 } }, "sessions.window: expected a Duration"],
      [{ sessions: { window: Duration.zero } }, "sessions.window: expected a Duration"],
      [{ sessions: { window: Duration.infinity } }, "sessions.window: expected a Duration"],
      [{ sessions: { jwt_lifetime: Duration.nanos(5n) } }, "sessions.jwt_lifetime: expected a Duration"],
      [{ sessions: { window: Duration.days(1e9) } }, "sessions.window: expected a Duration"],
      [{ sessions: breaking("window") }, "sessions: reading it failed"],
      [{ sessions: { reuse: "none" } }, 'sessions.reuse: expected "observe" or "grace60" or "revoke"'],
      [{ events: { ring: 64 } }, "events.ring: there is no such member"],
      [{ events: { ring_events: 0 } }, "events.ring_events: expected a whole number from 1"],
      [{ events: { heartbeat: Duration.zero } }, "events.heartbeat: expected a Duration"],
      [{ events: { max_lag_events: "all" } }, 'events.max_lag_events: expected a whole number from 0 or "ring"'],
      [{ events: { max_lag_bytes: 0.5 } }, 'events.max_lag_bytes: expected a whole number from 0 or "ring"'],
      [{ events: { retention: Duration.nanos(5n) } }, "events.retention: expected a Duration"],
      [{ events: { limits: null } }, "events.limits: there is no such member"],
      [{ limits: { rate: {} } }, "limits.rate: there is no such member"],
      [{ limits: false }, "limits: expected an object with rates, streams, waits, keys, quotas or null"],
      [{ limits: { rates: { exchange: 1 } } }, "limits.rates.exchange: there is no such member"],
      [
        { limits: { rates: { exchange_per_minute: "10" } } },
        "limits.rates.exchange_per_minute: expected a whole number"
      ],
      [{ limits: { streams: { opens: -1 } } }, "limits.streams.opens: expected a whole number from 0"],
      [{ limits: { waits: { waits: null } } }, "limits.waits.waits: expected a whole number from 0"],
      [{ limits: { waits: { org_waits: 0.5 } } }, "limits.waits.org_waits: expected a whole number from 0"],
      [
        { limits: { rates: { exchange_per_minute: 0.5 } } },
        "limits.rates.exchange_per_minute: expected a whole number"
      ],
      [{ limits: { keys: 1.5 } }, "limits.keys: expected a whole number from 0"],
      [{ limits: { quotas: { projects: 1.5 } } }, "limits.quotas.projects: expected a whole number from 0"],
      [
        { limits: { quotas: { personal_percent: 500 } } },
        "limits.quotas.personal_percent: expected a whole number from 1 to 100"
      ],
      [
        { limits: { quotas: { personal_percent: 0 } } },
        "limits.quotas.personal_percent: expected a whole number from 1 to 100"
      ],
      [{ limits: { quotas: { personal_percent: 33.3 } } }, "limits.quotas.personal_percent: expected a whole number"],
      [{ limits: { quotas: { project: 1 } } }, "limits.quotas.project: there is no such member"],
      [{ eventTypes: ["invoice.paid.v1"] }, "eventTypes: expected an object"],
      [{ eventTypes: { "invoice.paid.v1": undefined } }, 'eventTypes: The event type "invoice.paid.v1" has no schema'],
      [{ eventTypes: { "invoice.paid.v1": {} } }, 'eventTypes: The event type "invoice.paid.v1" has no schema'],
      [{ roles: {} }, "roles.permissions: expected an object"],
      [{ roles: { permissions: { "a.read": "reads" } } }, "roles.permissions.a.read: expected"],
      [{ roles: { permissions: {}, roles: { chief: { like: "owner", permissions: [] } } } }, "roles.roles.chief.like:"],
      [{ roles: { permissions: {}, grants: { member: "a.read" } } }, "roles.grants.member: expected an array of text"],
      [
        { roles: { permissions: {}, grants: { member: new Array(1) } } },
        "roles.grants.member: expected an array of text"
      ],
      [{ issuer: "" }, "issuer: expected text without control characters"],
      [{ issuer: "a\0b" }, "issuer: expected text without control characters"],
      [{ issuer: "a\ud800" }, "issuer: expected text without control characters"],
      [{ runner: "false" }, "runner: expected true or false"],
      [{ proxyToken: "" }, "proxyToken: expected visible ASCII characters without spaces"],
      [{ proxyToken: "t\u00f6ken" }, "proxyToken: expected visible ASCII characters without spaces"],
      [{ proxyToken: "two words" }, "proxyToken: expected visible ASCII characters without spaces"],
      [{ peppers: [] }, "peppers: expected an array of whole numbers from 1"],
      [{ peppers: [1, 1] }, "peppers: expected an array of whole numbers from 1"],
      [{ proxy: { port: 0 } }, "proxy.port: expected a port"],
      [{ proxy: { domain: "postgresql://db" } }, "proxy.domain: expected a domain name"],
      [{ proxy: { domain: "10.0.0.1" } }, "proxy.domain: expected a domain name"],
      [{ proxy: { domain: "" } }, "proxy.domain: expected a domain name"],
      [{ proxy: { host: "two words" } }, "proxy.host: expected a host name or an IP address"],
      [{ proxy: { host: "[::1]" } }, "proxy.host: expected a host name or an IP address"],
      [{ proxy: { hostname: "db" } }, "proxy.hostname: there is no such member"],
      [{ retention: { operations: 30 } }, "retention.operations: expected a Duration"],
      [{ operations: { retries: -1 } }, "operations.retries: expected a whole number from 0"],
      [
        { operations: { per_parent: Number.POSITIVE_INFINITY } },
        "operations.per_parent: expected a whole number from 1"
      ],
      [{ operations: { per_parent: 2 ** 31 } }, "operations.per_parent: expected a whole number from 1 to 2147483647"],
      ...["places", "per_org"].map((name): readonly [wrong: unknown, says: string] => [
        {
          operations: {
            classes: {
              ...defaultRunnerSettings.classes,
              roles: { ...defaultRunnerSettings.classes.roles, [name]: Number.POSITIVE_INFINITY }
            }
          }
        },
        `operations.classes.roles.${name}: expected a whole number from 1 to 2147483647`
      ]),
      [{ operations: { classes: { wakes: {} } } }, "operations.classes.wakes: there is no such member"],
      [{ operations: { classes: { roles: { place: 1 } } } }, "operations.classes.roles.place: there is no such member"],
      [{ storage: breaking("durable") }, "storage: reading it failed"],
      [{ basePath: 42 }, "basePath: expected text"],
      [{ log: "on" }, 'log: expected a function of an entry, or "off"'],
      [{ grace: Number.POSITIVE_INFINITY }, "grace: expected a number of milliseconds"]
    ]
    const said: Array<string> = []
    for (const [wrong, says] of wrongs) {
      // A program without types may pass these.
      const options = wrong as ControlPlaneOptions
      const plane = createControlPlane(options === null ? options : { log: "off", ...options })
      const failure: unknown = await plane.then(
        (cp) => cp.close(),
        (error: unknown) => error
      )
      if (!isNarthexError(failure)) said.push(`${says}: ${String(failure)}`)
      else if (failure.code !== "invalid_options" || !failure.message.startsWith(says))
        said.push(`${says}: ${failure.code} ${failure.message}`)
    }
    assert.deepStrictEqual(said, [])
  })

  it("options that cannot be read at all are refused, too", async () => {
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    const failure: unknown = await createControlPlane(proxy).catch((error: unknown) => error)
    assert.isTrue(isNarthexError(failure), String(failure))
    assert.deepInclude(failure, { code: "invalid_options" })
    assert.match(String(failure), /options: reading it failed/)
  })

  it("the layer for Effect refuses the same options, before anything is started", async () => {
    const misspelt: object = { sessions: { lifetime: 60 } }
    const failure = await Effect.runPromise(Effect.flip(Effect.scoped(Layer.build(ControlPlane.layer(misspelt)))))
    assert.deepInclude(failure, { code: "invalid_options" })
    assert.match(String(failure), /sessions\.lifetime: there is no such member/)
  })

  it("connection strings lead to the proxy that the options name", async () => {
    await using cp = await createControlPlane({
      log: "off",
      proxy: { domain: "db.example.com", port: 5432, tls: true }
    })
    const client = cp.client(await cp.sessions.start(await cp.people.ensure({ subject: "ada" })))
    const { project } = await client.projects.create({ name: "shop" })
    const [endpoint] = (await client.endpoints.list({ project_id: project.id })).endpoints
    assert.match(
      endpoint?.connection_template ?? "",
      /@[^/]+\.local\.db\.example\.com:5432\/postgres\?sslmode=require$/
    )
  })

  it("keys are digested under the first pepper, and those of the others still work", async () => {
    const under = (peppers: ReadonlyArray<number>) =>
      KeyDigester.use(({ digests }) => digests(Redacted.make("nsk_key"))).pipe(
        Effect.provide(ControlPlane.layer({ secret: "A".repeat(43), peppers, runner: false })),
        Effect.runPromise
      )
    const [[before], [now, still]] = [await under([1]), await under([2, 1])]
    assert.deepStrictEqual(still, before)
    assert.notStrictEqual(now.digest, before.digest)
  })

  it("how long is kept and how operations are performed is the options'", async () => {
    const retention = { records: Duration.days(1) }
    const operations = { retries: 1, lease: Duration.seconds(9), classes: { branches: { places: 2 } } }
    const { classes } = defaultRunnerSettings
    const layer = ControlPlane.layer({ retention, operations, runner: false })
    const used = await Effect.runPromise(Effect.provide(Effect.all([RetentionPolicy, RunnerPolicy]), layer))
    assert.deepStrictEqual(used, [
      { ...defaultRetention, ...retention },
      {
        ...defaultRunnerSettings,
        ...operations,
        classes: { ...classes, branches: { ...classes.branches, places: 2 } }
      }
    ])
  })

  it("a member that is undefined has its default", async () => {
    const undecided: object = { sessions: { window: undefined }, signup: { open_signup: undefined } }
    await using cp = await createControlPlane({ log: "off", ...undecided })
    const person = await cp.people.ensure({ subject: "user_42" })
    assert.strictEqual(person.account_state, "active")
    assert.strictEqual((await cp.client(await cp.sessions.start(person)).auth.whoami()).user.id, person.id)
  })

  it("two identity providers with the same id are refused", async () => {
    const provider = (issuer: string) => ({ id: "work", name: "Work", issuer, client_ids: ["app"] })
    const identity = [provider("https://one.example"), provider("https://two.example")]
    assert.match(await refusal({ identity }), /^identity: two providers have the id "work"\./)
  })

  it("regions are refused unless each is an id, and there once", async () => {
    for (const regions of [[], ["Not A Region"], ["eu-1", "eu-1"]])
      assert.match(await refusal({ regions }), /^regions: /)
  })

  it("a pool without connections is refused instead of waiting for one forever", async () => {
    for (const maxConnections of [0, -4, Number.NaN])
      assert.match(
        await refusal({
          storage: postgres("postgresql://127.0.0.1:1/none", { maxConnections }),
          secret: "A".repeat(43)
        }),
        /^storage\.maxConnections: expected a whole number from 1/
      )
  })

  it("two control planes in one process have nothing in common", async () => {
    const [one, two] = [
      await createControlPlane({ regions: ["eu-1"] }),
      await createControlPlane({ regions: ["us-1"] })
    ]
    const [first, second] = [await one.client().auth.jwks(), await two.client().auth.jwks()]
    assert.strictEqual(first.keys.length, 1)
    assert.notDeepEqual(first, second)
    await Promise.all([one.close(), two.close()])
  })
})
