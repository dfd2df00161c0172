/**
 * The data of `operation.updated.v1` is frozen (docs/design/api.md A7). Its schema is inferred from events of every kind
 * of operation; an added, missing or retyped member fails here. Such a change needs a new event type.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, type Schema } from "effect"
import { ApiKeyId, BranchId, EndpointId, OrgId, ProjectId, RegionId, UserId } from "../../src/Ids.ts"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { EventLog } from "../../src/records/events/EventLog.ts"
import { eventCatalog } from "../../src/records/events/eventCatalog.ts"
import { Initiator, OperationAction, type OperationStatus } from "../../src/records/operations/Operation.ts"
import { byProxy, bySystem, Operations } from "../../src/services/operations/Operations.ts"
import { Transaction } from "../../src/Transaction.ts"

type Json = Schema.Json
type Members = { readonly [name: string]: Json }

const isMembers = (value: Json): value is Members =>
  typeof value === "object" && value !== null && !Array.isArray(value)

const typeOf = (value: Json): string => (value === null ? "null" : Array.isArray(value) ? "array" : typeof value)

/** The closed JSON schema that these values have in common. */
const schemaOf = (values: ReadonlyArray<Json>): Members => {
  const types = [...new Set(values.map(typeOf))].toSorted()
  if (types.join() !== "object") return { type: types.length === 1 ? (types[0] ?? "") : types }
  const objects = values.filter(isMembers)
  const names = [...new Set(objects.flatMap((it) => Object.keys(it)))].toSorted()
  return {
    type: "object",
    properties: Object.fromEntries(
      names.map((name) => [name, schemaOf(objects.flatMap((it) => (name in it ? [it[name] ?? null] : [])))])
    ),
    required: names.filter((name) => objects.every((it) => name in it)),
    additionalProperties: false
  }
}

const string = { type: "string" }

/** `operation_id`, `action`, `status`; `branch_id`, `endpoint_id`, `error` where there is one; `initiator`, which each operation has. */
const frozen = {
  type: "object",
  properties: {
    action: string,
    branch_id: string,
    endpoint_id: string,
    error: string,
    initiator: {
      type: "object",
      properties: { id: string, name: string, type: string },
      required: ["type"],
      additionalProperties: false
    },
    operation_id: string,
    status: string
  },
  required: ["action", "initiator", "operation_id", "status"],
  additionalProperties: false
}

const project = {
  id: ProjectId.make("prj-1"),
  org_id: OrgId.make("0192f0c1-2d3e-7abc-8def-0123456789ab"),
  region_id: RegionId.make("eu-1")
}

const initiators = [
  bySystem,
  byProxy,
  new Initiator({ type: "user", id: UserId.make("u-1"), name: "ada@example.com" }),
  new Initiator({ type: "api_key", id: ApiKeyId.make("key-1"), name: "ci" })
]

const ways: ReadonlyArray<ReadonlyArray<OperationStatus>> = [
  ["running", "finished"],
  ["running", "failed"],
  ["running", "error"],
  ["running", "cancelling", "cancelled"],
  ["skipped"]
]

const everyKind = Effect.gen(function* () {
  const { move, schedule } = yield* Operations
  const { run } = yield* Transaction
  for (const action of OperationAction.literals)
    for (const initiator of initiators)
      for (const branch_id of [null, BranchId.make("br-1")])
        for (const endpoint_id of [null, EndpointId.make("ep-1")])
          for (const way of ways) {
            let operation = yield* run(schedule({ project, branch_id, endpoint_id, action, initiator }))
            for (const status of way) {
              const error = status === "failed" || status === "error" ? "It broke." : operation.error
              operation = yield* run(move(operation, status, { error, failures_count: 1 }))
            }
          }
})

describe("operation.updated.v1", () => {
  it.effect("operation.updated.v1 has exactly the members of the contract", () =>
    Effect.gen(function* () {
      yield* everyKind
      const events = yield* Effect.flatMap(EventLog, ({ tail }) => tail(0, 10_000))
      assert.deepStrictEqual(
        [...new Set(events.map(({ source, type }) => `${source} ${type}`))],
        ["operations operation.updated.v1"]
      )
      assert.deepStrictEqual(
        new Set(events.map(({ data }) => data["status"])),
        new Set<Json>(["scheduling", ...ways.flat()])
      )
      assert.deepStrictEqual(schemaOf(events.map(({ data }) => data)), frozen)
    }).pipe(Effect.provide(Operations.layer.pipe(Layer.provideMerge(layerMemoryPorts))))
  )

  it("the catalog of events has these members of operation.updated.v1", () => {
    const members = Object.keys(frozen.properties).map((name) => (frozen.required.includes(name) ? name : `${name}?`))
    assert.sameMembers(Object.keys(eventCatalog["operation.updated.v1"].data), members)
  })
})
