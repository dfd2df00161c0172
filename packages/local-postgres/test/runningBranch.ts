/** A running branch of a local driver, and what its roles do there. */
import { join } from "node:path"
import { assert } from "@effect/vitest"
import { BranchId, ComputeDriver, type ComputeRole, EndpointId } from "@narthex/core"
import { LocalComputeDriver } from "@narthex/local-postgres"
import { Context, Duration, Effect, Layer, Option } from "effect"
import { unlocked } from "../../../test/agents/unlocked.ts"
import { type Cluster, clusterAt } from "../src/cluster/Cluster.ts"
import { dataDirectory, kinds, minted, session } from "./support.ts"

export const branch = BranchId.make("br-roles")
export const writer = minted("writer", "read_write")
export const reader = minted("reader", "read_only")

/** The address of the branch's compute. */
export class Address extends Context.Service<Address, string>()("test/Address") {}

/** The cluster of the branch, for what only a superuser can do. */
export class BranchCluster extends Context.Service<BranchCluster, Cluster>()("test/BranchCluster") {}

/** Only detects hangs: a loaded machine takes longer than the default. */
const comparison_within = Duration.minutes(2)

/** Started with `writer` and `reader`. The default limit is one that a loaded machine does not reach. */
export const runningBranch = (kind: 0 | 1, revocation_within: Duration.Duration = Duration.seconds(40)) => {
  const driver = Effect.map(dataDirectory(kind), (dataDir) =>
    Layer.merge(
      LocalComputeDriver.layer({
        dataDir,
        binaries: kinds[kind].choice,
        limits: { revocation_within, comparison_within }
      }),
      Layer.succeed(BranchCluster, clusterAt(join(dataDir, "computes", "branches", branch), "compute"))
    )
  )
  return Layer.effect(
    Address,
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      yield* driver.createBranch(branch, Option.none())
      const endpoint_id = EndpointId.make("ep-roles")
      return (yield* driver.start({ branch_id: branch, endpoint_id, generation: 1, roles: [writer, reader] })).address
    })
  ).pipe(Layer.provideMerge(Layer.unwrap(driver)))
}

export const apply = (...roles: ReadonlyArray<ComputeRole>) =>
  ComputeDriver.use((driver) => driver.applyRoles(branch, roles))

/** Opens a session of the role, which may write as far as no grant but only a setting keeps it from that. */
export const open = (role: string) =>
  Effect.flatMap(Address, (address) => session(address, role)).pipe(Effect.tap((sql) => sql.unsafe(unlocked)))

/** Runs statements in one session. */
export const as = (role: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* open(role)
    let rows: ReadonlyArray<object> = []
    for (const statement of statements) rows = yield* sql.unsafe<object>(statement)
    return rows
  }).pipe(Effect.scoped)

/** The last statement must fail for a missing privilege (and no other reason); those before it must succeed. */
export const isDenied = (role: string, ...statements: ReadonlyArray<string>) =>
  Effect.gen(function* () {
    const sql = yield* open(role)
    for (const statement of statements.slice(0, -1)) yield* sql.unsafe(statement)
    const error = yield* Effect.flip(sql.unsafe(statements.at(-1) ?? ""))
    assert.strictEqual(error.reason._tag, "AuthorizationError", statements.at(-1))
  }).pipe(Effect.scoped)
