/**
 * A running database that is written above the disk quota, on real computes: it only reads until there is less, and others
 * notice nothing of it. Holds docs/design/api.md A36.
 */
import { assert, layer } from "@effect/vitest"
import { sqlstateOf } from "@narthex/compute-roles"
import {
  BranchSizes,
  bySystem,
  Credentials,
  DiskMeasurement,
  Endpoints,
  layerRunner,
  type MintedCredential,
  Projects,
  ProxyRequests,
  QuotaStore,
  RoleReconciler,
  type SessionCaller
} from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Layer, Redacted } from "effect"
import { dataDirectory, kinds, session } from "../../packages/local-postgres/test/support.ts"
import { workedOff } from "../races/support/workedOff.ts"
import { signIn, worldWith } from "../races/support/world.ts"

const mebibyte = 1024 ** 2

const computes = Layer.unwrap(
  Effect.map(dataDirectory(0), (dataDir) => LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice }))
)

const aDatabase = Effect.fnUntraced(function* (owner: SessionCaller) {
  const { mint } = yield* Credentials
  const { branch, endpoint, project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
  yield* workedOff(branch)
  const { address } = yield* (yield* ProxyRequests).wake(endpoint.id, "127.0.0.1")
  const writer = yield* mint(owner, project, branch, "read_write", null)
  yield* workedOff(branch)
  return { address, branch, endpoint, project, writer }
})

/** Runs statements in one session. The SQLSTATE of the one that fails, else `done`. */
const attempt = (address: string, { credential, password }: MintedCredential, ...statements: ReadonlyArray<string>) =>
  Effect.flatMap(session(address, credential.role, Redacted.value(password)), (sql) =>
    Effect.forEach(statements, (text) => sql.unsafe(text), { discard: true })
  ).pipe(
    Effect.scoped,
    Effect.as("done"),
    Effect.catchTag("SqlError", (error) => Effect.succeed(sqlstateOf(error)))
  )

/** The work of the instance each minute. */
const aMinute = Effect.andThen(
  Effect.flatMap(DiskMeasurement, ({ record }) => record),
  Effect.flatMap(RoleReconciler, ({ compareRoles }) => compareRoles)
)

layer(Layer.provideMerge(layerRunner, worldWith(computes)), { excludeTestServices: true })(
  "a database above its disk quota",
  (it) => {
    it.effect("only reads until it holds less, says why, and keeps no other from writing or starting (S3)", () =>
      Effect.gen(function* () {
        const { setOverride } = yield* QuotaStore
        const { of } = yield* BranchSizes
        const { resolve, wake } = yield* ProxyRequests
        const { setDesiredState } = yield* Endpoints
        const [ada, bob] = [yield* signIn("ada@example.com"), yield* signIn("bob@example.com")]
        const [own, others] = [yield* aDatabase(ada), yield* aDatabase(bob)]
        const reason = Effect.map(of([own.branch]), (sizes) => sizes.get(own.branch.id)?.read_only_reason)
        yield* aMinute
        const empty = (yield* of([own.branch])).get(own.branch.id)?.size_bytes ?? assert.fail("a size")
        yield* setOverride(ada.org_id, "disk_bytes", empty + 20 * mebibyte)
        assert.isNull(yield* reason)

        const open = yield* session(own.address, own.writer.credential.role, Redacted.value(own.writer.password))
        yield* open.unsafe("create table t as select repeat(md5(n::text), 30) as it from generate_series(1, 50000) n")
        yield* aMinute
        yield* workedOff(own.branch)
        assert.strictEqual(yield* reason, "disk_quota")
        // The session that wrote has ended, and a new one only reads.
        assert.isTrue(yield* Effect.isFailure(open.unsafe("insert into t values ('more')")))
        assert.strictEqual(yield* attempt(own.address, own.writer, "select count(*) from t"), "done")
        assert.strictEqual(yield* attempt(own.address, own.writer, "insert into t values ('more')"), "25006")
        assert.strictEqual(yield* attempt(own.address, own.writer, "create table u (n int)"), "25006")
        const resolved = yield* resolve(own.endpoint.id, own.writer.credential.role)
        assert.strictEqual(resolved.read_only_reason, "disk_quota")

        // A compute that starts now has readers too.
        yield* setDesiredState(own.project, own.endpoint.id, "idle", bySystem)
        yield* workedOff(own.branch)
        const { address } = yield* wake(own.endpoint.id, "127.0.0.1")
        assert.strictEqual(yield* attempt(address, own.writer, "insert into t values ('more')"), "25006")

        yield* setDesiredState(others.project, others.endpoint.id, "idle", bySystem)
        yield* workedOff(others.branch)
        const bystander = yield* wake(others.endpoint.id, "127.0.0.1")
        assert.strictEqual(yield* attempt(bystander.address, others.writer, "create table u (n int)"), "done")
        assert.isNull((yield* of([others.branch])).get(others.branch.id)?.read_only_reason)

        yield* setOverride(ada.org_id, "disk_bytes", null)
        yield* aMinute
        yield* workedOff(own.branch)
        assert.isNull(yield* reason)
        assert.strictEqual(yield* attempt(address, own.writer, "insert into t values ('more')", "drop table t"), "done")
      })
    )
  }
)
