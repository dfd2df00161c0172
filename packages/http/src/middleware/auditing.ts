/**
 * The entries that calls leave in the audit log (docs/design/audit.md): of a change in its own transaction, and of a
 * sensitive one that is refused.
 *
 * An entry is made from the path, the objects that were looked up for it, and the answer, whose records are shown
 * anyway. It has nothing of the body that was sent.
 *
 * Pitfall: decoding the body inside the transaction while it still arrives. A slow client would hold a connection.
 */
import { AuditedAs, policyOf } from "@narthex/api"
import {
  type ActParts,
  type AnyCaller,
  type Audit,
  type AuditAction,
  auditActions,
  type Found,
  NotApplied,
  StorageError
} from "@narthex/core"
import { Context, Effect, Predicate, Schema } from "effect"
import type { HttpServerRequest, HttpServerResponse } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { problems } from "../toProblem.ts"

/** The parameters of a path. */
type Params = Readonly<Record<string, string | undefined>>

/** The kinds of objects that paths name, the innermost first. */
const kinds: ReadonlyArray<readonly [parameter: string, type: string]> = [
  ["cidr", "ip_rule"],
  ["role", "credential"],
  ["session_id", "session"],
  ["invitation_id", "invitation"],
  ["webhook_id", "webhook"],
  ["user_id", "member"],
  ["api_key_id", "api_key"],
  ["operation_id", "operation"],
  ["endpoint_id", "endpoint"],
  ["branch_id", "branch"],
  ["project_id", "project"],
  ["org_id", "organization"]
]

/** Members of answers that are the records of objects. */
const records: ReadonlySet<string> = new Set([
  ...["project", "branch", "endpoint", "operation", "api_key"],
  ...["organization", "member", "invitation", "credential", "webhook"]
])

type Target = NonNullable<ActParts["targets"]>[number]

const namesOf = ({ api_key, branch, project }: Found): Readonly<Record<string, string | undefined>> => ({
  project: project?.name,
  branch: branch?.name,
  api_key: api_key?.key.name
})

/** The organization of the path is the entry's own: it is a target only where the path names nothing else. */
const targetsOfPath = ({ network, prefix, ...params }: Params, found: Found): ReadonlyArray<Target> => {
  const names = namesOf(found)
  const given: Params = network === undefined ? params : { ...params, cidr: `${network}/${prefix}` }
  const all = kinds.flatMap(([parameter, type]): ReadonlyArray<Target> => {
    const id = given[parameter]
    return id === undefined ? [] : [{ type, id, name: names[type] ?? null }]
  })
  return all.length > 1 ? all.filter(({ type }) => type !== "organization") : all
}

type Json = Readonly<Record<string, unknown>>

const isObject = (value: unknown): value is Json => Predicate.isObject(value) && !Array.isArray(value)

const bodyOf = ({ body }: HttpServerResponse.HttpServerResponse): Json => {
  const value: unknown = body._tag === "Uint8Array" ? JSON.parse(new TextDecoder().decode(body.body)) : undefined
  return isObject(value) ? value : {}
}

const textOf = (value: unknown) => (typeof value === "string" ? value : undefined)

/** A fact of an entry: text, or whether something is so; of a part with a name, the name. */
const factOf = (value: unknown) =>
  Predicate.isBoolean(value) ? String(value) : textOf(isObject(value) ? value["name"] : value)

/** The records of an answer, in its order. An added network is an answer without a name of its own. */
const recordsOf = (body: Json): ReadonlyArray<readonly [type: string, record: Json]> =>
  "cidr" in body
    ? [["ip_rule", body]]
    : Object.entries(body).flatMap(([type, record]) => (records.has(type) && isObject(record) ? [[type, record]] : []))

const targetOfRecord = ([type, record]: readonly [string, Json]): ReadonlyArray<Target> => {
  const id = textOf(record["id"]) ?? textOf(record["user_id"]) ?? textOf(record["cidr"]) ?? textOf(record["role"])
  const name = textOf(record["name"]) ?? textOf(record["email"]) ?? textOf(record["label"]) ?? null
  return id === undefined ? [] : [{ type, id, name: name === "" ? null : name }]
}

/** The objects of the answer, then the others of the path; and the facts that the entry of this act notes. */
const partsOf = (
  action: AuditAction,
  params: Params,
  found: Found,
  response: HttpServerResponse.HttpServerResponse
): ActParts => {
  const shown = recordsOf(bodyOf(response))
  const targets = shown.flatMap(targetOfRecord)
  const others = targetsOfPath(params, found).filter(({ id }) => !targets.some((it) => it.id === id))
  const [, record = {}] = shown.find(([, it]) => auditActions[action].some((name) => name in it)) ?? []
  const facts = auditActions[action].flatMap((name) => {
    const fact = factOf(record[name])
    return fact === undefined ? [] : [[name, fact] as const]
  })
  const outside = others.filter(({ type }) => targets.length === 0 || type !== "organization")
  return { targets: [...targets, ...outside], metadata: Object.fromEntries(facts) }
}

const isOfTransaction = Schema.is(Schema.Union([NotApplied, StorageError]))

/** One call of an endpoint whose act has this name. */
interface Call {
  readonly action: AuditAction
  readonly caller: AnyCaller
  readonly endpoint: HttpApiEndpoint.Top
  readonly params: Params
  readonly request: HttpServerRequest.HttpServerRequest
}

/** The name of the endpoint's act; `undefined`: it has none. */
export const actionOf = (endpoint: Pick<HttpApiEndpoint.Top, "annotations">): AuditAction | undefined =>
  Context.get(endpoint.annotations, AuditedAs)

/** The call and its entry as one commit. Without an act it is the call alone. */
export const audited = <E, R>(
  { during }: Audit["Service"],
  { action, caller, endpoint, params, request }: Call,
  found: Found,
  handler: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
) => {
  // The framework answers a body of another type itself, without a failure.
  const parts = (response: HttpServerResponse.HttpServerResponse) =>
    response.status < 400 ? partsOf(action, params, found, response) : undefined
  const recorded = during(caller, action, handler, parts).pipe(
    // The transaction itself failed, or the work after it. The handler's own failures are problems already.
    Effect.catchIf(isOfTransaction, (error) => problems(Effect.fail(error)))
  )
  // A body that cannot be read, for example because it is too large, is answered where it is decoded.
  return endpoint.payload.size === 0 ? recorded : Effect.andThen(Effect.ignore(request.text), recorded)
}

/** Whether a refusal of the endpoint leaves an entry (U6). */
export const isSensitive = (endpoint: Pick<HttpApiEndpoint.Top, "annotations">): boolean => {
  const policy = policyOf(endpoint)
  if (policy?._tag !== "Credential" || actionOf(endpoint) === undefined) return false
  const { effect, permission, target } = policy
  return effect === "admin" || effect === "mint" || permission === "delete_projects" || target === "api_key"
}

/** Refusals of members. A pending account and a former member are strangers to the organization (U7). */
const ofMembers: ReadonlySet<string> = new Set([
  ...["session_required", "key_self_only", "scope_insufficient", "capability_insufficient", "role_insufficient"]
])

const factsOf = (problem: unknown): Readonly<Record<string, string>> | undefined => {
  if (!isObject(problem)) return undefined
  const [code, required] = [textOf(problem["code"]), textOf(problem["required"])]
  if (code === undefined || !ofMembers.has(code)) return undefined
  return required === undefined ? { code } : { code, required }
}

/** The call, and an entry if it is refused. */
export const reportingRefusals = <E, R>(
  { refused }: Audit["Service"],
  { action, caller, params }: Call,
  call: Effect.Effect<HttpServerResponse.HttpServerResponse, E, R>
): Effect.Effect<HttpServerResponse.HttpServerResponse, E, R> => {
  const report = (metadata: Readonly<Record<string, string>> | undefined) =>
    metadata === undefined ? Effect.void : refused(caller, action, { targets: targetsOfPath(params, {}), metadata })
  return call.pipe(
    Effect.tapError((problem) => report(factsOf(problem))),
    Effect.tap((response) => (response.status === 403 ? report(factsOf(bodyOf(response))) : Effect.void))
  )
}
