/** The control plane on Postgres: migrations and state that outlives the process. Holds docs/design/library.md N41. */
import { createServer } from "node:net"
import { inspect } from "node:util"
import { assert, describe, it, layer } from "@effect/vitest"
import { StorageError } from "@narthex/core"
import { whyUnusable } from "@narthex/postgres"
import { Effect, Redacted } from "effect"
import { PostgresServer } from "../../postgres/test/support/PostgresServer.ts"
import { createControlPlane, isNarthexError, type PostgresOptions, postgres } from "../src/index.ts"
import { postgresFailure } from "../src/options/postgresFailure.ts"

const ada = { subject: "user_42", email: "ada@example.com", email_verified: true }
const secret = "A".repeat(43)

/** A control plane on this database, in the scope. */
const controlPlane = (url: string) =>
  Effect.acquireRelease(
    Effect.promise(() => createControlPlane({ storage: postgres(url), secret, log: "off", grace: 1_000 })),
    (cp) => Effect.promise(() => cp.close())
  )

/** The failure of a start, which shows the password nowhere. */
const failureOf = async (url: string, options?: PostgresOptions) => {
  const failure: unknown = await createControlPlane({ storage: postgres(url, options), secret, log: "off" }).then(
    (cp) => cp.close(),
    (error: unknown) => error
  )
  if (!isNarthexError(failure)) return assert.fail(`It has no code: ${String(failure)}`)
  assert.notInclude(inspect(failure, { depth: 20, showHidden: true }), "s3cret")
  return `${failure.code}: ${failure.message}`
}

const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => "nothing",
    (error: unknown) => (isNarthexError(error) ? error.code : String(error))
  )

layer(PostgresServer.layer, { excludeTestServices: true, timeout: "120 seconds" })(
  "a control plane on Postgres",
  (it) => {
    it.effect("an empty database is migrated, and keys and sessions are valid in the next process", () =>
      Effect.gen(function* () {
        const url = Redacted.value(yield* (yield* PostgresServer).database)
        const [person, key, session] = yield* Effect.scoped(
          Effect.gen(function* () {
            const cp = yield* controlPlane(url)
            return yield* Effect.promise(async () => {
              const made = await cp.people.ensure(ada)
              const begun = await cp.sessions.start(made)
              return [made, await cp.client(begun).apiKeys.create({ name: "ci", capability: "read" }), begun] as const
            })
          })
        )
        const cp = yield* controlPlane(url)
        yield* Effect.promise(async () => {
          assert.strictEqual((await cp.people.ensure(ada)).id, person.id)
          assert.strictEqual((await cp.authenticate(key.secret)).user.id, person.id)
          assert.strictEqual((await cp.authenticate(session.access_token)).kind, "session")
          const other = createControlPlane({ storage: postgres(url), secret: `${"B".repeat(42)}A`, log: "off" })
          assert.strictEqual(await codeOf(other), "invalid_options")
        })
      })
    )

    it.effect(
      "a database that does not exist, and a role that may not sign in or create tables, are options to correct",
      () =>
        Effect.gen(function* () {
          const server = yield* PostgresServer
          const url = yield* server.database
          // Runs with one seed may share the server.
          const role = `stranger_${crypto.randomUUID().slice(0, 8)}`
          yield* Effect.acquireRelease(server.admin(`create role ${role} login password 's3cret'`), () =>
            server.admin(`drop role ${role}`)
          )
          // The server's URL may be that of a socket, whose parts are parameters.
          const asUser = (user: string, database?: string) => {
            const it = new URL(Redacted.value(url))
            it.searchParams.set("user", user)
            it.searchParams.set("password", "s3cret")
            if (database !== undefined) it.pathname = `/${database}`
            return it.toString()
          }
          yield* Effect.promise(async () => {
            assert.match(
              await failureOf(asUser(role, "no_such_database")),
              /^invalid_options: storage: the database "no_such_database" does not exist on .*\. Create it, or correct the URL\.$/
            )
            assert.match(
              await failureOf(asUser("no_such_role")),
              /^invalid_options: storage: Postgres .* refused the user "no_such_role"/
            )
            assert.match(
              await failureOf(asUser(role)),
              /^invalid_options: storage: the user "stranger_\w+" may not create tables/
            )
          })
        })
    )

    it.effect("the URL for LISTEN is tried at the start, and has to lead to the same database", () =>
      Effect.gen(function* () {
        const server = yield* PostgresServer
        const [url, other] = [Redacted.value(yield* server.database), Redacted.value(yield* server.database)]
        yield* Effect.promise(async () => {
          assert.match(
            await failureOf(url, { listenUrl: "postgresql://ada:s3cret@127.0.0.1:1/shop" }),
            /^unavailable: storage\.listenUrl: nothing listens on 127\.0\.0\.1:1\. /
          )
          assert.match(
            await failureOf(url, { listenUrl: "shop" }),
            /^invalid_options: storage\.listenUrl: the URL is unusable.* postgresql:\/\/user:password@host/
          )
          assert.match(
            await failureOf(url, { listenUrl: other }),
            /^invalid_options: storage\.listenUrl: it leads to another database than the URL of the storage\. /
          )
          const cp = await createControlPlane({ storage: postgres(url, { listenUrl: url }), secret, log: "off" })
          await cp.close()
        })
      })
    )
  }
)

/** Answers a start-up with this message of the protocol: its type and its text in fields. */
const answering = async (answers: ReadonlyArray<Uint8Array>, work: (port: number) => Promise<void>) => {
  const server = createServer((socket) => {
    let turn = 0
    socket.on("error", () => {})
    socket.on("data", () => {
      const answer = answers[turn++]
      if (answer !== undefined) socket.write(answer)
    })
  })
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done))
  const address = server.address()
  try {
    await work(typeof address === "object" ? (address?.port ?? 0) : 0)
  } finally {
    server.close()
  }
}

const message = (type: string, body: Buffer) => {
  const length = Buffer.alloc(4)
  length.writeUInt32BE(body.length + 4)
  return Buffer.concat([Buffer.from(type), length, body])
}
const refusal = (code: string, text: string) => message("E", Buffer.from(`SFATAL\0VFATAL\0C${code}\0M${text}\0\0`))
const cleartext = message("R", Buffer.from([0, 0, 0, 3]))

describe("a server that refuses", () => {
  const refused: ReadonlyArray<readonly [name: string, answers: ReadonlyArray<Uint8Array>, says: RegExp]> = [
    [
      "a wrong password",
      [cleartext, refusal("28P01", 'password authentication failed for user "ada"')],
      /^invalid_options: storage: Postgres on 127\.0\.0\.1:\d+ refused the password of the user "ada"/
    ],
    [
      "a start that is not over",
      [refusal("57P03", "the database system is starting up")],
      /^unavailable: storage: Postgres on 127\.0\.0\.1:\d+ is starting or stopping\. Try again/
    ],
    [
      "a user that is named by nothing",
      [refusal("28000", "no PostgreSQL user name specified in startup packet")],
      /^invalid_options: storage: Postgres on 127\.0\.0\.1:\d+ refused the user "ada"/
    ],
    [
      "too many connections",
      [refusal("53300", "sorry, too many clients already")],
      /^unavailable: storage: Postgres on 127\.0\.0\.1:\d+ has no connection left/
    ],
    [
      "a reason of its own",
      [refusal("XX000", "the disk is on fire")],
      /^unavailable: storage: Postgres on 127\.0\.0\.1:\d+ failed: .*the disk is on fire/
    ],
    [
      "a reason that has the password",
      [refusal("XX000", "no such s3cret")],
      /^unavailable: storage: Postgres on 127\.0\.0\.1:\d+ failed: XX000\./
    ]
  ]
  for (const [name, answers, says] of refused)
    it(`${name} is named in words when the control plane is made`, () =>
      answering(answers, async (port) => {
        assert.match(await failureOf(`postgresql://ada:s3cret@127.0.0.1:${port}/shop`), says)
      }))

  it.each(["s3@cret/x", "s3@cret#x", "ab@s3#cret"])(
    "a password %s that is not encoded is in no message",
    async (password) => {
      const said = await failureOf(`postgresql://ada:${password}@127.0.0.1:1/shop`)
      assert.match(said, /^invalid_options: storage: the URL has an @ or # that is not percent-encoded\. /)
      assert.notMatch(said, /s3|cret/)
    }
  )

  it("a server that cannot be reached is named with what to check", async () => {
    assert.match(
      await failureOf("postgresql://ada:s3cret@nowhere.invalid/shop?connect_timeout=60"),
      /^unavailable: storage: the host "nowhere\.invalid" cannot be resolved\. /
    )
    assert.match(
      await failureOf("postgresql://ada:s3cret@127.0.0.1:1/shop?connect_timeout=60"),
      /^unavailable: storage: nothing listens on 127\.0\.0\.1:1\. Start Postgres, or correct the URL\./
    )
    assert.match(
      await failureOf("postgresql:///shop?host=/no/such/folder&user=ada&password=s3cret&connect_timeout=60"),
      /^unavailable: storage: nothing listens on \/no\/such\/folder\. /
    )
  })

  it("a server without TLS that the URL asks for is named with both ways to correct it", () =>
    answering([Buffer.from("N")], async (port) => {
      assert.match(
        await failureOf(`postgresql://ada:s3cret@127.0.0.1:${port}/shop?sslmode=require`),
        /^invalid_options: storage: Postgres on 127\.0\.0\.1:\d+ offers no TLS.*sslmode=/
      )
    }))

  it("a certificate that is refused is an option to correct, with the reason", () => {
    const url = "postgresql://ada:s3cret@db.example/shop?sslmode=require"
    const refused = Object.assign(new Error("self-signed certificate"), { code: "DEPTH_ZERO_SELF_SIGNED_CERT" })
    const { code, message } = postgresFailure(
      whyUnusable(url, "storage")(new StorageError({ operation: "migrate", cause: refused }))
    )
    assert.strictEqual(code, "invalid_options")
    assert.match(message, /^storage: the certificate of Postgres on db\.example:5432 is not trusted: self-signed cert/)
  })

  it("a URL without a user, where the environment names none either, is an option to correct", async () => {
    const { USER, USERNAME } = process.env
    delete process.env["USER"]
    delete process.env["USERNAME"]
    try {
      assert.match(
        await failureOf("postgresql://:s3cret@127.0.0.1:1/shop"),
        /^invalid_options: storage: the URL names no user.*postgresql:\/\/user:password@host/
      )
    } finally {
      Object.assign(process.env, { ...(USER && { USER }), ...(USERNAME && { USERNAME }) })
    }
  })

  it("a server that accepts and never answers is given up", { timeout: 60_000 }, () =>
    answering([], async (port) => {
      assert.match(
        await failureOf(`postgresql://ada:s3cret@127.0.0.1:${port}/shop?connect_timeout=1`),
        /^unavailable: storage: Postgres on 127\.0\.0\.1:\d+ did not answer in time\. /
      )
    })
  )

  it("a URL that is none is refused with the form of one, and options of Postgres by their names", async () => {
    for (const url of [
      "",
      "shop",
      "localhost:5432/shop",
      "https://ada:s3cret@localhost/shop",
      "postgresql://ada:s3cret#1@localhost/shop",
      "postgresql://ada:%s3cret@localhost/shop",
      "postgresql:shop",
      "postgresql:ada:s3cret@localhost/shop",
      "postgresql:/ada:s3cret@localhost:5432/shop",
      "postgresql://ada%00:s3cret@localhost/shop",
      "postgresql://ada:s3cret@one:5432,two:5432/shop",
      "postgresql://ada:s3cret@localhost:0/shop",
      "postgresql://localhost/shop?sslmode=sometimes"
    ])
      assert.match(await failureOf(url), /^invalid_options: storage: .*postgresql:\/\/user:password@host:5432/, url)
    const untyped = postgres as (...given: ReadonlyArray<unknown>) => ReturnType<typeof postgres>
    const said = async (...given: ReadonlyArray<unknown>) => {
      const failure: unknown = await createControlPlane({ storage: untyped(...given), secret, log: "off" }).catch(
        (error: unknown) => error
      )
      return String(failure)
    }
    assert.match(await said(), /storage: expected the URL of a Postgres database, not undefined/)
    assert.match(await said(42), /storage: expected the URL of a Postgres database, not a number/)
    assert.match(await said("postgresql://h/d", 5), /storage: expected an object with maxConnections/)
    assert.match(await said("postgresql://h/d", { max: 5 }), /storage\.max: there is no such member/)
    for (const listenUrl of ["h", "postgresql:h", "postgresql://ada:s3cret@one:5432,two:5432/d"])
      assert.match(await said("postgresql://h/d", { listenUrl }), /storage\.listenUrl: .*postgresql:\/\/user:password@/)
    assert.match(await said("postgresql://h/d", { applicationName: "a\0b" }), /storage\.applicationName: expected/)
  })
})
