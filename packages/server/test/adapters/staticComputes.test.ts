/** Static computes: a branch keeps its server permanently, and no other branch gets it. */
import { once } from "node:events"
import { createServer, type Socket } from "node:net"
import { assert, layer } from "@effect/vitest"
import { type BranchId, ComputeDriver, ComputeFence } from "@narthex/core"
import { aBranchId, anEndpoint, aProjectId } from "@narthex/core/testing"
import { Database } from "@narthex/postgres"
import { Context, Duration, Effect, Fiber, Layer, Option, Redacted, References, type Scope } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { testDatabase } from "../../../postgres/test/support/TestDatabase.ts"
import { layerStaticComputes } from "../../src/adapters/staticComputes.ts"

const one = "db-one.internal:5432"
const two = "db-two.internal:5432"
const three = "/run/db-three/.s.PGSQL.5432"
const verifier = `SCRAM-SHA-256$4096:${btoa("salt")}$${btoa("x".repeat(32))}:${btoa("y".repeat(32))}`

/** The driver of an instance that starts now, with this list of servers, which have roles of their own. */
const instance = (...addresses: ReadonlyArray<string>) =>
  Effect.map(
    Layer.build(layerStaticComputes(addresses.map((address) => ({ address, admin_url: null, tls: null })))),
    (context) => Context.get(context, ComputeDriver)
  )

const starting = (branch_id: BranchId, generation = 1) => {
  const { id: endpoint_id } = anEndpoint(aProjectId(), branch_id)
  return { endpoint_id, branch_id, generation, roles: [] }
}

const addressOf = (driver: ComputeDriver["Service"], branch: BranchId) =>
  Effect.map(driver.start(starting(branch)), ({ address }) => address)

const refusal = (driver: ComputeDriver["Service"], branch: BranchId) => Effect.flip(driver.start(starting(branch)))

/** A server that accepts connections and answers none. `taken`: how many it has accepted. */
const silentServer = Effect.acquireRelease(
  Effect.promise(async () => {
    const sockets = new Set<Socket>()
    const server = createServer((socket) => {
      sockets.add(socket)
      socket.on("error", () => undefined)
    }).listen(0, "127.0.0.1")
    await once(server, "listening")
    return { server, sockets }
  }),
  ({ server, sockets }) =>
    Effect.sync(() => {
      for (const socket of sockets) socket.destroy()
      server.close()
    })
).pipe(
  Effect.map(({ server, sockets }) => {
    const at = server.address()
    const port = typeof at === "object" && at !== null ? at.port : assert.fail("The server has no port.")
    return { address: `127.0.0.1:${port}`, taken: () => sockets.size }
  })
)

/** Deletes all assignments, so that no server is assigned when a test begins. */
const noAssignments = Effect.flatMap(Database, ({ query }) =>
  Effect.andThen(
    query("test", "delete from narthex.static_compute_running"),
    query("test", "delete from narthex.static_compute")
  )
)

layer(testDatabase, { excludeTestServices: true })("static computes", (it) => {
  const test = (sentence: string, body: () => Effect.Effect<void, unknown, Database | Scope.Scope>) =>
    it.effect(sentence, () =>
      Effect.andThen(noAssignments, Effect.scoped(Effect.suspend(body))).pipe(
        Effect.provideService(References.MinimumLogLevel, "None")
      )
    )

  test("static computes assign each branch its own address, in the order of the list", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const driver = yield* instance(one, two, three)
      assert.deepStrictEqual([yield* addressOf(driver, a), yield* addressOf(driver, b)], [one, two])
      assert.deepStrictEqual([yield* addressOf(driver, a), yield* addressOf(driver, b)], [one, two])
    }))

  test("a branch keeps its static address over a restart, in any order of starts", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const before = yield* instance(one, two)
      assert.deepStrictEqual([yield* addressOf(before, a), yield* addressOf(before, b)], [one, two])
      const after = yield* instance(one, two)
      assert.deepStrictEqual([yield* addressOf(after, b), yield* addressOf(after, a)], [two, one])
    }))

  test("a branch keeps its static address when the list is reordered", () =>
    Effect.gen(function* () {
      const a = aBranchId()
      yield* addressOf(yield* instance(one, two), a)
      assert.strictEqual(yield* addressOf(yield* instance(three, two, one), a), one)
    }))

  test("instances that start at once agree on the static address of each branch", () =>
    Effect.gen(function* () {
      const branches = [aBranchId(), aBranchId(), aBranchId()]
      const drivers = yield* Effect.all([instance(one, two, three), instance(one, two, three)], {
        concurrency: "unbounded"
      })
      const [here, there] = yield* Effect.forEach(
        drivers,
        (driver, at) =>
          Effect.forEach(
            // The instances come upon the branches in opposite orders.
            at === 0 ? branches : branches.toReversed(),
            (branch) => addressOf(driver, branch),
            { concurrency: "unbounded" }
          ),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(here, there?.toReversed())
      assert.sameMembers(here ?? [], [one, two, three])
    }))

  test("the static address of a deleted branch is not assigned again", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const driver = yield* instance(one)
      assert.strictEqual(yield* addressOf(driver, a), one)
      yield* driver.deleteBranch(a)
      for (const it of [driver, yield* instance(one)]) {
        const { message, retryable } = yield* refusal(it, b)
        assert.isFalse(retryable)
        assert.strictEqual(message, "Every static server is assigned to a branch. The operator has to add one.")
      }
    }))

  test("a branch whose static address left the list is refused", () =>
    Effect.gen(function* () {
      const a = aBranchId()
      yield* addressOf(yield* instance(one, two), a)
      const { detail, message, retryable } = yield* refusal(yield* instance(two, three), a)
      assert.isFalse(retryable)
      assert.include(message, "is not in the operator's list any more")
      // The tenant is not shown where servers are.
      assert.notInclude(message, one)
      assert.include(detail ?? "", one)
    }))

  test("the running static computes are those that were started and not stopped, on every instance", () =>
    Effect.gen(function* () {
      const first = yield* instance(one, two)
      const [a, b] = [starting(aBranchId(), 3), starting(aBranchId())]
      yield* first.start({ ...a, generation: 2 })
      yield* first.start(a)
      yield* first.start(b)
      const { roles: _, ...compute } = a
      const second = yield* instance(one)
      assert.deepStrictEqual(yield* second.running, [
        { ...compute, address: one, reach: { tls: null, own_roles: true } }
      ])
      yield* second.stop(a.endpoint_id)
      yield* second.stop(a.endpoint_id)
      const left = (yield* first.running).map(({ endpoint_id }) => endpoint_id)
      assert.deepStrictEqual(left, [b.endpoint_id])
    }))

  test("a static compute ignores no late call: a lower number than that of the last call is refused", () =>
    Effect.gen(function* () {
      const driver = yield* instance(one)
      const a = starting(aBranchId())
      const numbered = <A, E>(fence: number, call: Effect.Effect<A, E>) =>
        Effect.provideService(call, ComputeFence, fence)
      yield* numbered(7, driver.start(a))
      for (const late of [driver.start(a), driver.applyRoles(a.branch_id, []), driver.deleteBranch(a.branch_id)])
        assert.include((yield* Effect.flip(numbered(6, late))).message, "A later call")
      assert.include((yield* Effect.flip(numbered(6, driver.stop(a.endpoint_id)))).message, "A later call")
      assert.lengthOf(yield* driver.running, 1)
      yield* numbered(7, driver.stop(a.endpoint_id))
      assert.lengthOf(yield* driver.running, 0)
    }))

  test("twenty branches on servers that accept and never answer leave the store its connections", () =>
    Effect.gen(function* () {
      const { address, taken } = yield* silentServer
      const { query } = yield* Database
      const servers = Array.from({ length: 20 }, (_, at) => ({
        address: `silent-${at}:5432`,
        admin_url: Redacted.make(`postgres://admin:secret@${address}/postgres`),
        tls: null
      }))
      const layer = layerStaticComputes(servers, Duration.seconds(2))
      const driver = Context.get(yield* Layer.build(layer), ComputeDriver)
      const starts = yield* Effect.forkChild(
        Effect.forEach(servers, () => Effect.flip(driver.start(starting(aBranchId()))), { concurrency: "unbounded" })
      )
      yield* eventually(
        "all starts to wait for their server",
        Effect.sync(() => taken() >= servers.length)
      )
      assert.deepStrictEqual(yield* query("test", "select count(*)::int as n from narthex.static_compute"), [{ n: 20 }])
      assert.deepStrictEqual(
        yield* query(
          "test",
          `select pid from pg_stat_activity
           where datname = current_database() and state = 'idle in transaction' and pid <> pg_backend_pid()`
        ),
        []
      )
      const failures = yield* Fiber.join(starts)
      assert.deepStrictEqual([...new Set(failures.map(({ retryable }) => retryable))], [true])
      assert.lengthOf(yield* driver.running, 0)
    }))

  test("static computes refuse copies and resets, and roles where there is no admin URL", () =>
    Effect.gen(function* () {
      const [a, b] = [aBranchId(), aBranchId()]
      const driver = yield* instance(one)
      yield* driver.createBranch(a, Option.none())
      const role = { role: "app", verifier, access: "read_only", expires_at: Option.none() } as const
      const refused = [
        driver.createBranch(b, Option.some(a)),
        driver.resetBranch(b, a),
        driver.start({ ...starting(a), roles: [role] })
      ]
      for (const call of refused) assert.isFalse((yield* Effect.flip(call)).retryable)
    }))
})
