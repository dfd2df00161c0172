/**
 * The cost of a wake for the store, in the process of a runner: its statements, in order, by transaction. Each is a
 * round trip, and each transaction a commit that waits for the disk.
 */
import { assert, layer } from "@effect/vitest"
import { Endpoints, initiatorOf, OperationRunner, OperationStore, Projects, ProxyRequests } from "@narthex/core"
import { Context, Effect, Layer, Option, Tracer } from "effect"
import { eventually } from "../harness/eventually.ts"
import { signIn, world } from "./support/world.ts"

class Spans extends Context.Service<Spans, Array<Tracer.NativeSpan>>()("test/Spans") {}

const everything = Layer.unwrap(
  Effect.sync(() => {
    const spans: Array<Tracer.NativeSpan> = []
    const tracer = Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    })
    return OperationRunner.layerNudged.pipe(
      Layer.provideMerge(world),
      Layer.provideMerge(Layer.mergeAll(Layer.succeed(Spans, spans), Layer.succeed(Tracer.Tracer, tracer)))
    )
  })
)

const parentOf = (span: Tracer.AnySpan) => (span._tag === "Span" ? Option.getOrUndefined(span.parent) : undefined)

/** The outermost transaction that a span is part of. */
const transactionOf = (span: Tracer.AnySpan): Tracer.AnySpan | undefined => {
  let found: Tracer.AnySpan | undefined
  for (let at = parentOf(span); at !== undefined; at = parentOf(at))
    if (at._tag === "Span" && at.name === "Database.transaction") found = at
  return found
}

/** Statements of loops: they run on their own and are waited for by nothing. */
const isLoop = (operation: string) => operation.startsWith("EventLog.")
/** A runner that looks for due operations, by its first statement. */
const isLook = ([first]: ReadonlyArray<string>) => first === "OperationStore.due"

/** The statements of each transaction, and those outside of any, in alphabetical order. */
const statementsOf = (spans: ReadonlyArray<Tracer.NativeSpan>) => {
  const transactions = new Map<Tracer.AnySpan, Array<string>>()
  const others: Array<string> = []
  for (const span of spans) {
    if (span.name !== "Database.query") continue
    const operation = String(span.attributes.get("operation"))
    const transaction = transactionOf(span)
    if (transaction !== undefined) transactions.set(transaction, [...(transactions.get(transaction) ?? []), operation])
    else if (!isLoop(operation)) others.push(operation)
  }
  return { transactions: [...transactions.values()].filter((it) => !isLook(it)), others: others.toSorted() }
}

layer(everything, { excludeTestServices: true })("the statements of a wake", (it) => {
  it.effect("a wake takes two commits: one that schedules, claims and begins, and one that ends", () =>
    Effect.gen(function* () {
      const spans = yield* Spans
      const requests = yield* ProxyRequests
      const { unfinished } = yield* OperationStore
      const ada = yield* signIn("ada@example.com")
      const { branch, endpoint, project } = yield* (yield* Projects).create(ada, { name: "shop", region: null })
      const isDone = Effect.map(unfinished(branch.id), (left) => left.length === 0)
      yield* eventually("the branch to be ready", isDone)
      yield* requests.wake(endpoint.id, "203.0.113.9")
      yield* (yield* Endpoints).setDesiredState(project, endpoint.id, "idle", initiatorOf(ada))
      yield* eventually("the endpoint to be suspended", isDone)

      const begun = spans.length
      const { address } = yield* requests.resolve(endpoint.id)
      assert.isNull(address)
      assert.strictEqual((yield* requests.wake(endpoint.id, "203.0.113.9")).generation, 2)
      const { others, transactions } = statementsOf(spans.slice(begun))
      assert.deepStrictEqual(transactions, [
        [
          // The endpoint and the rules
          ...["EndpointStore.lockOwned", "IpAllowlistStore.lock", "IpAllowlistStore.all"],
          // The queue of the branch, the quota
          ...["OperationStore.unfinished", "QuotaStore.lock", "QuotaStore.terms", "QuotaStore.held"],
          // The start
          ...["EndpointStore.put", "OperationStore.insert", "OperationStore.due", "OperationStore.claim"],
          ...["EndpointStore.lock", "EndpointStore.put", "OperationStore.update", "EventLog.append"]
        ],
        [
          ...["OperationStore.lock", "EndpointStore.lock", "OperationStore.unfinished", "EndpointStore.put"],
          ...["OperationStore.update", "EventLog.append"]
        ]
      ])
      // The watch of the wait reads the operation at its begin, and at events that come in time.
      assert.deepStrictEqual(
        others.filter((operation) => operation !== "OperationStore.find"),
        [
          ...["BranchRoleStore.present", "EndpointStore.findAnywhere", "EndpointStore.findOwned"],
          ...["EndpointStore.ofBranch", "QuotaStore.disksOf"]
        ]
      )
    })
  )
})
