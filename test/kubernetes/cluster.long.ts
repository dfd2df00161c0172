/**
 * Computes on the Kubernetes cluster that `NARTHEX_TEST_KUBERNETES` and a kubeconfig name: the contracts of the driver and of
 * roles, copies while the parent is written to, and the seconds that a wake takes there, also for a client of the proxy.
 */
import { assert, describe, layer } from "@effect/vitest"
import { computeRolesContract, RoleServer } from "@narthex/compute-roles/testing"
import { ComputeDriver, makeBranchId, makeEndpointId } from "@narthex/core"
import { computeDriverContract, runContract } from "@narthex/core/testing"
import { Clock, Effect, Fiber, Layer, Option } from "effect"
import * as vitest from "vitest"
import { mint, sessionAt } from "../../packages/kubernetes/test/support/doubledComputes.ts"
import { note } from "../harness/note.ts"
import { clusterComputes } from "./support/clusterComputes.ts"
import { proxied } from "./support/proxied.ts"

/** The seconds that an effect takes. */
const seconds = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const begun = yield* Clock.currentTimeMillis
    const value = yield* effect
    return { value, took: ((yield* Clock.currentTimeMillis) - begun) / 1000 }
  })

const rounded = (all: ReadonlyArray<number>) => all.map((took) => took.toFixed(1)).join(", ")

/** A branch with a writer. */
const written = Effect.gen(function* () {
  const driver = yield* ComputeDriver
  const writer = yield* mint()
  const start = { branch_id: yield* makeBranchId, endpoint_id: yield* makeEndpointId, roles: [writer.minted] }
  const { took } = yield* seconds(driver.createBranch(start.branch_id, Option.none()))
  return { driver, start, took, writer }
})

const server = Layer.effect(
  RoleServer,
  Effect.gen(function* () {
    const { driver, start } = yield* written
    const compute = yield* driver.start({ ...start, generation: 1, roles: [] })
    return RoleServer.of({
      apply: (roles) => driver.applyRoles(start.branch_id, roles),
      needs: (roles) => driver.needsRoles(start.branch_id, roles),
      open: (role, password) =>
        Effect.map(sessionAt(compute, role, password), (sql) => (text) => sql.unsafe<object>(text))
    })
  })
)

describe("a Kubernetes cluster", { tags: ["kubernetes"] }, () => {
  runContract(vitest, computeDriverContract, "its computes", clusterComputes)
  runContract(vitest, computeRolesContract, "a server on it", Layer.provide(server, clusterComputes))

  layer(clusterComputes, { excludeTestServices: true })("wakes and copies", (it) => {
    it.effect("a suspended branch wakes with its data, and the report says in how many seconds", () =>
      Effect.gen(function* () {
        const { driver, start, took, writer } = yield* written
        const wakes: Array<number> = []
        const stops: Array<number> = []
        for (let generation = 1; generation <= 6; generation++) {
          const woken = yield* seconds(driver.start({ ...start, generation }))
          if (generation > 1) wakes.push(woken.took)
          yield* Effect.scoped(
            Effect.gen(function* () {
              const sql = yield* sessionAt(woken.value, writer.minted.role, writer.password)
              if (generation === 1) yield* sql`CREATE TABLE kept (n int)`
              yield* sql`INSERT INTO kept VALUES (${generation})`
              const [row] = yield* sql<{ readonly n: number }>`SELECT count(*)::int AS n FROM kept`
              assert.strictEqual(row?.n, generation)
            })
          )
          stops.push((yield* seconds(driver.stop(start.endpoint_id))).took)
        }
        note(`seconds: creation ${rounded([took])}; wakes ${rounded(wakes)}; suspends ${rounded(stops)}`)
        yield* driver.deleteBranch(start.branch_id)
      })
    )

    it.effect("a copy of a branch that is written to has every commit before it, and none in part", () =>
      Effect.gen(function* () {
        const { driver, start, writer } = yield* written
        const compute = yield* driver.start({ ...start, generation: 1 })
        let committed = 0
        const writes = Effect.gen(function* () {
          const sql = yield* sessionAt(compute, writer.minted.role, writer.password)
          yield* sql`CREATE TABLE move (one int, other int)`
          while (true) {
            yield* sql.withTransaction(
              Effect.andThen(sql`INSERT INTO move VALUES (1, 0)`, sql`INSERT INTO move VALUES (0, 1)`)
            )
            committed++
          }
        })
        const writing = yield* Effect.forkChild(Effect.scoped(writes))
        while (committed < 100) yield* Effect.sleep("10 millis")
        const before = committed
        const copy = yield* makeBranchId
        const { took } = yield* seconds(driver.createBranch(copy, Option.some(start.branch_id)))
        yield* Fiber.interrupt(writing)
        const endpoint_id = yield* makeEndpointId
        const copied = yield* driver.start({ ...start, branch_id: copy, endpoint_id, generation: 1 })
        const sql = yield* sessionAt(copied, writer.minted.role, writer.password)
        const [row] = yield* sql<{ readonly one: number; readonly other: number }>`
          SELECT sum(one)::int AS one, sum(other)::int AS other FROM move`
        assert.strictEqual(row?.one, row?.other)
        assert.isAtLeast(row?.one ?? 0, before)
        note(`seconds: copy ${rounded([took])}`)
        for (const branch of [copy, start.branch_id]) yield* driver.deleteBranch(branch)
      })
    )

    it.effect("a connection through the proxy wakes a suspended branch of a project", () =>
      Effect.gen(function* () {
        const { remove, suspend, through } = yield* proxied(yield* ComputeDriver)
        const first = yield* seconds(through("CREATE TABLE kept AS SELECT 1 AS n"))
        yield* suspend
        const woken = yield* seconds(through("SELECT n FROM kept"))
        assert.deepStrictEqual(woken.value, [{ n: 1 }])
        note(`seconds: first connection ${rounded([first.took])}; connection that wakes ${rounded([woken.took])}`)
        yield* remove
      })
    )
  })
})
