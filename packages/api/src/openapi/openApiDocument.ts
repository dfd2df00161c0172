/**
 * The OpenAPI document of the API: what the framework derives from the contract, with everything that a reader and a
 * generator need in addition (docs/design/api.md, The document).
 */
import { HttpApi, type HttpApiEndpoint, OpenApi } from "effect/http-api"
import { Api } from "../Api.ts"
import { type ProblemCode, problemCatalog } from "../problems/problemCatalog.ts"
import { describeOperation } from "./describeOperation.ts"
import { describeSchema } from "./describeSchema.ts"
import { groupOrder, headers, info, securitySchemes, servers } from "./documentParts.ts"
import { exampleOf } from "./exampleOf.ts"
import { isJson, isList, type Json, membersOf } from "./Json.ts"
import { schemaCatalog } from "./schemaCatalog.ts"

/** Classes get the name of their encoded side; the wire has no other. */
const withPlainNames = (document: unknown): Json => {
  const parsed: unknown = JSON.parse(
    JSON.stringify(document).replace(/(#\/components\/schemas\/\w+?)Encoded(?=")/g, "$1")
  )
  const plain = isJson(parsed) ? parsed : {}
  const components = isJson(plain["components"]) ? plain["components"] : {}
  const schemas = membersOf(components["schemas"]).map(([name, schema]) => [name.replace(/Encoded$/, ""), schema])
  return { ...plain, components: { ...components, schemas: Object.fromEntries(schemas) } }
}

const problemOf = (schema: Json): ProblemCode | undefined => {
  const properties = isJson(schema["properties"]) ? schema["properties"] : {}
  const code = properties["code"]
  const [value] = isJson(code) && isList(code["enum"]) ? code["enum"] : []
  return typeof value === "string" && Object.hasOwn(problemCatalog, value) ? (value as ProblemCode) : undefined // an own key
}

/** Members of every problem that the server sends. */
const alwaysSent = ["type", "title", "status", "detail", "code", "request_id"]

const describedSchema = (name: string, schema: Json): Json => {
  const code = problemOf(schema)
  if (code === undefined) return { ...describeSchema(schema, name), description: schemaCatalog[name] }
  const { instance: _, ...properties } = isJson(schema["properties"]) ? schema["properties"] : {}
  return {
    ...describeSchema({ ...schema, properties }, "Problem"),
    required: alwaysSent,
    description: problemCatalog[code].title
  }
}

/** A problem as the server sends it. */
const problemExample = (code: ProblemCode, example: Json): Json => {
  const { next, status, title } = problemCatalog[code]
  return { ...example, type: `urn:narthex:problem:${code}`, title, status, detail: `${title} ${next}`, code }
}

const withExample = (schemas: Json, name: string, schema: Json): Json => {
  const code = problemOf(schema)
  const example = exampleOf(schemas, schema, code === undefined ? name : "Problem")
  return { ...schema, examples: [code === undefined || !isJson(example) ? example : problemExample(code, example)] }
}

const endpointsById = (): ReadonlyMap<string, HttpApiEndpoint.Top> => {
  const found = new Map<string, HttpApiEndpoint.Top>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    // The reflected endpoint has the members of every endpoint.
    onEndpoint: ({ endpoint, group }) =>
      void found.set(`${group.identifier}.${endpoint.identifier}`, endpoint as unknown as HttpApiEndpoint.Top)
  })
  return found
}

const describedTags = (tags: unknown): ReadonlyArray<Json> => {
  const given = new Map((isList(tags) ? tags.filter(isJson) : []).map((tag) => [tag["name"], tag]))
  given.set("Aliases", {
    name: "Aliases",
    description: "Paths for clients that cannot send the usual spelling. They do the same as the calls that they name."
  })
  return groupOrder.flatMap(({ tags: names }) => names.map((name): Json => given.get(name) ?? { name }))
}

/** The document as a value of JSON. It is made on each call: keep it. */
export const openApiDocument = (): OpenApi.OpenAPISpec => {
  const derived = withPlainNames(OpenApi.fromApi(Api))
  const endpoints = endpointsById()
  const components = isJson(derived["components"]) ? derived["components"] : {}
  const described = Object.fromEntries(
    membersOf(components["schemas"])
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .flatMap(([name, schema]) => (isJson(schema) ? [[name, describedSchema(name, schema)]] : []))
  )
  const schemas = Object.fromEntries(
    membersOf(described).map(([name, schema]) => [name, isJson(schema) ? withExample(described, name, schema) : schema])
  )
  const paths = membersOf(derived["paths"]).map(([path, item]) => [
    path,
    Object.fromEntries(
      membersOf(item).map(([method, operation]) => {
        const endpoint = isJson(operation) ? endpoints.get(String(operation["operationId"])) : undefined
        return [method, isJson(operation) && endpoint ? describeOperation(described, endpoint, operation) : operation]
      })
    )
  ])
  const document: Json = {
    openapi: derived["openapi"],
    info,
    servers,
    security: derived["security"],
    tags: describedTags(derived["tags"]),
    "x-tagGroups": groupOrder,
    paths: Object.fromEntries(paths),
    components: { schemas, securitySchemes, headers }
  }
  return document as unknown as OpenApi.OpenAPISpec // the same document with more members
}
