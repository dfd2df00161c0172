/** Endpoints and operations. */
import { assert, layer } from "@effect/vitest"
import {
  BranchId,
  bySystem,
  mostUnfinished,
  OperationStore,
  Operations,
  StoredOperation,
  Transaction
} from "@narthex/core"
import { DateTime, Effect, Option } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { branch, founder, key, project, refused, settled } from "../support/story.ts"

layer(memoryApi(), { excludeTestServices: true })("endpoints", (it) => {
  it.effect("POST endpoints, 201: read-only by default; 409: a second read-write endpoint of a branch", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { main, path } = yield* project(who)
      const made = yield* settled(who, yield* who.call("POST", `${path}/endpoints`, { body: { branch_id: main } }))
      const { endpoint } = made.body
      assert.deepStrictEqual([made.status, endpoint.type, endpoint.suspend_timeout_seconds], [201, "read_only", 300])
      assert.strictEqual(made.headers["location"], `${path}/endpoints/${endpoint.id}`)
      assert.include(endpoint.host, endpoint.id)
      assert.notProperty(endpoint, "address")
      const second = { branch_id: main, type: "read_write" }
      refused(yield* who.call("POST", `${path}/endpoints`, { body: second }), 409, "conflict")
      for (const body of [{}, { branch_id: main, type: "x" }, { branch_id: main, suspend_timeout_seconds: 0 }])
        refused(yield* who.call("POST", `${path}/endpoints`, { body }), 422, "invalid_request")
      for (const suspend_timeout_seconds of [-1, 1, 604_800]) {
        const body = { branch_id: main, suspend_timeout_seconds }
        assert.strictEqual((yield* who.call("POST", `${path}/endpoints`, { body })).status, 201)
      }
    })
  )

  it.effect("start and suspend return an operation, or none if already so; a disabled endpoint is 409", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { endpoint, path } = yield* project(who)
      const at = `${path}/endpoints/${endpoint}`
      const started = yield* settled(who, yield* who.call("POST", `${at}/start`))
      assert.strictEqual(started.body.operations[0].action, "start_compute")
      assert.deepStrictEqual((yield* who.call("POST", `${at}/start`)).body.operations, [])
      assert.strictEqual((yield* who.call("GET", at)).body.endpoint.current_state, "active")
      yield* settled(who, yield* who.call("POST", `${at}/suspend`))
      assert.deepStrictEqual((yield* who.call("POST", `${at}/suspend`)).body.operations, [])
      assert.strictEqual((yield* who.call("GET", at)).body.endpoint.current_state, "idle")
      const off = yield* who.call("PATCH", at, { body: { disabled: true, suspend_timeout_seconds: -1 } })
      assert.deepStrictEqual([off.body.endpoint.disabled, off.body.endpoint.suspend_timeout_seconds], [true, -1])
      refused(yield* who.call("POST", `${at}/start`), 409, "conflict")
    })
  )

  it.effect(
    "POST endpoints and start, 423, where as many operations wait on the branch as may; a suspend is taken",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { endpoint, main, path } = yield* project(who)
        const made = yield* settled(who, yield* who.call("POST", `${path}/endpoints`, { body: { branch_id: main } }))
        const store = yield* OperationStore
        const { org_id, project_id, region_id } = Option.getOrThrow(yield* store.find(made.body.operations[0].id))
        const { schedule } = yield* Operations
        const { run } = yield* Transaction
        const work = {
          project: { id: project_id, org_id, region_id },
          branch_id: BranchId.make(main),
          endpoint_id: null,
          action: "create_branch" as const,
          initiator: bySystem
        }
        const first = Effect.flatMap(schedule(work), (operation) =>
          store.update(new StoredOperation({ ...operation, retry_at: DateTime.makeUnsafe("2100-01-01") }))
        )
        yield* run(Effect.andThen(first, Effect.replicateEffect(schedule(work), mostUnfinished - 1, { discard: true })))
        const at = `${path}/endpoints/${endpoint}`
        for (const call of [
          who.call("POST", `${at}/start`),
          who.call("POST", `${path}/endpoints`, { body: { branch_id: main } })
        ]) {
          const answer = yield* call
          refused(answer, 423, "resource_busy")
          assert.include(answer.body.detail, "100 operations wait on this branch")
          assert.isString(answer.body.blocking_operation_id)
          assert.isDefined(answer.headers["retry-after"])
        }
        assert.strictEqual((yield* who.call("POST", `${at}/suspend`)).status, 200)
      })
  )

  it.effect("DELETE endpoint, 202, and 404 from that moment", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { endpoint, path } = yield* project(who)
      const gone = yield* who.call("DELETE", `${path}/endpoints/${endpoint}`)
      assert.deepStrictEqual([gone.status, gone.body.operations[0].action], [202, "delete_compute"])
      refused(yield* who.call("GET", `${path}/endpoints/${endpoint}`), 404, "not_found")
      refused(yield* who.call("POST", `${path}/endpoints/${endpoint}/start`), 404, "not_found")
    })
  )
})

layer(memoryApi(), { excludeTestServices: true })("operations", (it) => {
  it.effect("operations name their initiator; a wait answers the state that was reached", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const mine = yield* key(who, { name: "robot" })
      const made = yield* settled(mine, yield* mine.call("POST", `${place.path}/branches`))
      const at = `${place.path}/operations/${made.body.operations[0].id}`
      const { body } = yield* who.call("GET", `${at}?wait=1s`)
      assert.deepStrictEqual(body.operation.initiator, { type: "api_key", id: mine.id, name: "robot" })
      assert.deepStrictEqual([body.operation.action, body.operation.status], ["create_branch", "finished"])
      for (const wait of ["0s", "61s", "1", "1m", "", "x"])
        refused(yield* who.call("GET", `${at}?wait=${wait}`), 422, "invalid_request")
    })
  )

  it.effect("a branch key lists endpoints and operations of its branch only", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const { branch: child } = yield* branch(who, place, { endpoint: true })
      const narrow = yield* key(who, { scope: `branch:${child.id}` })
      for (const list of ["operations", "endpoints"]) {
        const { body } = yield* narrow.call("GET", `${place.path}/${list}`)
        assert.isNotEmpty(body[list])
        for (const item of body[list]) assert.strictEqual(item.branch_id, child.id)
      }
      const { body } = yield* narrow.call("GET", `${place.path}/branches`)
      assert.deepStrictEqual(
        body.branches.map((it: { id: string }) => it.id),
        [child.id]
      )
    })
  )

  it.effect("GET operations has only those that fit its filters, page by page", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const { endpoint, path } = place
      yield* settled(who, yield* who.call("POST", `${path}/endpoints/${endpoint}/start`))
      yield* settled(who, yield* who.call("POST", `${path}/endpoints/${endpoint}/suspend`))
      yield* settled(who, yield* who.call("POST", `${path}/endpoints/${endpoint}/start`))
      const { branch: child } = yield* branch(who, place)
      const listed = (query: string) => who.call("GET", `${path}/operations?${query}`)
      const actions = (query: string) =>
        Effect.map(listed(query), ({ body }) => body.operations.map((it: { action: string }) => it.action))
      const starts = ["start_compute", "start_compute"]
      assert.deepStrictEqual(yield* actions("action=start_compute"), starts)
      assert.deepStrictEqual(yield* actions(`branch_id=${child.id}`), ["create_branch"])
      assert.deepStrictEqual(yield* actions(`endpoint_id=${endpoint}&status=finished&action=start_compute`), starts)
      assert.deepStrictEqual(yield* actions(`branch_id=${child.id}&action=start_compute`), [])
      assert.deepStrictEqual(yield* actions("status=failed"), [])
      const first = yield* listed("action=start_compute&limit=1")
      const cursor = first.body.pagination.next_cursor
      const second = yield* listed(`action=start_compute&limit=1&cursor=${cursor}`)
      assert.deepStrictEqual(
        [...first.body.operations, ...second.body.operations],
        (yield* listed("action=start_compute")).body.operations
      )
      assert.isNull(second.body.pagination.next_cursor, "the other operations do not fit")
      for (const query of ["status=over", "action=start", "status=", "branch_id=", "status=failed&status=error"])
        refused(yield* listed(query), 422, "invalid_request")
    })
  )

  it.effect("GET operations of a foreign, unknown or impossible branch or endpoint, 200: the same empty list", () =>
    Effect.gen(function* () {
      const [who, other] = [yield* founder(), yield* founder()]
      const [mine, theirs] = [yield* project(who), yield* project(other)]
      const empty = { operations: [], pagination: { next_cursor: null } }
      for (const id of [theirs.main, `br-${"0".repeat(26)}`, "x", "%00", "%ED%A0%80"])
        assert.deepStrictEqual((yield* who.call("GET", `${mine.path}/operations?branch_id=${id}`)).body, empty, id)
      for (const id of [theirs.endpoint, `ep-${"0".repeat(26)}`, "x", "%00"])
        assert.deepStrictEqual((yield* who.call("GET", `${mine.path}/operations?endpoint_id=${id}`)).body, empty, id)
    })
  )

  it.effect("a branch key that filters by another branch of its project gets an empty list", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const { branch: child } = yield* branch(who, place, { endpoint: true })
      const narrow = yield* key(who, { scope: `branch:${child.id}` })
      const listed = (query: string) => narrow.call("GET", `${place.path}/operations?${query}`)
      assert.isNotEmpty((yield* who.call("GET", `${place.path}/operations?branch_id=${place.main}`)).body.operations)
      assert.deepStrictEqual((yield* listed(`branch_id=${place.main}`)).body.operations, [])
      assert.deepStrictEqual((yield* listed(`endpoint_id=${place.endpoint}`)).body.operations, [])
      const own = yield* listed(`branch_id=${child.id}`)
      assert.isNotEmpty(own.body.operations)
      assert.deepStrictEqual((yield* listed("status=finished")).body.operations, own.body.operations)
    })
  )

  it.effect("POST operations/{id}/cancel, 409: an operation that has ended, and a deletion", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { endpoint, path } = yield* project(who)
      const started = yield* settled(who, yield* who.call("POST", `${path}/endpoints/${endpoint}/start`))
      const cancel = (id: string) => who.call("POST", `${path}/operations/${id}/cancel`)
      refused(yield* cancel(started.body.operations[0].id), 409, "conflict")
      const removed = yield* who.call("DELETE", `${path}/endpoints/${endpoint}`)
      refused(yield* cancel(removed.body.operations[0].id), 409, "conflict")
      refused(yield* cancel("unknown"), 404, "not_found")
    })
  )
})
