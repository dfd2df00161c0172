/** The writes of the storm to databases, and its later findings in the store, on the machine and in each database. */
import { spawnSync } from "node:child_process"
import { createHash } from "node:crypto"
import { existsSync, readdirSync } from "node:fs"
import { join } from "node:path"
import { assert } from "@effect/vitest"
import {
  BranchId,
  ComputeDriver,
  EndpointStore,
  makeEndpointId,
  mayMove,
  type OperationStatus,
  RegionId
} from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Database } from "@narthex/postgres"
import { Context, Effect, Layer, Redacted } from "effect"
import { asSupervisor } from "../../../packages/local-postgres/src/cluster/asSupervisor.ts"
import { clusterAt, superuser } from "../../../packages/local-postgres/src/cluster/Cluster.ts"
import { secretOf } from "../../../packages/local-postgres/src/cluster/SupervisorSecret.ts"
import { kinds } from "../../../packages/local-postgres/test/support.ts"
import { note } from "../../harness/note.ts"
import { amcheckPath } from "../../harness/requirements.ts"
import type { StormRegion } from "./StormRegion.ts"

const clusterOf = (dataDir: string, branch: BranchId) =>
  clusterAt(join(dataDir, "computes", "branches", branch), "compute")

/** The rows that `write` added to a branch. */
export interface Written {
  readonly branch: BranchId
  readonly rows: number
}

/** Adds rows of its own to a branch that runs. */
export const write = (dataDir: string, { branch, rows }: Written) =>
  asSupervisor(clusterOf(dataDir, branch), "postgres", (sql) =>
    Effect.andThen(
      sql.unsafe("create table if not exists public.mark (branch text, n int, filler text, primary key (branch, n))"),
      sql.unsafe(
        `insert into public.mark select '${branch}', n, repeat(md5(n::text), 8) from generate_series(1, ${rows}) n
         on conflict do nothing`
      )
    )
  )

/** The result of `marks` for rows that are whole. */
const markOf = ({ branch, rows }: Written) => {
  const md5 = (text: string) => createHash("md5").update(text).digest("hex")
  const texts = Array.from({ length: rows }, (_, at) => `${branch}${at + 1}${md5(String(at + 1)).repeat(8)}`)
  return [branch, `${rows} ${md5(texts.join(","))}`] as const
}

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

/** The violations in the rows of operations and their events. */
export const wrongOperations = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query<{ readonly id: string; readonly action: string; readonly status: string }>(
    "test",
    "select id, action, status from narthex.operation"
  )
  const told = yield* query<{ readonly id: string; readonly statuses: ReadonlyArray<OperationStatus> }>(
    "test",
    `select data->>'operation_id' as id, array_agg(data->>'status' order by pos) as statuses
     from narthex.event_log where type = 'operation.updated.v1' group by 1`
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
export const inspect = ({ dataDir, region }: StormRegion, expected: ReadonlyMap<string, ReadonlyArray<Written>>) =>
  Effect.gen(function* () {
    const driver = Context.get(
      yield* Layer.build(LocalComputeDriver.layer({ dataDir, binaries: kinds[0].choice })),
      ComputeDriver
    )
    const endpoints = yield* EndpointStore
    const active = (yield* endpoints.active(RegionId.make(region), null, 1_000)).map(
      (it) => `${it.id} ${it.generation}`
    )
    const running = (yield* driver.running).map((it) => `${it.endpoint_id} ${it.generation}`)
    assert.sameMembers(running, active, "what runs is what the records say")
    const directories = readdirSync(join(dataDir, "computes", "branches")).filter((name) =>
      existsSync(join(dataDir, "computes", "branches", name, "data"))
    )
    assert.sameMembers(directories, [...expected.keys()], "directories are those of the branches of the region")
    for (const [id, written] of expected) {
      const branch = BranchId.make(id)
      const [endpoint] = yield* endpoints.ofBranch(branch)
      // The storm may have deleted the endpoint of the branch.
      const started = endpoint ?? { id: yield* makeEndpointId, generation: 0 }
      const generation = started.generation + 1
      yield* driver.start({ endpoint_id: started.id, branch_id: branch, generation, roles: [] })
      const whole = Object.fromEntries(written.map(markOf))
      assert.deepStrictEqual(yield* marks(dataDir, branch), whole, `${id} has its own rows and its parent's`)
    }
    yield* checkPages(dataDir, [...expected.keys()])
  })

/** `pg_amcheck` on every database, where the program exists, as it does in CI: it is a requirement. */
const checkPages = Effect.fnUntraced(function* (dataDir: string, branches: ReadonlyArray<string>) {
  const path = amcheckPath()
  if (path === undefined) return note("storm: pg_amcheck is not installed")
  for (const branch of branches) {
    const cluster = clusterOf(dataDir, BranchId.make(branch))
    const secret = (yield* secretOf(cluster)) ?? assert.fail(`${branch} has no secret`)
    // Without `-w` it would ask for a password again and again.
    const ran = spawnSync(
      path,
      ["--install-missing", "--heapallindexed", "-w", "-h", "/proc/self/cwd", "-U", superuser, "-d", "postgres"],
      { cwd: cluster.run, env: { ...process.env, PGPASSWORD: Redacted.value(secret) }, timeout: 60_000 }
    )
    assert.strictEqual(ran.status, 0, `pg_amcheck of ${branch}: ${ran.stderr}`)
  }
})
