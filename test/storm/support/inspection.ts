/** What the storm writes to databases, and what it finds in the store, on the machine and in each database afterwards. */
import { spawnSync } from "node:child_process"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { BranchId, ComputeDriver, EndpointStore, makeEndpointId, mayMove, type OperationStatus } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Database } from "@narthex/postgres"
import { Context, Effect, Layer } from "effect"
import { asSupervisor } from "../../../packages/local-postgres/src/cluster/asSupervisor.ts"
import { clusterAt, superuser } from "../../../packages/local-postgres/src/cluster/Cluster.ts"
import { kinds } from "../../../packages/local-postgres/test/support.ts"
import { note } from "../../harness/note.ts"

const clusterOf = (dataDir: string, branch: BranchId) =>
  clusterAt(join(dataDir, "computes", "branches", branch), "compute")

/** Adds rows of its own to a branch that runs. */
export const write = (dataDir: string, branch: BranchId, rows: number) =>
  asSupervisor(clusterOf(dataDir, branch), "postgres", (sql) =>
    Effect.andThen(
      sql.unsafe("create table if not exists public.mark (branch text, n int, filler text, primary key (branch, n))"),
      sql.unsafe(
        `insert into public.mark select '${branch}', n, repeat(md5(n::text), 8) from generate_series(1, ${rows}) n
         on conflict do nothing`
      )
    )
  )

/** Which branches' rows a branch has, with their number and checksum. */
const marks = (dataDir: string, branch: BranchId) =>
  asSupervisor(clusterOf(dataDir, branch), "postgres", (sql) =>
    Effect.map(
      sql.unsafe<{ readonly branch: string; readonly sum: string }>(
        `select branch, count(*) || ' ' || md5(string_agg(branch || n || filler, ',' order by n)) as sum
         from public.mark group by branch order by branch`
      ),
      (rows) => Object.fromEntries(rows.map((row) => [row.branch, row.sum]))
    )
  )

/** The minted roles that a running branch's Postgres has, in order. */
export const rolesOf = (dataDir: string, branch: BranchId) =>
  asSupervisor(clusterOf(dataDir, branch), "postgres", (sql) =>
    Effect.map(
      sql.unsafe<{ readonly role: string }>("select rolname as role from pg_roles where rolname ~ '^role_' order by 1"),
      (rows) => rows.map(({ role }) => role)
    )
  )

/** What is wrong with the rows of operations and their events. */
export const wrongOperations = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query<{ readonly id: string; readonly action: string; readonly status: string }>(
    "test",
    "select id, action, status from operation"
  )
  const told = yield* query<{ readonly id: string; readonly statuses: ReadonlyArray<OperationStatus> }>(
    "test",
    `select data->>'operation_id' as id, array_agg(data->>'status' order by pos) as statuses
     from event_log where type = 'operation.updated.v1' group by 1`
  )
  const story = new Map(told.map((it) => [it.id, it.statuses]))
  return {
    count: rows.length,
    wrong: rows.flatMap(({ action, id, status }) => {
      const statuses = story.get(id) ?? []
      const legal = statuses.every((it, n) => n === 0 || mayMove(statuses[n - 1] ?? "scheduling", it))
      const good = statuses[0] === "scheduling" && statuses.at(-1) === status && legal
      const ended = status === "finished" || status === "skipped"
      return good && ended ? [] : [`${action} ${id}: ${statuses.join(" ")}, the row is ${status}`]
    })
  }
})

/** Compares machine and records, and reads every database. The servers that are left are adopted, and stopped after. */
export const inspect = (dataDir: string, expected: ReadonlyMap<string, ReadonlyArray<string>>) =>
  Effect.gen(function* () {
    const driver = Context.get(
      yield* Layer.build(LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice })),
      ComputeDriver
    )
    const endpoints = yield* EndpointStore
    const active = (yield* endpoints.active(null, 1_000)).map((it) => `${it.id} ${it.generation}`)
    const running = (yield* driver.running).map((it) => `${it.endpoint_id} ${it.generation}`)
    assert.sameMembers(running, active, "what runs is what the records say")
    const directories = readdirSync(join(dataDir, "computes", "branches")).filter((name) =>
      existsSync(join(dataDir, "computes", "branches", name, "data"))
    )
    assert.sameMembers(directories, [...expected.keys()], "directories are those of the branches")
    const sums = new Map<string, string>()
    for (const [id, owners] of expected) {
      const branch = BranchId.make(id)
      const [endpoint] = yield* endpoints.ofBranch(branch)
      // The storm may have deleted the endpoint of the branch.
      const started = endpoint ?? { id: yield* makeEndpointId, generation: 0 }
      const generation = started.generation + 1
      yield* driver.start({ endpoint_id: started.id, branch_id: branch, generation, roles: [] })
      const found = yield* marks(dataDir, branch)
      assert.sameMembers(Object.keys(found), [...owners], `${id} has its own rows and its parent's`)
      for (const [owner, sum] of Object.entries(found)) {
        assert.strictEqual(sums.get(owner) ?? sum, sum, `the rows of ${owner} are the same everywhere`)
        sums.set(owner, sum)
      }
    }
    checkPages(dataDir, [...expected.keys()])
  })

/** `pg_amcheck` on every database, where the program exists. */
const checkPages = (dataDir: string, branches: ReadonlyArray<string>) => {
  const program = spawnSync("sh", ["-c", "command -v pg_amcheck || ls /usr/lib/postgresql/*/bin/pg_amcheck"])
  const path = program.stdout.toString().split("\n")[0]
  if (path === undefined || path === "") return note("storm: pg_amcheck is not installed")
  for (const branch of branches) {
    const { run } = clusterOf(dataDir, BranchId.make(branch))
    const ran = spawnSync(
      path,
      ["--install-missing", "--heapallindexed", "-h", "/proc/self/cwd", "-U", superuser, "-d", "postgres"],
      { cwd: run }
    )
    assert.strictEqual(ran.status, 0, `pg_amcheck of ${branch}: ${ran.stderr}`)
  }
}
