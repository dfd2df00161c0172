/**
 * Static computes on real servers, with admin URLs: the contract of `ComputeDriver` as far as it concerns roles, and
 * roles that resist their end.
 */
import { assert, layer } from "@effect/vitest"
import { ComputeDriver, ComputeFence } from "@narthex/core"
import { aBranchId, anEndpointId, computeDriverContract, runContract } from "@narthex/core/testing"
import { Database } from "@narthex/postgres"
import { Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import * as vitest from "vitest"
import { unlocked } from "../../../../test/agents/unlocked.ts"
import { eventually } from "../../../../test/harness/eventually.ts"
import { applyStaticRoles } from "../../src/adapters/staticRoles.ts"
import { driver, machines, mint, operator, outcome, Servers, sessionOf } from "./support/staticServers.ts"

runContract(vitest, computeDriverContract, "static", driver.pipe(Layer.provide(machines(4))))

layer(Layer.provideMerge(driver, machines(6)), { excludeTestServices: true, timeout: "120 seconds" })(
  "roles on a static server",
  (it) => {
    it.effect(
      "minted roles of a static server write or only read, and end with their sessions, whatever they hold",
      () =>
        Effect.gen(function* () {
          const compute = yield* ComputeDriver
          const [admin = Redacted.make("")] = yield* Servers
          const [writer, reader, other] = [
            yield* mint("read_write"),
            yield* mint("read_only"),
            yield* mint("read_write")
          ]
          const branch = aBranchId()
          const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1 }
          const all = [writer, reader, other].map(({ minted }) => minted)
          assert.strictEqual((yield* compute.start({ ...start, roles: all })).address, "db-0:5432")
          const [writing, reading, holding] = [writer, reader, other].map((it) => sessionOf(admin, it))
          if (writing === undefined || reading === undefined || holding === undefined) return
          assert.strictEqual(yield* outcome(writing.unsafe("create table kept (n int)")), "done")
          assert.strictEqual(yield* outcome(reading.unsafe("create table kept (n int)")), "25006")
          assert.strictEqual(yield* outcome(reading.unsafe(unlocked)), "done")
          yield* compute.applyRoles(branch, all)
          assert.strictEqual(yield* outcome(reading.unsafe("select * from kept")), "done")
          assert.strictEqual(yield* outcome(reading.unsafe("insert into kept values (1)")), "42501")
          assert.strictEqual(yield* outcome(reading.unsafe("select * from pg_authid")), "42501")
          // The role holds its own row and a table, and does not let go.
          yield* Effect.promise(() =>
            holding.unsafe("begin; reset role; alter role current_user password 'x'; lock table kept").simple()
          )
          yield* compute.applyRoles(branch, [reader.minted])
          assert.isFalse(yield* compute.needsRoles(branch, [reader.minted]))
          assert.notStrictEqual(yield* outcome(holding.unsafe("insert into kept values (2)")), "done")
          const again = sessionOf(admin, other)
          assert.include(["28P01", "28000"], yield* outcome(again.unsafe("select 1")))
          assert.strictEqual(yield* outcome(reading.unsafe("select * from kept")), "done")
          yield* compute.stop(start.endpoint_id)
          yield* Effect.promise(() =>
            Promise.all([writing, reading, holding, again].map((sql) => sql.end({ timeout: 1 })))
          )
        })
    )

    it.effect("a minted role's grants to PUBLIC end with it, and the operator's roles keep what they have", () =>
      Effect.gen(function* () {
        const compute = yield* ComputeDriver
        const [, admin = Redacted.make("")] = yield* Servers
        const [writer, reader] = [yield* mint("read_write"), yield* mint("read_only")]
        const branch = aBranchId()
        const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1 }
        const { query } = yield* operator(admin)
        for (const text of ["create role app login", "create table apps (n int)", "grant insert on apps to public"])
          yield* query("test", text)
        yield* compute.start({ ...start, roles: [writer.minted, reader.minted] })
        const [writing, reading] = [sessionOf(admin, writer), sessionOf(admin, reader)]
        assert.strictEqual(yield* outcome(reading.unsafe(unlocked)), "done")
        for (const text of [
          "create table kept (n int)",
          "grant insert on kept to public",
          "create function writes() returns int language sql security definer as 'insert into kept values (1) returning n'",
          "grant execute on function writes() to public",
          "create function adds(int, int) returns int language sql security definer as 'insert into kept values (1) returning n'",
          "create aggregate evil(int) (sfunc = adds, stype = int, initcond = '0')",
          "grant execute on function evil(int) to public"
        ])
          assert.strictEqual(yield* outcome(writing.unsafe(text)), "done", text)
        const writes = ["insert into kept values (2)", "select writes()", "select evil(1)"]
        for (const text of writes) assert.strictEqual(yield* outcome(reading.unsafe(text)), "done", text)
        assert.isTrue(yield* compute.needsRoles(branch, [writer.minted, reader.minted]))
        yield* compute.applyRoles(branch, [reader.minted])
        for (const text of [...writes, "select lo_create(0)", "select pg_advisory_lock(1)"])
          assert.strictEqual(yield* outcome(reading.unsafe(text)), "42501", text)
        assert.strictEqual(yield* outcome(reading.unsafe("select n from kept")), "done")
        assert.isFalse(yield* compute.needsRoles(branch, [reader.minted]))
        for (const text of ["set role app", "select pg_advisory_lock(1)", "insert into apps values (1)"])
          yield* query("test", text)
        yield* compute.stop(start.endpoint_id)
        yield* Effect.promise(() => Promise.all([writing, reading].map((sql) => sql.end({ timeout: 1 }))))
      })
    )

    it.effect("a session of a role whose retirement was interrupted ends when roles are applied again", () =>
      Effect.gen(function* () {
        const [admin = Redacted.make("")] = yield* Servers
        const role = yield* mint("read_only")
        yield* applyStaticRoles(admin, [role.minted], Effect.void)
        const holding = sessionOf(admin, role)
        assert.strictEqual(yield* outcome(holding.unsafe("begin")), "done")
        const { query } = yield* operator(admin)
        // The state after a call that fails once the roles have lost their rights.
        const name = role.minted.role
        for (const text of [
          `revoke narthex_reader from "${name}"`,
          `do $$ begin execute format('alter role %I rename to narthex_former_%s', '${name}', '${name}'::regrole::oid); end $$`
        ])
          yield* query("test", text)
        yield* applyStaticRoles(admin, [], Effect.void)
        assert.notStrictEqual(yield* outcome(holding.unsafe("select 1")), "done")
        yield* Effect.promise(() => holding.end({ timeout: 1 }))
      })
    )

    it.effect("a session that holds the row of a role that stays ends, and the roles are applied", () =>
      Effect.gen(function* () {
        const compute = yield* ComputeDriver
        const servers = yield* Servers
        const role = yield* mint("read_only")
        const branch = aBranchId()
        const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1 }
        const { address } = yield* compute.start({ ...start, roles: [role.minted] })
        const admin = servers.find((_, at) => address === `db-${at}:5432`) ?? Redacted.make("")
        const holding = sessionOf(admin, role)
        const process = Effect.promise(() =>
          holding.unsafe("select pg_backend_pid() as pid").then(([row]) => row?.["pid"])
        )
        const first = yield* process
        yield* Effect.promise(() => holding.unsafe("begin read write; alter role current_user password 'x'").simple())
        yield* compute.applyRoles(branch, [role.minted])
        // The client connects again, with the password that was minted.
        assert.notStrictEqual(yield* process, first)
        yield* Effect.promise(() => holding.end({ timeout: 1 }))
        yield* compute.stop(start.endpoint_id)
      })
    )

    it.effect("a late call gives back no role that a later call has ended", () =>
      Effect.gen(function* () {
        const compute = yield* ComputeDriver
        const branch = aBranchId()
        const { minted } = yield* mint("read_write")
        const numbered = <A, E>(fence: number, call: Effect.Effect<A, E>) =>
          Effect.provideService(call, ComputeFence, fence)
        const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1, roles: [] }
        const { address } = yield* numbered(1, compute.start(start))
        const url = (yield* Servers)[Number(/\d+/.exec(address)?.[0])] ?? Redacted.make("")
        const [server, holder] = [yield* operator(url), yield* operator(url)]
        // The late call stops before it puts the role, until a later one has been carried out.
        const opened = yield* Deferred.make<void>()
        const lock = holder.query("test", "select pg_advisory_xact_lock(7316904414)::text")
        const held = yield* Effect.forkChild(holder.transaction(Effect.andThen(lock, Deferred.await(opened))), {
          startImmediately: true
        })
        const locks = (granted: boolean) =>
          Effect.map(
            server.query("test", "select from pg_locks where locktype = 'advisory' and granted = $1", [granted]),
            (rows) => rows.length > 0
          )
        yield* eventually("the lock to be held", locks(true))
        const late = yield* Effect.forkChild(Effect.flip(numbered(1, compute.applyRoles(branch, [minted]))), {
          startImmediately: true
        })
        yield* eventually("the late call to wait for the lock", locks(false))
        // A later call has been carried out: the role is not on the server.
        yield* (yield* Database).query("test", "update narthex.static_compute set fence = 2 where branch_id = $1", [
          branch
        ])
        yield* Deferred.succeed(opened, undefined)
        yield* Fiber.join(held)
        assert.include((yield* Fiber.join(late)).message, "A later call")
        const names = yield* server.query("test", "select 1 from pg_roles where rolname = $1", [minted.role])
        assert.lengthOf(names, 0)
      })
    )
  }
)
