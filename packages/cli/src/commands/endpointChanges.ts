/** `narthex endpoint start|suspend|set|delete`. */
import { Effect, Option } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { UsageMistake } from "../failures/LocalFailure.ts"
import { follow, waitFlags } from "../following/follow.ts"
import { followChange } from "../following/followChange.ts"
import { confirm } from "../input/confirm.ts"
import { branchFlag, endpointArgument, given, projectFlag, sizeFlag, suspendFlag, yesFlag } from "../input/flags.ts"
import { chooseEndpoint } from "../names/endpoints.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { sentence } from "../output/table.ts"
import { endpointFacts } from "../tables/endpoints.ts"

const optionalEndpoint = {
  endpoint: Argument.optional(endpointArgument),
  branch: branchFlag,
  project: projectFlag
}

interface Given {
  readonly endpoint: Option.Option<string>
  readonly branch: Option.Option<string>
  readonly project: Option.Option<string>
}

/** The path of the endpoint that the command names. */
const pathOf = Effect.fnUntraced(function* (api: AuthenticatedApi, given: Given) {
  const project = yield* chooseProject(api, given.project)
  return { project_id: project.id, endpoint_id: yield* chooseEndpoint(api, project, given) }
})

const start = Command.make("start", { ...optionalEndpoint, ...waitFlags }, ({ timeout, wait, ...given }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.flatMap(pathOf(api, given), (params) =>
        answered(api.client.api.endpoints.start({ params, ...withBody }))
      )
      const changed = yield* output.waiting("Starting the endpoint", asked)
      yield* followChange(api, changed, ({ endpoint }) => endpointFacts(endpoint), { timeout, wait })
      if (changed.value.operations.length === 0) yield* output.note("The endpoint runs already.")
    })
  )
).pipe(
  Command.withDescription("Start the compute of an endpoint; a connection does so, too"),
  Command.withExamples([{ command: "narthex endpoint start --branch preview --wait" }])
)

const suspend = Command.make(
  "suspend",
  { ...optionalEndpoint, yes: yesFlag, ...waitFlags },
  ({ timeout, wait, yes, ...given }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const params = yield* pathOf(api, given)
        yield* confirm(
          `The connections of the endpoint ${params.endpoint_id} will end. The next one starts it again.`,
          yes
        )
        const changed = yield* output.waiting(
          "Suspending the endpoint",
          answered(api.client.api.endpoints.suspend({ params, ...withBody }))
        )
        yield* followChange(api, changed, ({ endpoint }) => endpointFacts(endpoint), { timeout, wait })
        if (changed.value.operations.length === 0) yield* output.note("The endpoint is suspended already.")
      })
    )
).pipe(
  Command.withDescription("Suspend the compute of an endpoint, which ends its connections"),
  Command.withExamples([{ command: "narthex endpoint suspend --branch preview --yes" }])
)

const set = Command.make(
  "set",
  {
    ...optionalEndpoint,
    size: sizeFlag,
    suspend: Flag.optional(suspendFlag),
    disabled: Flag.Literals("disabled", ["true", "false"]).pipe(
      Flag.withDescription("A disabled endpoint refuses connections and does not start"),
      Flag.optional
    ),
    yes: yesFlag,
    ...waitFlags
  },
  ({ disabled, size, suspend, timeout, wait, yes, ...wanted }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        if (Option.isNone(disabled) && Option.isNone(suspend) && Option.isNone(size))
          return yield* new UsageMistake({
            message: "Give what to change: --size, --suspend-after or --disabled.",
            hint: "narthex endpoint set --branch preview --suspend-after 1h"
          })
        const api = yield* (yield* Connection).authenticated
        const params = yield* pathOf(api, wanted)
        const disables = Option.contains(disabled, "true")
        if (disables)
          yield* confirm(
            `The connections of the endpoint ${params.endpoint_id} will end, and it refuses new ones.`,
            yes
          )
        else if (Option.isSome(size))
          yield* confirm(
            `The compute of the endpoint ${params.endpoint_id} starts again with its size if it runs, which ends its connections.`,
            yes
          )
        const payload = {
          ...given("size", size),
          ...given("suspend_timeout_seconds", suspend),
          ...given(
            "disabled",
            Option.map(disabled, (text) => text === "true")
          )
        }
        const changed = yield* output.waiting(
          "Changing the endpoint",
          answered(api.client.api.endpoints.change({ params, payload, ...withBody }))
        )
        yield* followChange(api, changed, ({ endpoint }) => endpointFacts(endpoint), { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Change the size of an endpoint or when it suspends, disable or enable it"),
  Command.withExamples([
    { command: "narthex endpoint set --branch preview --suspend-after 1h" },
    { command: "narthex endpoint set --size large --yes --wait", description: "Starts a running compute again" },
    { command: "narthex endpoint set ep-… --disabled true --yes" }
  ])
)

const remove = Command.make(
  "delete",
  { endpoint: endpointArgument, project: projectFlag, yes: yesFlag, ...waitFlags },
  ({ endpoint, project, timeout, wait, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const params = yield* pathOf(api, { endpoint: Option.some(endpoint), branch: Option.none(), project })
        yield* confirm(
          `The endpoint ${params.endpoint_id} will be deleted and its address stops working, which cannot be undone. The data of its branch stays.`,
          yes
        )
        const { body, value } = yield* output.waiting(
          "Deleting the endpoint",
          answered(api.client.api.endpoints.delete({ params, ...withBody }))
        )
        yield* output.answer({ body, table: sentence(`The endpoint ${params.endpoint_id} is deleted.`) })
        yield* follow(api, value.operations, { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Delete an endpoint; the data of its branch stays"),
  Command.withExamples([{ command: "narthex endpoint delete ep-… --project shop" }])
)

/** The commands that change an endpoint, for `endpoints.ts`. */
export const endpointChanges = [start, suspend, set, remove] as const
