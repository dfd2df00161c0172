/**
 * Waits until an operation has reached a final status (docs/design/client.md L24–L26).
 *
 * 1. Read the operation; it may be final already.
 * 2. Follow the events of the organization, or those of the project where the credential has no more, and read the
 *    operation again after each of its events, each new connection and each gap.
 * 3. Where streams are refused, for example to a key of a branch, ask with long polls.
 *
 * Pitfall: reading before the stream is open only. The operation may end in between, and its event be missed.
 */
import { isFinal, type OperationId, OperationStatus, type ProjectId } from "@narthex/core"
import { Duration, Effect, Option, Schema, Stream } from "effect"
import type { OperationRecord } from "../schemas/Shapes.ts"
import type { ApiCalls } from "./ApiCalls.ts"
import type { StreamItem, StreamPath, StreamRefused, SubscriptionOptions } from "./Subscription.ts"

type Operation = typeof OperationRecord.Type

/** The operation has no final status yet. It continues on the server. */
export class OperationPending extends Schema.TaggedError<OperationPending>()("OperationPending", {
  operation_id: Schema.String,
  status: Schema.String
}) {
  override get message() {
    return `The operation ${this.operation_id} is still ${this.status}. It continues on the server.`
  }
}

export interface WaitOptions {
  /** Default: 5 minutes. */
  readonly timeout?: Duration.Input
  /** Called with the operation each time it was read, for example to show its progress. */
  readonly onRead?: (operation: Operation) => void
}

interface Calls {
  readonly api: Pick<ApiCalls, "operations">
  readonly subscribe: (options: SubscriptionOptions) => Stream.Stream<StreamItem, StreamRefused>
}

const type = "operation.updated.v1"
const pollFor = Duration.seconds(30)
const isKnown = Schema.is(OperationStatus)

/** A final status is never left, also one that this version does not know. */
const isOver = ({ finished_at }: Operation) => finished_at !== null

/** Reads from an item of a stream that the operation may have changed, or its final status. */
const about = (item: StreamItem, id: string): "nothing" | "changed" | OperationStatus => {
  if (item._tag === "Connected" || item._tag === "Gap" || item._tag === "Overflow") return "changed"
  if (item._tag !== "Event" || item.envelope.data["operation_id"] !== id) return "nothing"
  const { status } = item.envelope.data
  return isKnown(status) && isFinal(status) ? status : "changed"
}

/** An operation as an answer of the API has it. */
export interface AwaitedOperation {
  readonly id: string
  readonly project_id: string
  readonly status?: string
}

export const waitFor = (
  { api, subscribe }: Calls,
  { id, project_id, status }: AwaitedOperation,
  { onRead, timeout = "5 minutes" }: WaitOptions = {}
) => {
  // The ids come from an answer of the API, and the API checks them again.
  const params = { project_id: project_id as ProjectId, operation_id: id as OperationId }
  let last: Operation | undefined
  const noted = ({ operation }: { readonly operation: Operation }) => {
    last = operation
    onRead?.(operation)
    return operation
  }
  const read = Effect.map(api.operations.get({ params, query: {} }), noted)
  /** After the end of its project an operation is on the organization's stream only, so the event is its last word. */
  const readAfter = (said: "changed" | OperationStatus) =>
    Effect.catchTag(read, "NotFoundProblem", (gone) =>
      said === "changed" || last === undefined
        ? Effect.fail(gone)
        : Effect.succeed({ ...last, status: said, finished_at: last.updated_at })
    )

  const followed = (path: StreamPath) =>
    subscribe({ path, types: [type] }).pipe(
      Stream.map((item) => about(item, id)),
      Stream.filter((found) => found !== "nothing"),
      Stream.mapEffect(readAfter),
      Stream.filter(isOver),
      Stream.runHead,
      Effect.map(Option.getOrUndefined)
    )
  const polled = Effect.map(api.operations.get({ params, query: { wait: pollFor } }), noted).pipe(
    Effect.repeat({ until: isOver })
  )

  const ended = Effect.gen(function* () {
    const found = yield* read
    if (isOver(found)) return found
    const paths: ReadonlyArray<StreamPath> = ["/v1/events", `/v1/projects/${encodeURIComponent(project_id)}/events`]
    for (const path of paths) {
      const over = yield* Effect.catchTag(followed(path), "StreamRefused", () => Effect.undefined)
      if (over !== undefined) return over
    }
    return yield* polled
  })
  return Effect.timeoutOrElse(ended, {
    duration: Duration.fromInputUnsafe(timeout),
    orElse: () => Effect.fail(new OperationPending({ operation_id: id, status: last?.status ?? status ?? "unknown" }))
  })
}
