/**
 * `project delete --wait`. The operations of a deleted project cannot be read any more, so their end is taken from the
 * organization's event stream, which is opened before the deletion.
 *
 * Pitfall: opening the stream after the deletion. A short operation ends before it is open.
 */
import { isFinal, OperationStatus, type StreamItem, type StreamRefused } from "@narthex/api"
import { Deferred, Duration, Effect, Fiber, Queue, Schema, Stream } from "effect"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { Output } from "../output/Output.ts"
import { sentence } from "../output/table.ts"
import { inWords, type Operation, type Waiting } from "./follow.ts"

interface Deleted {
  readonly body: unknown
  readonly value: { readonly operations: ReadonlyArray<Operation> }
}

const answerDeletion = ({ body }: Deleted) =>
  Effect.flatMap(Output, (output) =>
    output.answer({ body, table: sentence("The project is deleted. Its data is removed in the background.") })
  )

/** Deletes, prints the answer, and waits with `--wait`. A key that may not follow the organization deletes nothing. */
export const followDeletion = Effect.fn("followDeletion")(function* <E, R>(
  { client }: AuthenticatedApi,
  deletion: Effect.Effect<Deleted, E, R>,
  { timeout, wait }: Waiting
) {
  const output = yield* Output
  if (!wait) return yield* Effect.flatMap(deletion, answerDeletion)
  const open = yield* Deferred.make<void, StreamRefused>()
  const ends = yield* Queue.unbounded<End>()
  const stream = client.subscribe({ path: "/v1/events", types: ["operation.updated.v1"] })
  const followed = yield* Effect.forkScoped(
    Stream.runForEach(stream, (item) => {
      if (item._tag === "Connected") return Deferred.succeed(open, undefined)
      const end = endIn(item)
      return end === undefined ? Effect.void : Queue.offer(ends, end)
    }).pipe(Effect.tapError((refused) => Deferred.fail(open, refused)))
  )
  const bound = Duration.seconds(timeout)
  yield* Effect.timeoutOrElse(Deferred.await(open), { duration: bound, orElse: () => Effect.fail(notFollowed) })
  const deleted = yield* deletion
  yield* answerDeletion(deleted)
  const waited = Effect.timeoutOrElse(Effect.raceFirst(collect(ends, deleted.value.operations), Fiber.join(followed)), {
    duration: bound,
    orElse: () => Effect.fail(unfinished)
  })
  yield* output
    .waiting("Removing the data", waited)
    .pipe(Effect.onInterrupt(() => output.note("The removal continues on the server.")))
  yield* output.note("Its data is removed.")
}, Effect.scoped)

interface End {
  readonly id: string
  readonly status: OperationStatus
}

const isKnown = Schema.is(OperationStatus)

const endIn = (item: StreamItem): End | undefined => {
  if (item._tag !== "Event") return undefined
  const { operation_id, status } = item.envelope.data
  return typeof operation_id === "string" && isKnown(status) && isFinal(status)
    ? { id: operation_id, status }
    : undefined
}

/** Takes ends until each operation has one. Fails with the first that did not succeed. */
const collect = Effect.fnUntraced(function* (ends: Queue.Dequeue<End>, operations: ReadonlyArray<Operation>) {
  const awaited = new Map(operations.map((operation) => [operation.id as string, operation]))
  while (awaited.size > 0) {
    const { id, status } = yield* Queue.take(ends)
    const operation = awaited.get(id)
    awaited.delete(id)
    if (operation !== undefined && status !== "finished" && status !== "skipped")
      return yield* new Stopped({
        message: `The project is deleted, but ${inWords(operation.action)} ended as ${status}.`
      })
  }
})

const notFollowed = new Stopped({
  message: "The event stream did not open in time, and nothing was deleted.",
  hint: "leave out --wait"
})

const unfinished = new Stopped({ message: "The project is deleted; its data is still being removed on the server." })
