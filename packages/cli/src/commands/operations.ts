/** `narthex operation list|get|watch|cancel`: work on a project that takes time. */
import { OperationAction, type OperationId, OperationStatus, type ProjectId } from "@narthex/api"
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, isRecord, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { follow, timeoutFlag, waitFlags, watch } from "../following/follow.ts"
import { confirm } from "../input/confirm.ts"
import { given, idArgument, onlyBranchFlag, onlyEndpointFlag, partFlags, projectFlag, yesFlag } from "../input/flags.ts"
import { branchNamed, branchNames } from "../names/branches.ts"
import { endpointNamed } from "../names/endpoints.ts"
import { operationNamed } from "../names/operations.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { noteMore } from "../tables/noteMore.ts"
import { operationFacts, operationRows } from "../tables/operations.ts"

const operationArgument = idArgument("operation_id", "operation", "narthex operation list")

/** Only operations that fit all that are given. The branch has no default: without it the list is the project's. */
const filterFlags = {
  status: Flag.Literals("status", OperationStatus.literals).pipe(
    Flag.withDescription("Only operations in this status"),
    Flag.optional
  ),
  action: Flag.Literals("action", OperationAction.literals).pipe(
    Flag.withDescription("Only operations that do this"),
    Flag.optional
  ),
  branch: onlyBranchFlag,
  endpoint: onlyEndpointFlag
}

const list = Command.make(
  "list",
  { project: projectFlag, ...filterFlags, ...partFlags(100) },
  ({ action, branch, cursor, endpoint, limit, project, status }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const { id } = yield* chooseProject(api, project)
          const filter = {
            ...given("status", status),
            ...given("action", action),
            ...(Option.isSome(branch) ? { branch_id: yield* branchNamed(api, id, { name: branch.value }) } : {}),
            ...(Option.isSome(endpoint) ? { endpoint_id: yield* endpointNamed(api, id, endpoint.value) } : {})
          }
          const listed = everyPage(
            "operations",
            (page) =>
              api.client.api.operations.list({
                params: { project_id: id },
                query: { ...filter, ...page },
                ...withBody
              }),
            { limit, ...given("cursor", cursor) }
          )
          return yield* Effect.all([listed, branchNames(api, id)], { concurrency: "unbounded" })
        })
        const [{ body, value }, branches] = yield* output.waiting("Listing operations", asked)
        const filtered = [action, branch, endpoint, status].some(Option.isSome)
        const empty = filtered ? "No operation matches." : "There are no operations."
        yield* output.answer({ body, table: operationRows(value, branches), empty })
        yield* noteMore(body)
      })
    )
).pipe(
  Command.withDescription("List the operations of a project, newest first"),
  Command.withExamples([
    { command: "narthex operation list --project shop" },
    { command: "narthex operation list --status failed --branch preview" },
    { command: "narthex operation list --limit 5 -o json | jq -r '.operations[].status'" }
  ])
)

const get = Command.make("get", { operation_id: operationArgument, project: projectFlag }, (wanted) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const { id } = yield* chooseProject(api, wanted.project)
        return yield* read(api, id, yield* operationNamed(api, id, wanted.operation_id))
      })
      const { body, value } = yield* output.waiting("Reading the operation", asked)
      yield* output.answer({ body, table: operationFacts(value.operation) })
    })
  )
).pipe(
  Command.withDescription("Show an operation"),
  Command.withExamples([{ command: "narthex operation get 0198f3d2 --project shop" }])
)

/** The operations with these ids; without ids, the unfinished ones among the newest of the project, the oldest first. */
const unfinished = Effect.fnUntraced(function* (
  api: AuthenticatedApi,
  project_id: ProjectId,
  ids: ReadonlyArray<string>
) {
  if (ids.length > 0) {
    const found = yield* Effect.forEach(ids, (id) =>
      Effect.flatMap(operationNamed(api, project_id, id), (operation_id) => read(api, project_id, operation_id))
    )
    return found.map(({ value }) => value.operation)
  }
  const { operations } = yield* api.client.api.operations.list({ params: { project_id }, query: {} })
  return operations.filter(({ finished_at }) => finished_at === null).toReversed()
})

const read = ({ client }: AuthenticatedApi, project_id: ProjectId, operation_id: OperationId) =>
  answered(client.api.operations.get({ params: { project_id, operation_id }, query: {}, ...withBody }))

const watchCommand = Command.make(
  "watch",
  {
    operation_ids: Argument.variadic(operationArgument),
    project: projectFlag,
    timeout: timeoutFlag
  },
  ({ operation_ids, project, timeout }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { id } = yield* chooseProject(api, project)
        const operations = yield* output.waiting("Reading the operations", unfinished(api, id, operation_ids))
        if (operations.length === 0) return yield* output.note("No operation is unfinished.")
        yield* watch(api, operations, timeout)
        const readAll = Effect.forEach(operations, (operation) => read(api, id, operation.id))
        const [ended, branches] = yield* output.waiting(
          "Reading the operations",
          Effect.all([readAll, branchNames(api, id)])
        )
        yield* output.answer({
          body: { operations: ended.map(({ body }) => (isRecord(body) ? body["operation"] : body)) },
          table: operationRows(
            ended.map(({ value }) => value.operation),
            branches
          )
        })
      })
    )
).pipe(
  Command.withDescription("Wait until operations are over; without ids, every unfinished one of the project"),
  Command.withExamples([
    { command: "narthex operation watch --project shop" },
    { command: "narthex operation watch 0198f3d2 --timeout 10m" }
  ])
)

const cancel = Command.make(
  "cancel",
  { operation_id: operationArgument, project: projectFlag, yes: yesFlag, ...waitFlags },
  ({ operation_id: short, project, timeout, wait, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const { id } = yield* chooseProject(api, project)
        const operation_id = yield* operationNamed(api, id, short)
        yield* confirm(`The operation ${operation_id} will be stopped, and its change does not happen.`, yes)
        const params = { project_id: id, operation_id }
        const { body, value } = yield* output.waiting(
          "Cancelling the operation",
          answered(api.client.api.operations.cancel({ params, ...withBody }))
        )
        yield* output.answer({ body, table: operationFacts(value.operation) })
        yield* follow(api, [value.operation], { timeout, wait }, ["cancelled"])
      })
    )
).pipe(
  Command.withDescription("Cancel an operation"),
  Command.withExamples([{ command: "narthex operation cancel 0198f3d2 --project shop --yes" }])
)

export const operation = Command.make("operation").pipe(
  Command.withDescription("Operations: work on a project that takes time"),
  Command.withSubcommands([list, get, watchCommand, cancel])
)
