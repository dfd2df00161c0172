/** Copies of branches by snapshots of their volumes (docs/design/kubernetes.md K6, K7). */
import { assert, describe, layer } from "@effect/vitest"
import { type BranchId, type Compute, ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId } from "@narthex/core/testing"
import { Effect, Fiber, Option } from "effect"
import { eventually } from "../../../test/harness/eventually.ts"
import { nameIn } from "./support/api/ObjectStore.ts"
import { snapshots } from "./support/api/resources.ts"
import { doubledComputes, type Minted, mint, sessionAt } from "./support/doubledComputes.ts"
import { KubernetesDouble } from "./support/KubernetesDouble.ts"
import { oneBranch } from "./support/oneBranch.ts"

/** Starts an endpoint of a branch that exists. */
const started = Effect.fnUntraced(function* (branch_id: BranchId, ...roles: ReadonlyArray<Minted>) {
  const driver = yield* ComputeDriver
  const list = roles.map(({ minted }) => minted)
  return yield* driver.start({ branch_id, endpoint_id: anEndpointId(), generation: 1, roles: list })
})

const branches = { parent: oneBranch("read_write"), child: oneBranch("read_write") }

/** A branch that runs, with a writer. */
const written = (which: keyof typeof branches) =>
  Effect.map(branches[which], ({ compute, role }) => ({ branch: compute.branch_id, compute, writer: role }))

const inSession = (compute: Compute, { minted, password }: Minted, ...statements: ReadonlyArray<string>) =>
  Effect.scoped(
    Effect.gen(function* () {
      const sql = yield* sessionAt(compute, minted.role, password)
      let rows: ReadonlyArray<object> = []
      for (const statement of statements) rows = yield* sql.unsafe<object>(statement)
      return rows
    })
  )

/** Moves between accounts, whose sum is 0 in every state that was ever committed. */
const accounts = [
  "CREATE TABLE account AS SELECT id, 0 AS n FROM generate_series(1, 2000) AS id",
  "CREATE UNIQUE INDEX ON account (id)",
  "CREATE TABLE move (id bigserial PRIMARY KEY, filler text)"
]
const move = `WITH moved AS (INSERT INTO move (filler) VALUES (repeat('x', 500)) RETURNING id),
  changed AS (UPDATE account SET n = n + CASE id % 2 WHEN 0 THEN 1 ELSE -1 END
    WHERE id IN (SELECT m.id * 2 % 2000 + o FROM moved m, (VALUES (1), (2)) AS other (o)))
  SELECT id FROM moved`

const podOf = (branch: BranchId) =>
  Effect.map(KubernetesDouble, (kubernetes) => kubernetes.pods().find((pod) => nameIn(pod) === `${branch}-1-1`))

describe("copies of branches on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  layer(doubledComputes(), { excludeTestServices: true })((it) => {
    it.effect("a copy of a branch that is written to has every commit before it, none in part, and whole pages", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const kubernetes = yield* KubernetesDouble
        const { branch, compute, writer } = yield* written("parent")
        yield* inSession(compute, writer, ...accounts)
        let committed = 0
        const writes = Effect.gen(function* () {
          const sql = yield* sessionAt(compute, writer.minted.role, writer.password)
          while (true) {
            yield* sql.unsafe(move)
            committed++
          }
        })
        const writing = yield* Effect.forkChild(Effect.scoped(writes))
        yield* eventually(
          "some commits",
          Effect.sync(() => committed > 20)
        )
        const before = committed
        const copy = aBranchId()
        yield* driver.createBranch(copy, Option.some(branch))
        const after = committed + 1
        yield* Fiber.interrupt(writing)
        const copied = yield* started(copy, writer)
        const [row] = yield* inSession(
          copied,
          writer,
          "SELECT (SELECT sum(n) FROM account)::int AS sum, (SELECT count(*) FROM move)::int AS moves"
        )
        assert.deepInclude(row, { sum: 0 })
        const moves = Object(row).moves
        assert.isTrue(before <= moves && moves <= after, `${before} <= ${moves} <= ${after}`)
        const pod = yield* podOf(copy)
        assert.isDefined(pod)
        yield* Effect.promise(() => kubernetes.kubelet.serverOf(pod ?? {}).execute("VACUUM (DISABLE_PAGE_SKIPPING)"))
        assert.lengthOf(kubernetes.store.list(snapshots), 0)
      })
    )

    it.effect("a copy of a suspended branch has its data and none of its roles", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const { branch, compute, writer } = yield* written("parent")
        yield* inSession(compute, writer, "CREATE TABLE kept AS SELECT 1 AS n")
        yield* driver.stop(compute.endpoint_id)
        const [copy, other] = [aBranchId(), yield* mint()]
        yield* driver.createBranch(copy, Option.some(branch))
        const copied = yield* started(copy, other)
        assert.deepStrictEqual(yield* inSession(copied, other, "SELECT n FROM kept"), [{ n: 1 }])
        assert.isTrue(yield* Effect.isFailure(inSession(copied, writer, "SELECT 1")))
      })
    )

    it.effect("a reset ends the computes, and the branch has the data of its parent", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const parent = yield* written("parent")
        const child = yield* written("child")
        yield* inSession(parent.compute, parent.writer, "CREATE TABLE of_parent (n int)")
        yield* inSession(child.compute, child.writer, "CREATE TABLE of_child (n int)")
        yield* driver.resetBranch(child.branch, parent.branch)
        assert.isFalse((yield* driver.running).some(({ branch_id }) => branch_id === child.branch))
        const reset = yield* started(child.branch, child.writer)
        yield* inSession(reset, child.writer, "SELECT FROM of_parent")
        assert.isTrue(yield* Effect.isFailure(inSession(reset, child.writer, "SELECT FROM of_child")))
      })
    )

    it.effect("a reset for which the storage makes no snapshot is busy, and the branch keeps its data", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const { snapshotter } = yield* KubernetesDouble
        const [parent, child] = [yield* written("parent"), yield* written("child")]
        yield* inSession(child.compute, child.writer, "CREATE TABLE of_child_now (n int)")
        snapshotter.failure = "the backend has no room"
        const failure = yield* Effect.flip(driver.resetBranch(child.branch, parent.branch))
        snapshotter.failure = undefined
        assert.deepStrictEqual([failure.retryable, failure.busy], [true, true])
        assert.notInclude(failure.reason, "backend")
        yield* inSession(yield* started(child.branch, child.writer), child.writer, "SELECT FROM of_child_now")
      })
    )

    it.effect("a copy of a branch without data is refused, and so is a copy of itself", () =>
      Effect.gen(function* () {
        const driver = yield* ComputeDriver
        const [copy, missing] = [aBranchId(), aBranchId()]
        for (const parent of [missing, copy]) {
          const failure = yield* Effect.flip(driver.createBranch(copy, Option.some(parent)))
          assert.isFalse(failure.retryable)
        }
      })
    )
  })
)
