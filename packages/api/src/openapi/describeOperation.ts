/**
 * An operation of the OpenAPI document with its texts, parameters, headers and examples, from the annotations of its endpoint
 * and from the catalogs.
 *
 * Refusals that the call cannot answer with are left out: those of bodies where it takes none, those of
 * `Idempotency-Key` where it is ignored, and those of keys where keys may call.
 */
import { Context } from "effect"
import type { HttpApiEndpoint } from "effect/http-api"
import { problemCatalog } from "../problems/problemCatalog.ts"
import {
  AlsoAs,
  Answer,
  endsSomething,
  LocatedAt,
  limitOf,
  NotReplayed,
  policyOf,
  RaisedBy,
  ShowsSecret,
  StreamsEvents
} from "../rules/endpointRules.ts"
import { callersOf, limitText } from "./callers.ts"
import { describeSchema } from "./describeSchema.ts"
import { otherSpellings } from "./documentParts.ts"
import { exampleOf } from "./exampleOf.ts"
import { isJson, isList, type Json, membersOf } from "./Json.ts"
import { parameterCatalog } from "./parameterCatalog.ts"

/** The rules of a call, read from the annotations of its endpoint. */
const factsOf = (endpoint: HttpApiEndpoint.Top) => {
  const { annotations, method } = endpoint
  const policy = policyOf({ annotations })
  const changes = method === "POST" || method === "PATCH" || method === "DELETE"
  const credential = policy?._tag === "Credential"
  return {
    policy,
    answer: Context.get(annotations, Answer),
    alsoAs: Context.get(annotations, AlsoAs),
    raise: Context.get(annotations, RaisedBy),
    limit: limitOf(endpoint),
    ends: endsSomething(endpoint),
    located: Context.get(annotations, LocatedAt) !== undefined,
    secret: Context.get(annotations, ShowsSecret),
    streams: Context.get(annotations, StreamsEvents),
    replayed: credential && changes && !Context.get(annotations, NotReplayed),
    cursor: credential && !changes && policy.effect === "read" && !Context.get(annotations, StreamsEvents)
  }
}
type Facts = ReturnType<typeof factsOf>

const descriptionOf = (text: unknown, facts: Facts) =>
  [
    text,
    ...(facts.policy === undefined ? [] : [callersOf(facts.policy, facts.raise)]),
    ...(facts.limit === undefined ? [] : [limitText(facts.limit, facts.ends)]),
    ...(facts.secret && facts.replayed
      ? ["A repetition with the same `Idempotency-Key` shows `null` for secrets."]
      : [])
  ].join("\n\n")

const parameter = (given: Json, id: string): Json => {
  const entry = parameterCatalog[`${id}.${given["name"]}`] ?? parameterCatalog[String(given["name"])]
  if (entry === undefined) throw new Error(`parameterCatalog has no entry for ${given["name"]}.`)
  const form = describeSchema(
    { type: "object", properties: { [String(given["name"])]: given["schema"] } },
    "parameters"
  )
  const [[, derived] = []] = membersOf(form["properties"])
  const { description: _, ...schema } = isJson(derived) ? derived : {}
  return { ...given, schema: entry.schema ?? schema, description: entry.text, example: entry.example }
}

const idempotencyKey: Json = { name: "Idempotency-Key", in: "header", required: false }

const json = "application/json"

/** The body. An optional body is not required, instead of being `null`. */
const requestBody = (schemas: Json, id: string, body: Json): Json => {
  const content = isJson(body["content"]) ? body["content"] : {}
  const media = isJson(content[json]) ? content[json] : {}
  const given = isJson(media["schema"]) ? media["schema"] : {}
  const parts = isList(given["anyOf"]) ? given["anyOf"] : []
  const optional = parts.length === 2 && parts.some((part) => isJson(part) && part["type"] === "null")
  const schema = describeSchema(optional && isJson(parts[0]) ? parts[0] : given, id)
  return {
    description: optional ? "Every member may be left out, and the whole body too." : "The members of the call.",
    required: !optional,
    content: { [json]: { schema, example: exampleOf(schemas, schema, id) } }
  }
}

const codeOf = (reference: Json, schemas: Json): string => {
  const schema = schemas[String(reference["$ref"]).replace(/^.*\//, "")]
  const properties = isJson(schema) && isJson(schema["properties"]) ? schema["properties"] : {}
  const code = properties["code"]
  return isJson(code) && isList(code["enum"]) ? String(code["enum"][0]) : ""
}

const impossible = (code: string, facts: Facts, hasBody: boolean) =>
  (code.startsWith("idempotency_") && !facts.replayed) ||
  ((code === "body_too_large" || code === "unsupported_media_type") && !hasBody) ||
  (facts.policy?._tag === "Credential" &&
    ((code === "session_required" && facts.policy.kind !== "session") ||
      (code === "key_self_only" && facts.policy.target !== "api_key")))

/** The refusal, or nothing if the call cannot answer it. */
const refusal = (schemas: Json, status: string, response: Json, facts: Facts, hasBody: boolean): Json | undefined => {
  const content = isJson(response["content"]) ? response["content"] : {}
  const media = content["application/problem+json"]
  const schema = isJson(media) && isJson(media["schema"]) ? media["schema"] : {}
  const all = (isList(schema["anyOf"]) ? schema["anyOf"] : [schema]).filter(isJson)
  const kept = all.filter((part) => !impossible(codeOf(part, schemas), facts, hasBody))
  const [only, ...others] = kept
  if (only === undefined) return undefined
  const sentences = kept.map((part) => {
    const code = codeOf(part, schemas) as keyof typeof problemCatalog // the document's problems are those of the catalog
    return `\`${code}\`: ${problemCatalog[code].title}`
  })
  return {
    description: sentences.join(" "),
    ...headersOf([
      ...(status === "401" ? ["WWW-Authenticate"] : []),
      ...(["423", "429", "503"].includes(status) ? ["Retry-After"] : []),
      ...(status === "429" ? ["RateLimit-Policy", "RateLimit"] : [])
    ]),
    content: { "application/problem+json": { schema: others.length === 0 ? only : { anyOf: kept } } }
  }
}

const headersOf = (names: ReadonlyArray<string>): Json =>
  names.length === 0
    ? {}
    : { headers: Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }])) }

const success = (schemas: Json, id: string, status: string, response: Json, facts: Facts): Json => {
  const { answer } = facts
  const description = typeof answer === "string" ? answer : answer[Number(status)]
  if (description === undefined) throw new Error(`${id} has no text for its answer ${status}.`)
  const names = [
    ...(facts.located && status === "201" ? ["Location"] : []),
    ...(facts.replayed ? ["Idempotent-Replayed"] : []),
    ...(facts.cursor ? ["Events-Cursor"] : []),
    ...(facts.alsoAs.length === 0 ? [] : ["Link"]),
    ...(facts.limit === undefined ? [] : ["RateLimit-Policy", "RateLimit"])
  ]
  const content = membersOf(response["content"]).map(([type, media]) => {
    const given = isJson(media) && isJson(media["schema"]) ? media["schema"] : {}
    if (type !== json) return [type, { schema: { type: "string", description: "Server-sent events." }, example: frame }]
    const schema = describeSchema(given, `${id}.answer`)
    return [type, { schema, example: exampleOf(schemas, schema, `${id}.answer`) }]
  })
  return {
    description,
    ...headersOf(names),
    ...(content.length === 0 ? {} : { content: Object.fromEntries([...content, ...facts.alsoAs.map(fileOf)]) })
  }
}

/** The begin of a file of each type. */
const fileExamples: Readonly<Record<string, string>> = {
  "text/csv": "occurred_at,action,outcome,…\r\n2026-11-23T09:30:00.000Z,project.created,done,…\r\n",
  "application/x-ndjson": '{"id":"01980f43-4a00-7f32-9c7d-5e6f7a8b9c0d","action":"project.created", …}\n'
}

/** The answer as a file of this type. */
const fileOf = (type: string): readonly [string, Json] => {
  const schema: Json = { type: "string", description: "The same page as a file." }
  return [type, { schema, example: fileExamples[type] ?? "" }]
}

const frame =
  'id: 01M80M4CEC9X5B7D1F3H5J7K9M\nevent: operation.updated.v1\ndata: {"id":"01M80M4CEC9X5B7D1F3H5J7K9M", …}\n\n'

/** `schemas` are the described schemas of the document. */
export const describeOperation = (schemas: Json, endpoint: HttpApiEndpoint.Top, operation: Json): Json => {
  const id = String(operation["operationId"])
  const facts = factsOf(endpoint)
  const { description, parameters, requestBody: body, responses, summary, tags, ...rest } = operation
  const hasBody = isJson(body)
  const other = otherSpellings.includes(id)
  const answers = membersOf(responses).flatMap(([status, response]) => {
    if (!isJson(response)) return []
    const described =
      Number(status) < 400
        ? success(schemas, id, status, response, facts)
        : refusal(schemas, status, response, facts, hasBody)
    return described === undefined ? [] : [[status, described]]
  })
  const given = [...(isList(parameters) ? parameters.filter(isJson) : []), ...(facts.replayed ? [idempotencyKey] : [])]
  return {
    ...rest,
    tags: other ? ["Aliases"] : tags,
    summary,
    description: descriptionOf(description, facts),
    ...(other || facts.policy?._tag === "Proxy" ? { "x-internal": true } : {}),
    parameters: given.map((it) => parameter(it, id)),
    ...(hasBody ? { requestBody: requestBody(schemas, id, body) } : {}),
    responses: Object.fromEntries(answers)
  }
}
