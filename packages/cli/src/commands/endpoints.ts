/** `narthex endpoint list|get|create`. `endpointChanges.ts` has the commands that change an endpoint. */
import { Effect } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { waitFlags } from "../following/follow.ts"
import { followChange } from "../following/followChange.ts"
import { branchFlag, endpointArgument, given, projectFlag, sizeFlag, suspendFlag } from "../input/flags.ts"
import { branchNames, chooseBranch } from "../names/branches.ts"
import { chooseEndpoint } from "../names/endpoints.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { endpointFacts, endpointRows } from "../tables/endpoints.ts"
import { endpointChanges } from "./endpointChanges.ts"

const list = Command.make("list", { project: projectFlag }, ({ project }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const { id } = yield* chooseProject(api, project)
        const listed = everyPage("endpoints", (query) =>
          api.client.api.endpoints.list({ params: { project_id: id }, query, ...withBody })
        )
        return yield* Effect.all([listed, branchNames(api, id)], { concurrency: "unbounded" })
      })
      const [{ body, value }, branches] = yield* output.waiting("Listing endpoints", asked)
      yield* output.answer({ body, table: endpointRows(value, branches), empty: "There are no endpoints." })
    })
  )
).pipe(
  Command.withDescription("List the endpoints of a project"),
  Command.withExamples([{ command: "narthex endpoint list --project shop" }])
)

const get = Command.make(
  "get",
  { endpoint: Argument.optional(endpointArgument), branch: branchFlag, project: projectFlag },
  (wanted) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const project = yield* chooseProject(api, wanted.project)
          const params = { project_id: project.id, endpoint_id: yield* chooseEndpoint(api, project, wanted) }
          return yield* answered(api.client.api.endpoints.get({ params, ...withBody }))
        })
        const { body, value } = yield* output.waiting("Reading the endpoint", asked)
        yield* output.answer({ body, table: endpointFacts(value.endpoint) })
      })
    )
).pipe(
  Command.withDescription("Show an endpoint; without one, that of the branch"),
  Command.withExamples([{ command: "narthex endpoint get preview --project shop" }])
)

const create = Command.make(
  "create",
  {
    branch: branchFlag,
    project: projectFlag,
    type: Flag.Literals("type", ["read_write", "read_only"]).pipe(
      Flag.withDescription("A branch has one read-write endpoint at most. Default: read_only"),
      Flag.optional
    ),
    size: sizeFlag,
    suspend: Flag.optional(suspendFlag),
    ...waitFlags
  },
  ({ branch, project, size, suspend, timeout, type, wait }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const chosen = yield* chooseProject(api, project)
          const payload = {
            branch_id: yield* chooseBranch(api, chosen, branch),
            ...given("type", type),
            ...given("size", size),
            ...given("suspend_timeout_seconds", suspend)
          }
          return yield* answered(
            api.client.api.endpoints.create({ params: { project_id: chosen.id }, payload, ...withBody })
          )
        })
        const created = yield* output.waiting("Creating the endpoint", asked)
        yield* followChange(api, created, ({ endpoint }) => endpointFacts(endpoint), { timeout, wait })
      })
    )
).pipe(
  Command.withDescription("Create an endpoint of a branch"),
  Command.withExamples([
    { command: "narthex endpoint create --branch preview --type read_write --project shop" },
    { command: "narthex endpoint create --suspend-after 1h", description: "A read replica of the default branch" }
  ])
)

export const endpoint = Command.make("endpoint").pipe(
  Command.withDescription("Endpoints: what Postgres clients connect to"),
  Command.withSubcommands([list, get, create, ...endpointChanges])
)
