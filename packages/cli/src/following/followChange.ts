/**
 * The answer of a change that has started operations, and `--wait` (docs/design/cli.md C25). With it the answer is
 * printed after the waiting, with its objects as they are then: the API has answered with a branch that is not ready.
 *
 * Pitfall: using it for an answer that contains a password. `kill -9` during the waiting would lose it.
 */
import type { BranchRecord, EndpointRecord } from "@narthex/api"
import { Clock, Duration, Effect } from "effect"
import { type Answered, answered, isRecord, withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Output } from "../output/Output.ts"
import type { Table } from "../output/table.ts"
import { follow, type Operation, type Waiting, watch } from "./follow.ts"

interface Change {
  readonly branch?: typeof BranchRecord.Type
  readonly endpoint?: typeof EndpointRecord.Type | null
  readonly operations: ReadonlyArray<Operation>
}

/**
 * If the waiting fails or is interrupted, the answer is that of the change. The same holds if the present state cannot be
 * read; the operations have succeeded by then, and so does the command.
 */
export const followChange = Effect.fn("followChange")(function* <A extends Change>(
  api: AuthenticatedApi,
  changed: Answered<A>,
  table: (value: A) => Table,
  { timeout, wait }: Waiting
) {
  const output = yield* Output
  const print = ({ body, value }: Answered<A>) => output.answer({ body, table: table(value) })
  const { operations } = changed.value
  if (!wait || operations.length === 0) {
    yield* print(changed)
    return yield* follow(api, operations, { timeout, wait })
  }
  const begun = yield* Clock.currentTimeMillis
  const present = Effect.gen(function* () {
    yield* watch(api, operations, timeout)
    const left = timeout * 1000 - ((yield* Clock.currentTimeMillis) - begun)
    const read = Effect.timeout(readAgain(api, changed), Duration.millis(Math.max(1, Math.min(left, longestRead))))
    return yield* output.waiting("Reading the result", read).pipe(
      Effect.tapError((failure) => Effect.logDebug(failure)),
      Effect.catch(() => Effect.as(output.note(notReadAgain), changed))
    )
  })
  yield* print(yield* Effect.onError(present, () => Effect.ignore(print(changed))))
})

/** Milliseconds. */
const longestRead = 10_000

const notReadAgain = "The state could not be read again. The answer is that from before the waiting."

/** The same answer with the present branch, endpoint and operations. */
const readAgain = Effect.fnUntraced(function* <A extends Change>(
  { client }: AuthenticatedApi,
  { body, value }: Answered<A>
) {
  const { branches, endpoints, operations } = client.api
  const ended = yield* Effect.forEach(value.operations, ({ id, project_id }) =>
    answered(operations.get({ params: { project_id, operation_id: id }, query: {}, ...withBody }))
  )
  const [branch, endpoint] = [value.branch, value.endpoint ?? undefined]
  const readBranch =
    branch &&
    (yield* answered(branches.get({ params: { project_id: branch.project_id, branch_id: branch.id }, ...withBody })))
  const readEndpoint =
    endpoint &&
    (yield* answered(
      endpoints.get({ params: { project_id: endpoint.project_id, endpoint_id: endpoint.id }, ...withBody })
    ))
  return {
    body: {
      ...(isRecord(body) ? body : {}),
      ...(readBranch && { branch: memberOf(readBranch, "branch") }),
      ...(readEndpoint && { endpoint: memberOf(readEndpoint, "endpoint") }),
      operations: ended.map((read) => memberOf(read, "operation"))
    },
    value: {
      ...value,
      ...(readBranch && { branch: readBranch.value.branch }),
      ...(readEndpoint && { endpoint: readEndpoint.value.endpoint }),
      operations: ended.map((read) => read.value.operation)
    }
  }
})

const memberOf = ({ body }: Answered<unknown>, name: string): unknown => (isRecord(body) ? body[name] : body)
