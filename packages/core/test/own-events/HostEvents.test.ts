/** Events that the host publishes: their names, their data, their place in the log. Holds docs/design/events.md E48. */
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Layer, Schema } from "effect"
import { TestClock } from "effect/testing"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { EventHistory } from "../../src/records/events/EventHistory.ts"
import { defaultEventSettings, EventSettings } from "../../src/records/events/EventSettings.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { layerEventTypes, problemOfType, type StandardSchema } from "../../src/services/own-events/EventTypes.ts"
import { EventRefused, HostEvents } from "../../src/services/own-events/HostEvents.ts"
import { Transaction } from "../../src/Transaction.ts"
import { anOrganization, aProject, firstPage } from "../../testing/records.ts"

const even: StandardSchema = {
  "~standard": {
    version: 1,
    validate: async (value) =>
      Number((value as { readonly n?: unknown }).n) % 2 === 0
        ? { value: { n: (value as { readonly n: number }).n } }
        : { issues: [{ message: "must be even", path: ["n"] }] }
  }
}

const never: StandardSchema = { "~standard": { version: 1, validate: () => new Promise(() => {}) } }

/** A schema of Standard Schema whose answer is `answer()`. */
const answering = (answer: () => unknown): StandardSchema => ({
  // The cast admits the answer of a schema with a mistake.
  "~standard": { version: 1, validate: answer as StandardSchema["~standard"]["validate"] }
})

const broken = () => {
  throw new Error("s3cret")
}

const types = layerEventTypes({
  "schema.throws.v1": answering(broken),
  "schema.rejects.v1": answering(async () => broken()),
  "schema.answers.nothing.v1": answering(() => undefined),
  "schema.answers.no_list.v1": answering(() => ({ issues: 5 })),
  "schema.transforms.v1": Schema.Struct({ n: Schema.Finite.pipe(Schema.check(Schema.makeFilter(broken))) }),
  "invoice.paid.v1": Schema.Struct({ amount: Schema.Int, at: Schema.DateTimeUtcFromString }),
  "number.seen.v1": even,
  "number.awaited.v1": never,
  "anything.v1.happened.v2": Schema.Unknown
})

const layer = Layer.mergeAll(HostEvents.layer, EventHistory.layer).pipe(
  Layer.provideMerge(layerMemoryPorts),
  Layer.provideMerge(types)
)

/** An organization with a project. */
const places = Effect.gen(function* () {
  const org = anOrganization()
  const project = aProject({ org_id: org.id })
  yield* (yield* AccountStore).putOrganization(org)
  yield* (yield* ProjectStore).insert(project)
  return { org_id: org.id, project_id: project.id }
})

const paid = (amount: Schema.Json) => ({ type: "invoice.paid.v1", data: { amount, at: "2026-11-23T00:00:00.000Z" } })

const history = (
  org: Parameters<EventHistory["Service"]["read"]>[0],
  project: Parameters<EventHistory["Service"]["read"]>[1] = null
) => Effect.flatMap(EventHistory, ({ read }) => Effect.map(read(org, project, firstPage), ({ events }) => events))

const refusal = (event: Parameters<HostEvents["Service"]["publish"]>[0]) =>
  Effect.map(Effect.flip(Effect.flatMap(HostEvents, ({ publish }) => publish(event))), (error) =>
    error instanceof EventRefused ? error.code : error._tag
  )

it.effect("an event of the host is in the history of its organization, and in that of its project alone", () =>
  Effect.gen(function* () {
    const { publish } = yield* HostEvents
    const { org_id, project_id } = yield* places
    yield* publish({ org_id, ...paid(1) })
    yield* publish({ org_id, project_id, ...paid(2) })
    const [whole, ofProject] = [yield* history(org_id), yield* history(org_id, project_id)]
    const shown: ReadonlyArray<unknown> = whole.map(({ data, project_id = null, source, type }) => ({
      data,
      project_id,
      source,
      type
    }))
    assert.deepStrictEqual(shown, [
      { ...paid(1), project_id: null, source: "host" },
      { ...paid(2), project_id, source: "host" }
    ])
    assert.deepStrictEqual(
      ofProject.map(({ data }) => data),
      [paid(2).data]
    )
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("an event of the host in a transaction that fails is not published", () =>
  Effect.gen(function* () {
    const { publish } = yield* HostEvents
    const { run } = yield* Transaction
    const { org_id } = yield* places
    yield* Effect.exit(run(Effect.andThen(publish({ org_id, ...paid(1) }), Effect.fail("later"))))
    yield* run(Effect.andThen(publish({ org_id, ...paid(2) }), publish({ org_id, ...paid(3) })))
    assert.deepStrictEqual(
      (yield* history(org_id)).map(({ data }) => data["amount"]),
      [2, 3]
    )
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("data is validated by the schema of its type, and members that the schema does not name are left out", () =>
  Effect.gen(function* () {
    const { publish } = yield* HostEvents
    const { org_id } = yield* places
    assert.strictEqual(yield* refusal({ org_id, ...paid("1") }), "event_data_invalid")
    assert.strictEqual(yield* refusal({ org_id, type: "number.seen.v1", data: { n: 3 } }), "event_data_invalid")
    const odd = yield* Effect.flip(publish({ org_id, type: "number.seen.v1", data: { n: 3 } }))
    assert.strictEqual(odd.message, "n: must be even")
    for (const data of [null, [], "text", { at: new Date() }, { at: undefined, f: () => 1 }])
      assert.strictEqual(yield* refusal({ org_id, type: "anything.v1.happened.v2", data }), "event_data_invalid")
    yield* publish({ org_id, type: "number.seen.v1", data: { n: 4, secret: "s" } })
    yield* publish({ org_id, type: "invoice.paid.v1", data: { ...paid(1).data, secret: "s" } })
    assert.deepStrictEqual(
      (yield* history(org_id)).map(({ data }) => data),
      [{ n: 4 }, paid(1).data]
    )
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("data that cannot be read, and a schema that fails, are refused instead of an internal failure", () =>
  Effect.gen(function* () {
    const { publish } = yield* HostEvents
    const { org_id } = yield* places
    const reason = (type: string, data: unknown) =>
      Effect.map(Effect.flip(publish({ org_id, type, data })), (error) =>
        error instanceof EventRefused ? `${error.code}: ${error.message}` : error._tag
      )
    for (const type of [
      ...["schema.throws.v1", "schema.rejects.v1", "schema.answers.nothing.v1", "schema.answers.no_list.v1"],
      "schema.transforms.v1"
    ])
      assert.strictEqual(
        yield* reason(type, { n: 1 }),
        `event_data_invalid: The schema of the event type "${type}" failed instead of answering. The cause says why; correct the schema.`
      )
    const getter = Object.defineProperty({}, "n", { enumerable: true, get: broken })
    for (const data of [getter, { nested: [getter] }, new Proxy({}, { ownKeys: broken })])
      assert.strictEqual(
        yield* reason("anything.v1.happened.v2", data),
        "event_data_invalid: The data of the event cannot be read. The cause says why; publish plain values."
      )
    const thrown = yield* Effect.flip(publish({ org_id, type: "schema.throws.v1", data: {} }))
    assert.strictEqual(String(thrown.cause), "Error: s3cret")
    assert.deepStrictEqual(yield* history(org_id), [])
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("data that names one object often is refused after a bounded number of values", () =>
  Effect.gen(function* () {
    const { org_id } = yield* places
    let doubled: unknown = 1
    for (let level = 0; level < 60; level++) doubled = [doubled, doubled]
    const data = { doubled }
    assert.strictEqual(yield* refusal({ org_id, type: "anything.v1.happened.v2", data }), "event_data_too_large")
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("data that no frame can hold is refused, and the largest that is accepted fits into one", () =>
  Effect.gen(function* () {
    const { publish } = yield* HostEvents
    const { org_id, project_id } = yield* places
    const type = "anything.v1.happened.v2"
    const text = (bytes: number) => ({ text: "x".repeat(bytes - '{"text":""}'.length) })
    const most = defaultEventSettings.event_bytes - 2_048
    yield* publish({ org_id, project_id, type, data: text(most) })
    assert.strictEqual(yield* refusal({ org_id, type, data: text(most + 1) }), "event_data_too_large")
    assert.strictEqual(yield* refusal({ org_id, type, data: { text: "é".repeat(most / 2) } }), "event_data_too_large")
    const settings = { ...defaultEventSettings, event_bytes: 4_096 }
    const small = Effect.provideService(refusal({ org_id, type, data: text(2_049) }), EventSettings, settings)
    assert.strictEqual(yield* small, "event_data_too_large")
    let deep: unknown = 1
    for (let level = 0; level < 20_000; level++) deep = [deep]
    assert.strictEqual(yield* refusal({ org_id, type, data: { deep } }), "event_data_invalid")
    const [envelope] = yield* history(org_id)
    const frame = `id: ${envelope?.id}\nevent: ${type}\ndata: ${JSON.stringify(envelope)}\n\n`
    assert.isBelow(frame.length, defaultEventSettings.event_bytes)
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("an undeclared type, an unknown organization and a project of another one are refused", () =>
  Effect.gen(function* () {
    const [own, other] = [yield* places, yield* places]
    const { org_id } = own
    assert.strictEqual(yield* refusal({ org_id, type: "invoice.lost.v1", data: {} }), "event_type_undeclared")
    assert.strictEqual(yield* refusal({ org_id, type: "operation.updated.v1", data: {} }), "event_type_undeclared")
    assert.strictEqual(yield* refusal({ org_id: "no id", ...paid(1) }), "NotFound")
    assert.strictEqual(yield* refusal({ org_id: anOrganization().id, ...paid(1) }), "NotFound")
    assert.strictEqual(yield* refusal({ org_id, project_id: other.project_id, ...paid(1) }), "NotFound")
    assert.deepStrictEqual(yield* history(org_id), [])
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("a program that declares a type of the control plane, or a malformed one, does not start", () =>
  Effect.gen(function* () {
    for (const type of [
      ...["operation.updated.v1", "operation.mine.v1", "internal.revoked.v1", "overflow.v1", "resume.gap.v1"],
      ...["error.own.v1", "narthex.own.v1", "invoice.v1", "invoice.paid", "Invoice.paid.v1", "invoice.paid.v0"],
      ...["invoice paid.v1", "invoice.paid.v1\n", "invoice..paid.v1", `${"a".repeat(98)}.b.v1`, "__proto__.a.v1"]
    ]) {
      assert.isDefined(problemOfType(type), type)
      const error = yield* Effect.flip(Effect.provide(Effect.void, layerEventTypes({ [type]: Schema.Unknown })))
      assert.strictEqual(error._tag, "MalformedEventType")
    }
    for (const type of ["invoice.paid.v1", "user.created.v12", "a.b_2.c.v1"])
      assert.isUndefined(problemOfType(type), type)
  })
)

it.effect("a schema that never answers is given up after five seconds", () =>
  Effect.gen(function* () {
    const { org_id } = yield* places
    const fiber = yield* Effect.forkChild(refusal({ org_id, type: "number.awaited.v1", data: {} }))
    yield* TestClock.adjust("4999 millis")
    assert.isUndefined(fiber.pollUnsafe())
    yield* TestClock.adjust("1 millis")
    assert.strictEqual(yield* Fiber.join(fiber), "event_data_invalid")
  }).pipe(Effect.provide(layer, { local: true }))
)

it.effect("a type that is declared without a schema keeps the program from starting", () =>
  Effect.gen(function* () {
    for (const schema of [undefined, null, {}, "text", { "~standard": { version: 1 } }]) {
      // The cast admits the declaration of a program without types.
      const declared = { "invoice.paid.v1": schema } as unknown as Record<string, StandardSchema>
      const failure = yield* Effect.flip(Layer.build(layerEventTypes(declared)))
      assert.match(failure.message, /"invoice\.paid\.v1" has no schema\. Declare it with one/)
    }
  })
)
