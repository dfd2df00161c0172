/** No cluster trusts an account, and what a superuser made by hand reaches from inside one: docs/design/proxy.md P8, P23. */
import { chownSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { PgClient } from "@effect/sql-pg"
import { assert, describe, it } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointId } from "@narthex/core"
import { EmbeddedPostgres, LocalComputeDriver } from "@narthex/local-postgres"
import { Effect, Layer, Option, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { asSupervisor } from "../src/cluster/asSupervisor.ts"
import { clusterAt, superuser } from "../src/cluster/Cluster.ts"
import { findPostmaster, startPostgres, stopPostgres } from "../src/cluster/PostgresProcess.ts"
import { defaultUids, isIn } from "../src/machine/ComputeAccounts.ts"
import { findMachine } from "../src/machine/Machine.ts"
import { dataDirectory, kinds, minted, postmasterPid, session, uidOf } from "./support.ts"

const [kind] = kinds
const isRoot = process.getuid?.() === 0
const [one, two] = [BranchId.make("br-one"), BranchId.make("br-two")]

const clusterOf = (dataDir: string, branch: BranchId) =>
  clusterAt(join(dataDir, "computes", "branches", branch), "compute")

const driverAt = (dataDir: string) => LocalComputeDriver.layer({ dataDir, binaries: kind.choice })

/** Starts branches, and returns where they listen. */
const started = (branches: ReadonlyArray<BranchId>, parent: Option.Option<BranchId> = Option.none(), generation = 1) =>
  Effect.gen(function* () {
    const driver = yield* ComputeDriver
    return yield* Effect.forEach(branches, (branch_id) =>
      Effect.gen(function* () {
        yield* driver.createBranch(branch_id, parent)
        const endpoint_id = EndpointId.make(`ep-${branch_id}`)
        const roles = [minted("writer", "read_write")]
        return (yield* driver.start({ branch_id, endpoint_id, generation, roles })).address
      })
    )
  })

/** The SQLSTATE with which the supervisor's name is refused. */
const asPlatform = (path: string, password: string | undefined) =>
  Effect.provide(
    PgClient.makeClient({
      path,
      database: "postgres",
      username: superuser,
      password: password === undefined ? undefined : Redacted.make(password)
    }),
    Reactivity.layer
  ).pipe(
    Effect.scoped,
    Effect.match({
      onSuccess: () => "in",
      onFailure: ({ reason: { cause } }) => (cause instanceof Error && "code" in cause ? cause.code : "refused")
    })
  )

const secretIn = (directory: string) => readFileSync(join(directory, "supervisor.secret"), "utf8").trim().split(" ")[1]

/** Runs a program as a superuser of the cluster does, and returns what it prints. */
const fromInside = (path: string) => (command: string) =>
  Effect.gen(function* () {
    const sql = yield* session(path, "intruder")
    yield* sql.unsafe("CREATE TEMP TABLE said (line text)")
    const script = `{ ${command}; } 2>&1 | head -c 4000; true`
    const lines = "(FORMAT csv, DELIMITER E'\\x01', QUOTE E'\\x02')"
    yield* sql.unsafe(`COPY said FROM PROGRAM '${script.replaceAll("'", "''")}' WITH ${lines}`)
    const rows = yield* sql.unsafe<{ readonly line: string }>("SELECT line FROM said")
    return rows.map(({ line }) => line).join("\n")
  }).pipe(Effect.scoped)

describe("accounts and clusters", { tags: [kind.tag] }, () => {
  it.live("no cluster trusts an account, and each has a secret of its own, also a copy and a reset branch", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      const secrets = yield* Effect.gen(function* () {
        const [first = "", copy = ""] = [...(yield* started([one])), ...(yield* started([two], Option.some(one)))]
        const store = yield* EmbeddedPostgres
        const clusters = [
          { directory: join(dataDir, "postgres"), path: store.path },
          { directory: clusterOf(dataDir, one).directory, path: first },
          { directory: clusterOf(dataDir, two).directory, path: copy }
        ]
        for (const { directory, path } of clusters) {
          const access = readFileSync(join(directory, "data", "pg_hba.conf"), "utf8")
          assert.notMatch(access, /\b(?:peer|trust|ident)\b/)
          const secret = secretIn(directory)
          assert.match(String(secret), /^[0-9a-f]{64}$/)
          assert.strictEqual(statSync(join(directory, "supervisor.secret")).mode & 0o777, 0o600)
          assert.notStrictEqual(yield* asPlatform(path, undefined), "in")
          for (const wrong of ["", "narthex", "0".repeat(64)])
            assert.strictEqual(yield* asPlatform(path, wrong), "28P01")
          assert.strictEqual(yield* asPlatform(path, secret), "in")
          for (const other of clusters)
            if (other.path !== path) assert.strictEqual(yield* asPlatform(other.path, secret), "28P01")
        }
        const driver = yield* ComputeDriver
        const before = secretIn(clusterOf(dataDir, two).directory)
        yield* driver.resetBranch(two, one)
        const [again = ""] = yield* started([two], Option.none(), 2)
        const after = secretIn(clusterOf(dataDir, two).directory)
        assert.notStrictEqual(after, before)
        assert.strictEqual(yield* asPlatform(again, after), "in")
        return clusters.map(({ directory }) => secretIn(directory))
      }).pipe(
        Effect.provide(Layer.merge(driverAt(dataDir), EmbeddedPostgres.layer({ dataDir, binaries: kind.choice })))
      )
      assert.lengthOf(new Set(secrets), 3)
    })
  )

  it.live(
    "data of a version that trusted its account, and data whose secret was changed, get one at their next start",
    () =>
      Effect.gen(function* () {
        const dataDir = yield* dataDirectory(0)
        yield* Effect.provide(started([one]), driverAt(dataDir))
        const cluster = clusterOf(dataDir, one)
        const machine = yield* findMachine({ dataDir, binaries: kind.choice })
        // The state that an earlier version leaves: no secret, its own rules, and one account for all.
        rmSync(join(cluster.directory, "supervisor.secret"))
        rmSync(join(cluster.data, "supervisor.id"))
        writeFileSync(join(cluster.data, "pg_hba.conf"), "local all all trust\n")
        if (isRoot) yield* Effect.sync(() => chownAll(cluster.data, machine.user.owner))
        const [address = ""] = yield* Effect.provide(started([one], Option.none(), 2), driverAt(dataDir))
        assert.notStrictEqual(address, "")
        if (isRoot) assert.isTrue(isIn(defaultUids, statSync(cluster.data)))

        yield* startPostgres(cluster, machine)
        yield* asSupervisor(cluster, "postgres", (sql) => sql.unsafe(`ALTER ROLE ${superuser} PASSWORD 'changed'`))
        const locked = yield* Effect.flip(asSupervisor(cluster, "postgres", (sql) => sql`SELECT 1`))
        assert.strictEqual(locked._tag === "LocalPostgresError" ? locked.sqlstate : undefined, "28P01")
        yield* stopPostgres(cluster)
        yield* startPostgres(cluster, machine)
        yield* asSupervisor(cluster, "postgres", (sql) => sql`SELECT 1`)
        yield* stopPostgres(cluster)
      })
  )

  it.live("a server that an earlier version has left running does not go on", () =>
    Effect.gen(function* () {
      const dataDir = yield* dataDirectory(0)
      yield* Effect.provide(started([one]), driverAt(dataDir))
      const cluster = clusterOf(dataDir, one)
      const machine = yield* findMachine({ dataDir, binaries: kind.choice })
      yield* startPostgres(cluster, machine)
      rmSync(join(cluster.directory, "supervisor.secret"))
      const running = Effect.provide(
        Effect.andThen(ComputeDriver, findPostmaster(cluster)),
        Layer.fresh(driverAt(dataDir))
      )
      assert.isTrue(Option.isNone(yield* running))
    })
  )

  if (isRoot)
    it.live(
      "from inside a compute no file, socket or process of another branch, the store or the supervisor is reached",
      () =>
        Effect.gen(function* () {
          const dataDir = yield* dataDirectory(0)
          writeFileSync(join(dataDir, "master.secret"), "the master secret", { mode: 0o600 })
          yield* Effect.gen(function* () {
            const [mine = "", theirs = ""] = yield* started([one, two])
            const store = yield* EmbeddedPostgres
            const [own, other] = [clusterOf(dataDir, one), clusterOf(dataDir, two)]
            yield* asSupervisor(own, "postgres", (sql) =>
              sql.unsafe("CREATE ROLE intruder SUPERUSER LOGIN PASSWORD 'intruder'")
            )
            const run = fromInside(mine)
            const accounts = [own, other].map(({ data }) => statSync(data).uid)
            assert.lengthOf(new Set([...accounts, statSync(join(dataDir, "postgres", "data")).uid, 0]), 4)
            const [uid] = accounts
            assert.strictEqual(uidOf(postmasterPid(own.data)), uid)
            assert.strictEqual((yield* run("id -u; id -G")).split("\n").join(" "), `${uid} ${uid}`)

            const pid = postmasterPid(other.data)
            const storePid = postmasterPid(join(dataDir, "postgres", "data"))
            const attempts = [
              ...[other.data, join(dataDir, "postgres", "data")].flatMap((data) => [
                `cat ${data}/PG_VERSION`,
                `ls ${data}`,
                `cat ${data}/pg_hba.conf`,
                `touch ${data}/owned`
              ]),
              `cat ${join(dataDir, "master.secret")}`,
              `ls ${dataDir}`,
              `cat ${join(own.directory, "supervisor.secret")}`,
              `cat ${join(other.directory, "supervisor.secret")}`,
              `cat ${join(other.directory, "postgres.log")}`,
              `ls ${join(other.directory, "run")}`,
              `ls ${join(dataDir, "postgres", "run")}`,
              ...[pid, storePid, process.pid, 1].flatMap((id) => [
                `kill -0 ${id}`,
                `kill -TERM ${id}`,
                `cat /proc/${id}/environ | wc -c | grep -v "^0"`,
                `ls /proc/${id}/fd`,
                `ls /proc/${id}/cwd/`
              ]),
              `cat /proc/${pid}/fd/3/PG_VERSION`,
              ...[theirs, store.path].map(
                (path) => `psql "host=$(dirname ${path}) user=narthex dbname=postgres" -c "select 1"`
              )
            ]
            for (const attempt of attempts) {
              const said = yield* run(`if ${attempt}; then echo "REACHED"; else echo "kept out"; fi`)
              assert.notInclude(said, "REACHED", attempt)
            }
            const read = (path: string) =>
              Effect.gen(function* () {
                const sql = yield* session(mine, "intruder")
                return yield* Effect.exit(sql`SELECT pg_read_file(${path})`)
              }).pipe(Effect.scoped)
            for (const path of [
              join(dataDir, "master.secret"),
              join(other.data, "PG_VERSION"),
              join(own.directory, "supervisor.secret")
            ])
              assert.strictEqual((yield* read(path))._tag, "Failure", path)
            // The attempts themselves work: what is its own is within reach.
            assert.include(yield* run(`cat ${own.data}/PG_VERSION || cat PG_VERSION; echo REACHED`), "REACHED")
            assert.isTrue(Option.isSome(yield* findPostmaster(other)))
          }).pipe(
            Effect.provide(Layer.merge(driverAt(dataDir), EmbeddedPostgres.layer({ dataDir, binaries: kind.choice })))
          )
        })
    )

  if (isRoot)
    it.live("the account of a branch that was deleted is not that of the next one", () =>
      Effect.gen(function* () {
        const dataDir = yield* dataDirectory(0)
        const uids = { first: 3_000_000, last: 3_000_002 }
        const limited = LocalComputeDriver.layer({ dataDir, binaries: kind.choice, uids })
        yield* Effect.gen(function* () {
          const driver = yield* ComputeDriver
          yield* driver.createBranch(one, Option.none())
          const first = statSync(clusterOf(dataDir, one).data).uid
          yield* driver.createBranch(two, Option.none())
          yield* driver.deleteBranch(one)
          const third = BranchId.make("br-three")
          yield* driver.createBranch(third, Option.none())
          assert.lengthOf(
            new Set([first, statSync(clusterOf(dataDir, two).data).uid, statSync(clusterOf(dataDir, third).data).uid]),
            3
          )
          const full = yield* Effect.flip(driver.createBranch(BranchId.make("br-four"), Option.none()))
          assert.strictEqual(full._tag, "ComputeFailed")
        }).pipe(Effect.provide(limited))
      })
    )
})

const chownAll = (data: string, { gid, uid }: { readonly uid: number; readonly gid: number }) => {
  for (const entry of ["", ...readdirSync(data, { recursive: true, encoding: "utf8" })])
    chownSync(join(data, entry), uid, gid)
}
