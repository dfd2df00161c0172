/** The examination finds each planted mistake, and says what to do (docs/design/settings.md S18). */
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises"
import { createServer } from "node:net"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, layer } from "@effect/vitest"
import { Clock, Effect, Redacted } from "effect"
import { running } from "../../dev-providers/test/running.ts"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { certificate } from "../../proxy/test/support/harness.ts"
import { doctor, examine } from "../src/doctor/doctor.ts"
import type { Finding } from "../src/doctor/Finding.ts"
import { type Env, load, providers, secret, within } from "./settings/environment.ts"

const directory = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-doctor-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true, force: true }))
)

/** A machine on which nothing is wrong: a database, a provider that answers, free ports, an empty directory. */
const sound = Effect.gen(function* () {
  const { database } = yield* PostgresServer
  const [{ algorithms: _, ...provider }] = yield* running()
  const key = join(yield* directory, "secret")
  yield* Effect.promise(() => writeFile(key, secret, { mode: 0o600 }))
  const ports = Object.fromEntries(["API", "CONSOLE", "PROXY", "ADMIN"].map((name) => [`NARTHEX_${name}_PORT`, "0"]))
  return {
    ...ports,
    ...providers(provider),
    DATABASE_URL: Redacted.value(yield* database),
    NARTHEX_MASTER_SECRET_FILE: key,
    NARTHEX_DATA_DIR: yield* directory,
    NARTHEX_COMPUTE: "memory",
    NARTHEX_PROXY_DOMAIN: "db.example.com"
  } satisfies Env
})

const findings = (env: Env) =>
  within(
    env,
    Effect.gen(function* () {
      const settings = yield* load(env)
      return yield* examine(settings)
    })
  )

/** All but what the examination is satisfied with. */
const complaints = (env: Env) => Effect.map(findings(env), (found) => found.filter(({ state }) => state !== "ok"))

/** A port of this machine that is in use. */
const takenPort = Effect.map(
  Effect.acquireRelease(
    Effect.callback<ReturnType<typeof createServer>>((resume) => {
      const server = createServer().listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
    }),
    (server) => Effect.sync(() => server.close())
  ),
  (server) => {
    const address = server.address()
    return String(typeof address === "object" && address !== null ? address.port : 0)
  }
)

/** A database that `statement` has spoiled; `$name` stands for its name. */
const spoiled = (statement: string) =>
  Effect.gen(function* () {
    const { admin, database } = yield* PostgresServer
    const url = yield* database
    yield* admin(statement.replaceAll("$name", new URL(Redacted.value(url)).pathname.slice(1)))
    return url
  })

const another = (url: string, change: (url: URL) => void) => {
  const parsed = new URL(url)
  change(parsed)
  return parsed.href
}

type Mistake = readonly [
  name: string,
  part: string,
  says: RegExp,
  plant: (env: Effect.Success<typeof sound>) => Effect.Effect<Env, never, Effect.Services<typeof sound>>
]

const mistakes: ReadonlyArray<Mistake> = [
  [
    "a database that nobody serves",
    "database",
    /^DATABASE_URL: nothing listens on .*\. Start Postgres/,
    () => Effect.succeed({ DATABASE_URL: "postgres://postgres@127.0.0.1:1/x?sslmode=disable" })
  ],
  [
    "a database that takes no changes",
    "database",
    /^DATABASE_URL: .* accepts no changes/,
    () =>
      Effect.map(spoiled("alter database $name set default_transaction_read_only = on"), (url) => ({
        DATABASE_URL: Redacted.value(url)
      }))
  ],
  [
    "a user who may not create the tables",
    "database",
    /^DATABASE_URL: .* may not/,
    ({ DATABASE_URL }) =>
      Effect.gen(function* () {
        const { admin } = yield* PostgresServer
        yield* Effect.acquireRelease(admin("create role narthex_doctor_guest login"), () =>
          admin("drop role narthex_doctor_guest")
        )
        return {
          DATABASE_URL: another(DATABASE_URL, ({ searchParams }) => searchParams.set("user", "narthex_doctor_guest"))
        }
      })
  ],
  [
    "a secret that every user of the machine may read",
    "secrets",
    /^Every user may open .*chmod 600/,
    (env) =>
      Effect.as(
        Effect.promise(() => chmod(env.NARTHEX_MASTER_SECRET_FILE, 0o644)),
        {}
      )
  ],
  [
    "a port that another program has",
    "ports",
    /^The API cannot listen on .*NARTHEX_API_PORT/,
    () => Effect.map(takenPort, (port) => ({ NARTHEX_API_PORT: port }))
  ],
  [
    "a certificate for the domain alone",
    "certificate",
    /is not for \*\.local\.db\.example\.com/,
    () =>
      Effect.map(certificate("db.example.com"), ({ cert, key }) => ({
        NARTHEX_PROXY_TLS_CERT: cert,
        NARTHEX_PROXY_TLS_KEY: key
      }))
  ],
  [
    "a certificate with the key of another",
    "certificate",
    /are unusable: /,
    () =>
      Effect.gen(function* () {
        const [{ cert }, { key }] = [
          yield* certificate("*.local.db.example.com"),
          yield* certificate("*.local.db.example.com")
        ]
        return { NARTHEX_PROXY_TLS_CERT: cert, NARTHEX_PROXY_TLS_KEY: key }
      })
  ],
  [
    "an issuer that does not answer",
    "issuers",
    /^The keys of http:\/\/127\.0\.0\.1:1 cannot be fetched/,
    () => Effect.succeed(providers({ id: "lost", name: "Lost", issuer: "http://127.0.0.1:1", client_ids: ["narthex"] }))
  ],
  [
    "no identity provider at all",
    "issuers",
    /^No identity provider is set/,
    () => Effect.succeed({ NARTHEX_PROVIDERS: "[]" })
  ],
  [
    "a data directory on a file",
    "disk",
    /of NARTHEX_DATA_DIR cannot be/,
    (env) => Effect.succeed({ NARTHEX_DATA_DIR: join(env.NARTHEX_MASTER_SECRET_FILE, "data") })
  ],
  [
    "a compute server that does not answer",
    "driver",
    /^NARTHEX_STATIC_COMPUTES, .*: nothing listens/,
    () =>
      Effect.succeed({
        NARTHEX_COMPUTE: "static",
        NARTHEX_STATIC_COMPUTES: JSON.stringify([
          { address: "127.0.0.1:1", admin_url: "postgres://postgres@127.0.0.1:1/postgres?sslmode=disable" }
        ])
      })
  ],
  [
    "a folder without the programs of Postgres",
    "driver",
    /NARTHEX_POSTGRES_BIN/,
    () => Effect.map(directory, (empty) => ({ NARTHEX_COMPUTE: "local", NARTHEX_POSTGRES_BIN: empty }))
  ],
  [
    "a control group that does not exist",
    "control group",
    /NARTHEX_CPU_GROUP: it is no control group/,
    () => Effect.map(directory, (empty) => ({ NARTHEX_COMPUTE: "local", NARTHEX_CPU_GROUP: empty }))
  ]
]

const ahead = (clock: Clock.Clock, by: number): Clock.Clock => ({
  currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe() + by,
  currentTimeMillis: Effect.map(clock.currentTimeMillis, (now) => now + by),
  currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
  currentTimeNanos: clock.currentTimeNanos,
  monotonicTimeNanosUnsafe: () => clock.monotonicTimeNanosUnsafe(),
  monotonicTimeNanos: clock.monotonicTimeNanos,
  sleep: (duration) => clock.sleep(duration)
})

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "60 seconds" })("the examination", (it) => {
  it.effect("nothing is wrong on a sound machine, and it stays as it was", () =>
    Effect.gen(function* () {
      const env = yield* sound
      assert.deepStrictEqual(
        (yield* complaints(env)).filter(({ part }) => part !== "clock"),
        []
      )
      const { admin } = yield* PostgresServer
      const schemas = yield* admin(
        "select 1 from pg_namespace where nspname = 'narthex'",
        Redacted.make(env.DATABASE_URL)
      )
      assert.isEmpty(schemas)
    })
  )

  for (const [name, part, says, plant] of mistakes)
    it.effect(`${name} is found`, () =>
      Effect.gen(function* () {
        const env = yield* sound
        const found = yield* complaints({ ...env, ...(yield* plant(env)) })
        const said = found.filter((finding) => finding.part === part)
        assert.isNotEmpty(said)
        assert.isTrue(
          said.some(({ text }) => says.test(text)),
          said.map(({ text }) => text).join("\n")
        )
        const others = found.filter((finding) => finding.part !== part && finding.part !== "clock")
        assert.deepStrictEqual(others, [])
      })
    )

  it.effect("a clock that is a minute from the database's is found", () =>
    Effect.gen(function* () {
      const env = yield* sound
      const clock = yield* Clock.Clock
      const found = yield* Effect.provideService(complaints(env), Clock.Clock, ahead(clock, 60_000))
      assert.deepStrictEqual(
        found.map(({ part, state }): Partial<Finding> => ({ part, state })),
        [{ part: "clock", state: "wrong" }]
      )
    })
  )

  it.effect("a secret in a file that does not exist is refused by the settings", () =>
    Effect.gen(function* () {
      const env = yield* sound
      const said = yield* Effect.flip(load({ ...env, NARTHEX_MASTER_SECRET_FILE: "/nowhere/secret" }))
      assert.include(String(said), "NARTHEX_MASTER_SECRET_FILE")
    })
  )

  it.effect("the command fails with the number of mistakes", () =>
    Effect.gen(function* () {
      const env = { ...(yield* sound), NARTHEX_API_PORT: yield* takenPort }
      const failure = yield* within(
        env,
        Effect.gen(function* () {
          const settings = yield* load(env)
          return yield* Effect.flip(doctor(settings))
        })
      )
      assert.match(failure.message, /to be corrected/)
    })
  )
})
