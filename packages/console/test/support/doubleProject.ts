/** The double's calls on what is inside a project: branches, endpoints, operations, the check of an address. */
import { contains, type ProblemCode, parseCidr } from "@narthex/api"
import { Result } from "effect"
import type { Answered } from "./ApiDouble.ts"
import {
  type DoubleState,
  type Person,
  type StoredBranch,
  type StoredEndpoint,
  type StoredProject,
  ulid
} from "./DoubleState.ts"
import {
  allowlistView,
  branchView,
  endpointView,
  furtherBranch,
  furtherEndpoint,
  operationView,
  projectView,
  refusalView
} from "./doubleViews.ts"

interface Refused {
  readonly refused: ProblemCode
  readonly detail?: string
}

export interface ProjectCall {
  readonly method: string
  /** The path below the project. */
  readonly rest: string
  readonly query: URLSearchParams
  readonly given: Readonly<Record<string, unknown>>
}

const pagination = { next_cursor: null }
const ok = (body: unknown, status = 200): Answered => ({ status, body })
const conflict = (detail: string): Refused => ({ refused: "conflict", detail })

const endOf = (ttl: unknown): string | null =>
  typeof ttl === "number" ? new Date(Date.parse("2026-11-20T12:05:00.000Z") + ttl * 1000).toISOString() : null

const addBranch = (project: StoredProject, given: ProjectCall["given"]): StoredBranch | undefined => {
  const name = typeof given["name"] === "string" ? given["name"] : `branch-${project.branches.length + 1}`
  if (name === "main" || project.branches.some((it) => it.name === name)) return undefined
  const branch: StoredBranch = {
    id: `br-${ulid()}`,
    parent_id: String(given["parent_id"] ?? project.branch_id),
    name,
    protected: given["protected"] === true,
    expires_at: endOf(given["ttl_seconds"])
  }
  project.branches.push(branch)
  return branch
}

const addEndpoint = (project: StoredProject, given: ProjectCall["given"]): StoredEndpoint => {
  const endpoint: StoredEndpoint = {
    id: `ep-${ulid()}`,
    branch_id: String(given["branch_id"]),
    type: String(given["type"] ?? "read_only"),
    disabled: false,
    timeout: Number(given["suspend_timeout_seconds"] ?? 300)
  }
  project.endpoints.push(endpoint)
  return endpoint
}

const writes = (project: StoredProject, branch_id: string) =>
  branch_id === project.branch_id ||
  project.endpoints.some((it) => it.branch_id === branch_id && it.type === "read_write")

const taken = conflict("A branch of this name exists.")

const creations = (project: StoredProject, { given, method, rest }: ProjectCall): Answered | Refused | undefined => {
  switch (`${method} ${rest}`) {
    case "POST /branches": {
      const branch = addBranch(project, given)
      if (branch === undefined) return taken
      const own = { branch_id: branch.id, type: "read_write" }
      const endpoint = given["endpoint"] === true ? furtherEndpoint(project, addEndpoint(project, own)) : null
      return ok({ branch: furtherBranch(project, branch), endpoint, operations: [] }, 201)
    }
    case "POST /sandboxes": {
      const branch = addBranch(project, given)
      if (branch === undefined) return taken
      const endpoint = furtherEndpoint(project, addEndpoint(project, { branch_id: branch.id, type: "read_write" }))
      const credential = {
        role: "role_sandbox",
        access: "read_write",
        state: "active",
        project_id: project.id,
        branch_id: branch.id,
        minted_by: null,
        api_key_id: null,
        api_key_name: null,
        created_at: "2026-11-20T12:00:00.000Z",
        expires_at: branch.expires_at
      }
      const uri = `postgresql://role_sandbox:pw@127.0.0.1:5442/postgres?options=endpoint%3D${endpoint.id}`
      const secrets = { credential, password: "pw", connection_uri: uri }
      return ok({ branch: furtherBranch(project, branch), endpoint, ...secrets, operations: [] }, 201)
    }
    case "POST /endpoints": {
      if (given["type"] === "read_write" && writes(project, String(given["branch_id"])))
        return conflict("The branch has a read-write endpoint.")
      return ok({ endpoint: furtherEndpoint(project, addEndpoint(project, given)), operations: [] }, 201)
    }
  }
  return undefined
}

/** The project's operations that fit the filters of the query. */
export const listedOperations = (project: StoredProject, query: URLSearchParams) =>
  project.operations
    .map((it) => operationView(project, it))
    .filter((it) =>
      (["status", "action", "branch_id", "endpoint_id"] as const).every(
        (name) => (query.get(name) ?? it[name]) === it[name]
      )
    )

const listedBranches = (project: StoredProject) => [
  ...project.branches.map((it) => furtherBranch(project, it)).toReversed(),
  branchView(project)
]

const listedEndpoints = (project: StoredProject) => [
  ...project.endpoints.map((it) => furtherEndpoint(project, it)).toReversed(),
  endpointView(project)
]

/** The project with the parts that the query includes. */
export const overviewOf = (state: DoubleState, project: StoredProject, person: Person, query: URLSearchParams) => {
  const parts = {
    branches: listedBranches(project),
    endpoints: listedEndpoints(project),
    operations: listedOperations(project, new URLSearchParams()).slice(0, 10),
    ip_allow: allowlistView(project, person)
  }
  const asked = (query.get("include") ?? "").split(",")
  const included = Object.entries(parts).filter(([name]) => asked.includes(name) && name !== state.leavesOut)
  return { project: projectView(project), ...Object.fromEntries(included) }
}

const ofBranch = (project: StoredProject, { given, method, rest }: ProjectCall): Answered | Refused | undefined => {
  const [, id, verb = ""] = /^\/branches\/([^/]+)(\/reset|\/set-default)?$/.exec(rest) ?? []
  const main = id === project.branch_id
  const branch = project.branches.find((it) => it.id === id)
  if (id === undefined || (branch === undefined && !main)) return undefined
  const view = () => (branch === undefined ? branchView(project) : furtherBranch(project, branch))
  switch (`${method}${verb}`) {
    case "GET":
      return ok({ branch: view() })
    case "PATCH":
      if (branch === undefined) return ok({ branch: view() })
      branch.name = String(given["name"] ?? branch.name)
      branch.protected = given["protected"] === undefined ? branch.protected : given["protected"] === true
      if ("ttl_seconds" in given) branch.expires_at = endOf(given["ttl_seconds"])
      return ok({ branch: view() })
    case "DELETE":
      if (branch === undefined || branch.protected) return conflict("The branch is protected.")
      project.branches.splice(project.branches.indexOf(branch), 1)
      return ok({ operations: [] }, 202)
    case "POST/reset":
      if (branch === undefined || branch.protected) return conflict("The branch is protected.")
      return ok({ branch: view(), operations: [] })
    case "POST/set-default":
      return ok({ branch: view(), operations: [] })
  }
  return undefined
}

const ofEndpoint = (project: StoredProject, { given, method, rest }: ProjectCall): Answered | Refused | undefined => {
  const id = /^\/endpoints\/([^/]+)$/.exec(rest)?.[1]
  const endpoint = project.endpoints.find((it) => it.id === id)
  if (method === "GET" && id === project.endpoint_id) return ok({ endpoint: endpointView(project) })
  if (endpoint === undefined) return undefined
  if (method === "DELETE") {
    project.endpoints.splice(project.endpoints.indexOf(endpoint), 1)
    return ok({ operations: [] }, 202)
  }
  if (method === "PATCH") {
    endpoint.disabled = given["disabled"] === undefined ? endpoint.disabled : given["disabled"] === true
    endpoint.timeout = Number(given["suspend_timeout_seconds"] ?? endpoint.timeout)
    return ok({ endpoint: furtherEndpoint(project, endpoint), operations: [] })
  }
  return method === "GET" ? ok({ endpoint: furtherEndpoint(project, endpoint) }) : undefined
}

const checkOf = ({ rules }: StoredProject, address: string): Answered | Refused => {
  const network = parseCidr(`${address}/${address.includes(":") ? 128 : 32}`)
  if (Result.isFailure(network)) return { refused: "invalid_request" }
  const holds = rules.find(({ cidr }) =>
    Result.match(parseCidr(cidr), {
      onFailure: () => false,
      onSuccess: (parsed) => contains(parsed, address)
    })
  )
  return ok({ allowed: rules.length === 0 || holds !== undefined, matched: holds?.cidr ?? null })
}

/** `undefined`: another call. */
export const projectCalls = (project: StoredProject, call: ProjectCall): Answered | Refused | undefined => {
  const { given, method, query, rest } = call
  switch (`${method} ${rest}`) {
    case "PATCH ":
      project.name = String(given["name"])
      return undefined
    case "GET /branches":
      return ok({ branches: listedBranches(project), pagination })
    case "GET /endpoints":
      return ok({ endpoints: listedEndpoints(project), pagination })
    case "GET /ip-allow/refusals": {
      if (!project.lists_refusals) return { refused: "not_found" }
      const [from, limit] = [Number(query.get("cursor") ?? 0), Number(query.get("limit") ?? 200)]
      if (Number.isNaN(from)) return { refused: "malformed_request", detail: "The cursor is not one of this API." }
      const next_cursor = from + limit < project.refusals.length ? String(from + limit) : null
      const shown = project.refusals.slice(from, from + limit).map((it) => refusalView(project, it))
      return ok({ refusals: shown, pagination: { next_cursor } })
    }
    case "GET /ip-allow/check":
      return checkOf(project, query.get("address") ?? "")
  }
  const cancelled = /^\/operations\/([^/]+)\/cancel$/.exec(rest)?.[1]
  const at = project.operations.findIndex(({ id }) => id === cancelled)
  const operation = project.operations[at]
  if (method === "POST" && operation !== undefined) {
    if (operation.status !== "running") return conflict("The operation has ended.")
    const next = { ...operation, status: "cancelling" }
    project.operations[at] = next
    return ok({ operation: operationView(project, next) })
  }
  return creations(project, call) ?? ofBranch(project, call) ?? ofEndpoint(project, call)
}
