/**
 * The endpoint of a command. An endpoint has no name: it is given by its id or host, or by the branch that it serves.
 */
import { type EndpointId, type ProjectId, parseEndpointId } from "@narthex/api"
import { Effect, Option } from "effect"
import { withBody } from "../connection/answers.ts"
import type { AuthenticatedApi } from "../connection/Connection.ts"
import { Stopped } from "../failures/LocalFailure.ts"
import { branchesOf, chooseBranch } from "./branches.ts"
import type { ChosenProject } from "./projects.ts"
import { type Kind, objectsOf, resolve } from "./resolve.ts"

const endpoints: Kind = { one: "endpoint", many: "endpoints", list: "narthex endpoint list" }

export interface GivenEndpoint {
  readonly endpoint: Option.Option<string>
  readonly branch: Option.Option<string>
}

/** Without an id, host or branch: the endpoint of the default branch. A branch with several needs an id. */
export const chooseEndpoint = Effect.fn("chooseEndpoint")(function* (
  api: AuthenticatedApi,
  project: ChosenProject,
  given: GivenEndpoint
) {
  if (Option.isSome(given.endpoint)) return yield* endpointNamed(api, project.id, given.endpoint.value)
  const branch_id = yield* chooseBranch(api, project, given.branch)
  const { objects } = yield* endpointsOf(api, project.id)
  const [only, ...others] = objects.filter(({ endpoint }) => endpoint.branch_id === branch_id)
  if (only === undefined)
    return yield* new Stopped({
      message: `The branch ${branch_id} has no endpoint.`,
      hint: `narthex endpoint create --branch ${branch_id} --type read_write`
    })
  if (others.length === 0) return only.id
  const candidates = [only, ...others].map(({ endpoint }) => `${endpoint.id} (${endpoint.type})`)
  return yield* new Stopped({
    message: `The branch ${branch_id} has several endpoints: ${candidates.join(", ")}.`,
    hint: "name the endpoint by its id"
  })
})

/** The id of the endpoint with this id or host, or of the only one of the branch with this name. */
export const endpointNamed = Effect.fnUntraced(function* (
  api: AuthenticatedApi,
  project_id: ProjectId,
  name: string
): Effect.fn.Return<EndpointId, Effect.Error<ReturnType<typeof byName>>> {
  const id = parseEndpointId(name)
  return Option.isSome(id) ? id.value : (yield* byName(api, project_id, name)).id
})

const byName = Effect.fnUntraced(function* (api: AuthenticatedApi, project_id: ProjectId, name: string) {
  const [found, branches] = yield* Effect.all([endpointsOf(api, project_id), branchesOf(api, project_id)])
  const names = new Map(branches.objects.map(({ branch }) => [branch.id, branch.name]))
  const objects = found.objects.map(({ endpoint, id }) => {
    const branch = names.get(endpoint.branch_id)
    return { id, names: [...(branch === undefined ? [] : [branch]), endpoint.branch_id, endpoint.host] }
  })
  return yield* resolve(endpoints, { name }, { objects, complete: found.complete && branches.complete })
})

const endpointsOf = ({ client }: AuthenticatedApi, project_id: ProjectId) =>
  objectsOf(
    "endpoints",
    (query) => client.api.endpoints.list({ params: { project_id }, query, ...withBody }),
    (endpoint) => ({ id: endpoint.id, names: [endpoint.host], endpoint })
  )
