/** The rights of the admin of a static server, and what a role can make the admin do. */
import { assert, layer } from "@effect/vitest"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Layer, Redacted } from "effect"
import { applyStaticRoles } from "../../src/adapters/staticRoles.ts"
import { driver, machines, mint, operator, outcome, Servers, sessionOf } from "./support/staticServers.ts"

layer(Layer.provideMerge(driver, machines(3)), { excludeTestServices: true, timeout: "120 seconds" })(
  "the admin of a static server",
  (it) => {
    it.effect("a function of a writer that shadows a system function is not called by the admin", () =>
      Effect.gen(function* () {
        const compute = yield* ComputeDriver
        const servers = yield* Servers
        const writer = yield* mint("read_write")
        const branch = aBranchId()
        const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1 }
        const { address } = yield* compute.start({ ...start, roles: [writer.minted] })
        const writing = sessionOf(servers.find((_, at) => address === `db-${at}:5432`) ?? Redacted.make(""), writer)
        for (const text of [
          "create table ran (name text)",
          `create function public.quote_ident(name) returns text language plpgsql as
           $$ begin insert into public.ran values (current_user); return pg_catalog.quote_ident($1::text); end $$`,
          // The grant to revoke names a schema, which the shadowed function quotes.
          "create schema mine",
          "grant create on schema mine to public"
        ])
          assert.strictEqual(yield* outcome(writing.unsafe(text)), "done", text)
        assert.isTrue(yield* compute.needsRoles(branch, [writer.minted]))
        yield* compute.applyRoles(branch, [writer.minted])
        assert.isEmpty(yield* Effect.promise(() => writing.unsafe("select * from ran")))
        yield* compute.stop(start.endpoint_id)
        yield* Effect.promise(() => writing.end({ timeout: 1 }))
      })
    )

    it.effect("an admin whose name has to be quoted applies roles, and readers get no function of the operator", () =>
      Effect.gen(function* () {
        const compute = yield* ComputeDriver
        const servers = yield* Servers
        const role = yield* mint("read_only")
        const branch = aBranchId()
        const start = { branch_id: branch, endpoint_id: anEndpointId(), generation: 1 }
        const { address } = yield* compute.start({ ...start, roles: [] })
        const admin = servers.find((_, at) => address === `db-${at}:5432`) ?? Redacted.make("")
        const { query } = yield* operator(admin)
        for (const text of [
          "create function reset_all() returns int language sql as 'select 1'",
          "revoke execute on function reset_all() from public",
          `create role "Ops Admin.1" superuser login`
        ])
          yield* query("test", text)
        const named = new URL(Redacted.value(admin))
        named.searchParams.set("user", "Ops Admin.1")
        yield* applyStaticRoles(Redacted.make(named.toString()), [role.minted], Effect.void)
        const reading = sessionOf(admin, role)
        assert.strictEqual(yield* outcome(reading.unsafe("select reset_all()")), "42501")
        yield* compute.stop(start.endpoint_id)
        yield* Effect.promise(() => reading.end({ timeout: 1 }))
      })
    )

    it.effect("an admin without SUPERUSER applies and ends roles, and keeps its own default privileges", () =>
      Effect.gen(function* () {
        const [admin = Redacted.make("")] = yield* Servers
        // The call makes the groups, which an admin without SUPERUSER has made itself or been granted.
        yield* applyStaticRoles(admin, [], Effect.void)
        const { query } = yield* operator(admin)
        for (const text of [
          "create role ops login createrole",
          "grant pg_signal_backend, pg_read_all_stats to ops",
          "grant narthex_writer, narthex_reader to ops with admin option",
          "alter database postgres owner to ops"
        ])
          yield* query("test", text)
        const limited = new URL(Redacted.value(admin))
        limited.searchParams.set("user", "ops")
        const url = Redacted.make(limited.toString())
        const role = yield* mint("read_only")
        yield* applyStaticRoles(url, [role.minted], Effect.void)
        const reading = sessionOf(admin, role)
        assert.strictEqual(yield* outcome(reading.unsafe("select 1")), "done")
        yield* applyStaticRoles(url, [], Effect.void)
        assert.notStrictEqual(yield* outcome(reading.unsafe("select 1")), "done")
        assert.isEmpty(yield* query("test", "select from pg_default_acl where defaclrole = 'ops'::regrole"))
        yield* Effect.promise(() => reading.end({ timeout: 1 }))
      })
    )
  }
)
