/**
 * The sizes of endpoints: which one an endpoint gets, and that a compute has it.
 * Holds docs/design/api.md A37, A38, A39 and A40.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Option, Random, Result, Schema } from "effect"
import { endpointChangeOf } from "../../src/records/events/EndpointChange.ts"
import { chooseSize, isSameSize, type OfferedSize, SizeCatalog } from "../../src/records/projects/EndpointSize.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { defaultQuotas, QuotaPolicy } from "../../src/records/quotas/Quota.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { OperationCancels } from "../../src/runner/OperationCancels.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { initiatorOf, Operations } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Quotas } from "../../src/services/quotas/Quotas.ts"
import { Transaction } from "../../src/Transaction.ts"
import { largeSize, smallSize, testSizes } from "../../testing/sizes.ts"
import { Core, logged, Machines, onEndpoint, settle, signedIn, tagOf } from "../memory/core.ts"

const withSizes = Effect.provideService(SizeCatalog, testSizes)
const gibibyte = 1024 ** 3

/** A project whose endpoint is suspended. */
const made = Effect.gen(function* () {
  const endpoints = yield* Endpoints
  const machines = yield* Machines
  const ada = yield* signedIn("ada")
  const { branch, endpoint, project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
  yield* settle
  const now = Effect.flatMap(EndpointStore, ({ findAnywhere }) =>
    Effect.map(findAnywhere(endpoint.id), Option.getOrThrow)
  )
  return {
    ada,
    branch,
    endpoint,
    project,
    machines,
    now,
    bring: (state: "active" | "idle") => endpoints.bring(ada, onEndpoint, project, endpoint, state),
    resize: (size: string) => endpoints.change(ada, onEndpoint, project, endpoint, { size }),
    /** The sizes that the driver was given, in order. */
    started: Effect.sync(() => machines.starts.map(({ size }) => size?.name ?? null))
  }
})

const running = Effect.tap(made, ({ bring }) => Effect.andThen(bring("active"), settle))

const heldMemory = Effect.fnUntraced(function* ({ org_id }: AnyCaller) {
  const usage = yield* (yield* Quotas).usage({ id: org_id, personal: true })
  return (usage.find(({ quota }) => quota === "memory_bytes")?.held ?? 0) / gibibyte
})

const Offered = Schema.Struct({
  name: Schema.Literals(["small", "large", "huge"]),
  cpus: Schema.Literals([1, 2]),
  memory_bytes: Schema.Literals([1, 2]),
  disk_bytes: Schema.Literals([1, 2]),
  default: Schema.Boolean
})

describe("The choice of a size", () => {
  it.prop(
    "a name that the catalog has is chosen with its numbers, any other is refused, and no name is the default",
    [Schema.Array(Offered), Schema.NullOr(Schema.Literals(["small", "large", "huge"]))],
    ([catalog, name]) => {
      const chosen = chooseSize(catalog, name)
      const wanted = catalog.find((size) => (name === null ? size.default : size.name === name))
      assert.strictEqual(Result.isFailure(chosen), name !== null && wanted === undefined)
      if (Result.isSuccess(chosen)) assert.isTrue(isSameSize(chosen.success, wanted ?? null))
    }
  )

  it.prop("sizes are the same if their numbers are, whatever their names", [Offered, Offered], ([a, b]) => {
    const numbers = ({ cpus, disk_bytes, memory_bytes }: OfferedSize) => `${cpus} ${disk_bytes} ${memory_bytes}`
    assert.strictEqual(isSameSize(a, b), numbers(a) === numbers(b))
    assert.isFalse(isSameSize(a, null))
  })
})

describe("A new endpoint", () => {
  it.effect("an endpoint gets the default, or the size that its creation names", () =>
    Effect.gen(function* () {
      const { ada, branch, endpoint, project } = yield* made
      assert.strictEqual(endpoint.size?.name, "small")
      const wanted = { branch_id: branch.id, type: "read_only", suspend_timeout_seconds: null } as const
      const endpoints = yield* Endpoints
      assert.strictEqual((yield* endpoints.create(ada, project, wanted)).endpoint.size?.name, "small")
      const large = yield* endpoints.create(ada, project, { ...wanted, size: "large" })
      assert.deepStrictEqual({ ...large.endpoint.size, default: false }, largeSize)
      assert.strictEqual(yield* tagOf(endpoints.create(ada, project, { ...wanted, size: "huge" })), "InvalidMember")
      const projects = yield* Projects
      const sized = yield* projects.create(ada, { name: "shop", size: "large" })
      assert.strictEqual(sized.endpoint.size?.name, "large")
      assert.strictEqual(yield* tagOf(projects.create(ada, { name: "shop", size: "huge" })), "InvalidMember")
      const child = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
      assert.strictEqual((yield* (yield* Branches).create(ada, project, child)).endpoint?.size?.name, "small")
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("an endpoint that was made without sizes gets the default at its next start", () =>
    Effect.gen(function* () {
      const { bring, endpoint, now, started } = yield* made
      assert.isNull(endpoint.size)
      yield* bring("active")
      yield* settle
      yield* bring("idle")
      yield* settle
      yield* withSizes(bring("active"))
      yield* settle
      assert.deepStrictEqual(yield* started, [null, "small"])
      assert.strictEqual((yield* now).size?.name, "small")
    }).pipe(Effect.provide(Core))
  )
})

describe("Another size", () => {
  it.effect("a suspended endpoint stores it for its next start, and nothing is started", () =>
    Effect.gen(function* () {
      const { bring, resize, started } = yield* made
      const { endpoint, operations } = yield* resize("large")
      assert.deepStrictEqual([endpoint.size?.name, operations], ["large", []])
      yield* bring("active")
      yield* settle
      assert.deepStrictEqual(yield* started, ["large"])
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("a running compute is started again, and proxies end its sessions before", () =>
    Effect.gen(function* () {
      const { endpoint, machines, now, resize, started } = yield* running
      const before = (yield* logged).length
      const { operations } = yield* resize("large")
      assert.deepStrictEqual(
        operations.map(({ action }) => action),
        ["start_compute"]
      )
      let ended = false
      Object.assign(machines, {
        before: () =>
          Effect.map(logged, (events) => {
            const changes = events.slice(before).flatMap((event) => Option.toArray(endpointChangeOf(event)))
            ended = changes.some(({ endpoint_id }) => endpoint_id === endpoint.id)
          })
      })
      yield* settle
      assert.isTrue(ended, "the notice to proxies was committed before the driver was called")
      assert.deepStrictEqual(yield* started, ["small", "large"])
      assert.deepInclude({ ...(yield* now) }, { current_state: "active", pending_state: null, generation: 2 })
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("the same numbers restart nothing", () =>
    Effect.gen(function* () {
      const { now, resize, started } = yield* running
      assert.deepStrictEqual((yield* resize("small")).operations, [])
      const renamed = [{ ...smallSize, name: "tiny" }]
      yield* Effect.provideService(resize("tiny"), SizeCatalog, renamed)
      yield* settle
      assert.strictEqual((yield* now).size?.name, "tiny")
      assert.deepStrictEqual(yield* started, ["small"])
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("two changes at once are one restart, with the size of the last", () =>
    Effect.gen(function* () {
      const { now, resize, started } = yield* running
      yield* Effect.all([resize("large"), resize("small"), resize("large")], { concurrency: "unbounded" })
      yield* settle
      const { size } = yield* now
      assert.deepStrictEqual(yield* started, ["small", size?.name ?? null])
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("a change while the compute is starting is followed by another start", () =>
    Effect.gen(function* () {
      const { bring, machines, now, resize, started } = yield* made
      yield* bring("active")
      const once = Effect.suspend(() => {
        Object.assign(machines, { before: () => Effect.void })
        return Effect.orDie(resize("large"))
      })
      Object.assign(machines, { before: () => once })
      yield* settle
      assert.deepStrictEqual(yield* started, ["small", "large"])
      assert.deepInclude({ ...(yield* now) }, { current_state: "active", generation: 2, resized: false })
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("a change while the compute is suspending starts nothing", () =>
    Effect.gen(function* () {
      const { bring, now, resize, started } = yield* running
      yield* bring("idle")
      assert.deepStrictEqual((yield* resize("large")).operations, [])
      yield* settle
      assert.strictEqual((yield* now).current_state, "idle")
      assert.deepStrictEqual(yield* started, ["small"])
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("a size that the catalog lost is kept with its numbers, and given to no other endpoint", () =>
    Effect.gen(function* () {
      const { bring, now, resize, started } = yield* running
      const other = Effect.provideService(SizeCatalog, [{ ...largeSize, default: true }])
      yield* other(Effect.andThen(bring("idle"), settle))
      yield* other(Effect.andThen(bring("active"), settle))
      assert.deepStrictEqual(yield* started, ["small", "small"])
      assert.strictEqual((yield* now).size?.memory_bytes, gibibyte)
      assert.strictEqual(yield* tagOf(other(resize("small"))), "InvalidMember")
    }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect(
    "a compute that runs has the size of its endpoint, in whatever order people change, start and suspend it",
    () =>
      Effect.gen(function* () {
        const { runOne } = yield* OperationRunner
        const { bring, machines, now, resize } = yield* made
        for (let round = 0; round < 40; round++) {
          for (let step = 0; step < 6; step++) {
            const choice = yield* Random.nextIntBetween(0, 5)
            if (choice === 0) yield* bring("active")
            else if (choice === 1) yield* bring("idle")
            else if (choice === 2) yield* runOne
            else yield* resize(choice === 3 ? "small" : "large")
          }
          yield* settle
          const { current_state, resized, size } = yield* now
          if (current_state !== "active") continue
          assert.deepStrictEqual([machines.starts.at(-1)?.size, resized], [size, false])
        }
      }).pipe(withSizes, Effect.provide(Core))
  )
})

describe("The memory of running computes", () => {
  const within = (memory_bytes: number) =>
    Effect.provideService(QuotaPolicy, { ...defaultQuotas, personal_percent: 100, memory_bytes })

  it.effect("a start and a larger size take memory of the quota, and are refused beyond it", () =>
    Effect.gen(function* () {
      const { ada, bring, now, resize } = yield* made
      assert.strictEqual(yield* heldMemory(ada), 0)
      yield* bring("active")
      assert.strictEqual(yield* heldMemory(ada), 1)
      yield* settle
      assert.strictEqual(yield* tagOf(resize("large")), "QuotaExceeded")
      assert.strictEqual((yield* now).size?.name, "small")
      yield* within(4 * gibibyte)(resize("large"))
      yield* within(4 * gibibyte)(settle)
      assert.strictEqual(yield* heldMemory(ada), 4)
      yield* bring("idle")
      yield* settle
      assert.strictEqual(yield* heldMemory(ada), 0)
      assert.strictEqual(yield* tagOf(bring("active")), "QuotaExceeded")
      yield* resize("small")
      assert.strictEqual((yield* bring("active")).operations.length, 1)
    }).pipe(within(3 * gibibyte), withSizes, Effect.provide(Core))
  )

  it.effect(
    "the operation that ends a compute with a former size cannot be cancelled, so its memory stays counted",
    () =>
      Effect.gen(function* () {
        const { cancel } = yield* OperationCancels
        const { ada, bring, branch, project, resize, started } = yield* made
        yield* resize("large")
        yield* bring("active")
        yield* settle
        const [restart = assert.fail("no restart")] = (yield* resize("small")).operations
        assert.strictEqual(yield* tagOf(cancel(restart)), "Conflict")
        const [suspend = assert.fail("no suspend")] = (yield* bring("idle")).operations
        assert.strictEqual(yield* tagOf(cancel(suspend)), "Conflict")
        assert.lengthOf((yield* bring("active")).operations, 1)
        yield* settle
        assert.deepStrictEqual(yield* started, ["large", "small"])
        const { schedule } = yield* Operations
        const reset = { project, branch_id: branch.id, endpoint_id: null, action: "reset_branch" } as const
        const resetting = yield* (yield* Transaction).run(schedule({ ...reset, initiator: initiatorOf(ada) }))
        assert.deepStrictEqual((yield* resize("large")).operations, [])
        assert.strictEqual(yield* tagOf(cancel(resetting)), "Conflict")
      }).pipe(withSizes, Effect.provide(Core))
  )

  it.effect("a suspended endpoint may get any size: its start takes the memory", () =>
    Effect.gen(function* () {
      const { bring, resize } = yield* made
      yield* resize("large")
      assert.strictEqual(yield* tagOf(bring("active")), "QuotaExceeded")
    }).pipe(within(3 * gibibyte), withSizes, Effect.provide(Core))
  )
})
