/** Every name that a client may type (docs/design/proxy.md P36), with no password, with an empty one and with a wrong one: only a proof opens a session. */
import { afterAll, assert, beforeAll, describe, it } from "@effect/vitest"
import { twinSuffix } from "@narthex/core"
import { Effect, Redacted } from "effect"
import { Cluster } from "../support/Cluster.ts"
import { open, sqlClient, sqlstate, startup, untilClosed, usual } from "../support/clients.ts"
import { role } from "../support/credentials.ts"
import { anotherProxy, certificate, countedCompute, harness } from "../support/harness.ts"
import { endpoint_id } from "../support/MemoryControlPlane.ts"
import { session } from "../support/session.ts"

/** A compute that must not be started. */
const nowhere = { generation: 0, running: false, address: "", start: () => Promise.reject(new Error("woken")) }

/** Names of the platform's own processes, of Postgres, and spellings by which one might pass for a minted role. */
const spellings = [
  ...["narthex", "narthex_writer", "narthex_reader", "narthex_former_16384", "narthex supervisor", "NARTHEX"],
  ...[
    "postgres",
    "root",
    "template1",
    "public",
    "none",
    "current_user",
    "session_user",
    "pg_monitor",
    "pg_signal_backend"
  ],
  ...["app", "admin", '"narthex"', "'narthex'", "narthex ", " narthex", "narthex\t", "narthex--", "narthex;"],
  ...["role_", "role_0123456789abcde", "role_0123456789abcdef0", "ROLE_0123456789ABCDEF", "role_0123456789ABCDEF"],
  ...["role_0123456789abcde\u00e9", "role-0123456789abcdef", "role_0123456789abcdef ", "role_0123456789abcdef/x"],
  ...[`role_0123456789abcdef${twinSuffix}`, `${"x".repeat(52)}${twinSuffix}`, "x".repeat(63), "x".repeat(64)],
  ...["x".repeat(4_000), "*", "%", "all", "replication", "+narthex_writer", "@users", "/^narthex", "\\narthex"]
]

/** The answer to a client that sends a startup packet and waits: nothing follows the request for a proof. */
const answerTo = (port: number, user: string, ...more: ReadonlyArray<readonly [string, string]>) =>
  Effect.promise(async () => {
    const socket = open(port)
    socket.write(startup(["user", user], ["database", "postgres"], ["options", `endpoint=${endpoint_id}`], ...more))
    return (await untilClosed(socket)).toString("latin1")
  })

/** The SQLSTATE with which a login ends. */
const login = (port: number, user: string, secret: string) =>
  Effect.promise(() =>
    session(
      port,
      "select 1",
      (socket) =>
        socket.write(startup(["user", user], ["database", "postgres"], ["options", `endpoint=${endpoint_id}`])),
      secret
    ).then(
      ({ socket }) => {
        socket.destroy()
        return "none"
      },
      ({ message }: Error) => /C([0-9A-Z]{5})\0/.exec(message)?.[1]
    )
  )

describe("the front door", { tags: ["openssl"] }, () => {
  const cluster = new Cluster()
  const trusting = new Cluster("local all all trust\n")
  beforeAll(() => Promise.all([cluster.start(), trusting.start()]))
  afterAll(() => Promise.all([cluster.remove(), trusting.remove()]))

  /** The roles of the catalog, asked for at the cluster itself. */
  const rolesOf = (of: Cluster) =>
    Effect.promise(async () => {
      const sql = sqlClient(0, { path: of.address, username: role })
      const rows = await sql<ReadonlyArray<{ name: string }>>`select rolname as name from pg_roles`
      await sql.end()
      return rows.map(({ name }) => name)
    })

  for (const [way, encrypted] of [
    ["in plaintext", false],
    ["where TLS is offered", true]
  ] as const)
    it.live(`opens for a minted role with its password alone, ${way}`, () =>
      Effect.gen(function* () {
        const counted = yield* countedCompute(trusting)
        const tls = yield* certificate("db.test")
        const { port } = yield* harness(counted.compute, {
          ...(encrypted ? { tls } : {}),
          limits: { failures: 1_000, failures_burst: 1_000 }
        })
        const names = new Set([...(yield* rolesOf(trusting)), ...spellings])
        names.delete(role)
        for (const name of names)
          for (const secret of ["", "wrong", "correct horse"])
            assert.include(["28000", "28P01", "08P01"], yield* login(port, name, secret), JSON.stringify(name))
        for (const secret of ["", "wrong"]) assert.strictEqual(yield* login(port, role, secret), "28P01")
        assert.strictEqual(counted.count, 0, "a client without a proof reaches no compute")
      })
    )

  it.live("opens for no role at a server that trusts the account of the proxy, also with the right password", () =>
    Effect.gen(function* () {
      const { port, proxy } = yield* harness(trusting)
      assert.strictEqual(yield* login(port, role, "correct horse"), "28000")
      assert.strictEqual(yield* proxy.connections, 0)
    })
  )

  it.live("opens for no role of an operator's own server that trusts, and for one that proves itself there", () =>
    Effect.gen(function* () {
      const own = yield* harness(trusting)
      own.control.ownRoles = true
      // Postgres itself refuses the other names: only `trusted` may log in there.
      yield* Effect.promise(async () => {
        const sql = sqlClient(0, { path: trusting.address, username: role })
        await sql.unsafe("drop role if exists trusted; create role trusted superuser login")
        await sql.end()
      })
      for (const name of ["trusted", "narthex", "postgres", "pg_monitor"])
        assert.match(yield* answerTo(own.port, name), /^E.*C28000\0/s, name)
      const proving = yield* harness(cluster)
      proving.control.ownRoles = true
      yield* Effect.promise(async () => {
        const sql = sqlClient(0, { path: cluster.address, username: role })
        await sql.unsafe("drop role if exists analyst; create role analyst login password 'own password'")
        await sql.end()
      })
      assert.strictEqual(yield* login(proving.port, "analyst", "wrong"), "28P01")
      assert.strictEqual(yield* login(proving.port, "analyst", "own password"), "none")
    })
  )

  it.live("does not start an operator's own server for a client that has proved nothing", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness({ ...nowhere })
      control.ownRoles = true
      assert.match(yield* answerTo(port, "analyst"), /C57P03\0MThe endpoint is suspended, and its server/)
      assert.deepStrictEqual(control.wakes, [])
    })
  )

  it.live("answers an unknown role as a known one with a wrong password, and each proxy in the same way", () =>
    Effect.gen(function* () {
      const decoy_secret = Redacted.make("the same everywhere")
      const { control, port } = yield* harness(nowhere, { decoy_secret })
      const other = yield* anotherProxy(control, { decoy_secret })
      const challenge = (at: number, user: string) =>
        Effect.promise(async () => {
          let heard = ""
          await session(
            at,
            "select 1",
            (socket) => {
              socket.on("data", (chunk: Buffer) => {
                heard += chunk.toString("latin1")
              })
              socket.write(startup(["user", user], ["options", `endpoint=${endpoint_id}`]))
            },
            "wrong"
          ).catch(() => undefined)
          return {
            salt: /,s=([^,]*),/.exec(heard)?.[1],
            shape: heard.replace(/r=[^,]*,s=[^,]*,/, "").replaceAll(user, "role")
          }
        })
      const unknown = "role_unknown012345678".slice(0, 21)
      const [known, first, again, elsewhere] = [
        yield* challenge(port, role),
        yield* challenge(port, unknown),
        yield* challenge(port, unknown),
        yield* challenge(other.port, unknown)
      ]
      assert.strictEqual(first.shape, known.shape)
      assert.strictEqual(first.salt?.length, known.salt?.length)
      assert.strictEqual(again.salt, first.salt)
      assert.strictEqual(elsewhere.salt, first.salt)
      assert.deepStrictEqual(control.wakes, [])
    })
  )

  it.live("refuses a role that has ended although its verifier is known", () =>
    Effect.gen(function* () {
      const { control, port } = yield* harness(cluster)
      assert.strictEqual(yield* login(port, role, "correct horse"), "none")
      control.verifiers.delete(role)
      assert.strictEqual(yield* login(port, role, "correct horse"), "28P01")
      control.down = true
      assert.notStrictEqual(yield* login(port, role, "correct horse"), "none")
    })
  )

  it.live("refuses replication with 0A000, and another database than postgres with 3D000", () =>
    Effect.gen(function* () {
      const rejecting = new Cluster("local postgres all scram-sha-256\n")
      yield* Effect.acquireRelease(
        Effect.promise(() => rejecting.start()),
        () => Effect.promise(() => rejecting.remove())
      )
      const { port } = yield* harness(rejecting)
      assert.strictEqual(yield* sqlstate(port, { database: "shop" }), "3D000")
      assert.strictEqual(yield* sqlstate(port, { connection: { replication: "database" } as never }), "0A000")
      assert.strictEqual(yield* sqlstate(port), "none")
    })
  )

  it.live("waits for a proof for ten seconds, in which the client holds nothing of the endpoint", () =>
    Effect.gen(function* () {
      const { port } = yield* harness(cluster, { limits: { endpoint_connections: 1 } })
      const silent = Array.from({ length: 20 }, () => open(port))
      for (const socket of silent) socket.write(usual)
      assert.strictEqual(yield* login(port, role, "correct horse"), "none")
      for (const socket of silent) socket.destroy()
    })
  )
})
