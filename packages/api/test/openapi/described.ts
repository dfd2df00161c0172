/** The parts of the OpenAPI document, for the tests of its texts, examples and forms. */
import { openApiDocument } from "@narthex/api"
import { isJson, isList, type Json, membersOf } from "../../src/openapi/Json.ts"

export const document = JSON.parse(JSON.stringify(openApiDocument())) as {
  readonly servers: ReadonlyArray<Json>
  readonly tags: ReadonlyArray<Json>
  readonly paths: Json
  readonly components: { readonly schemas: Record<string, Json>; readonly securitySchemes: Record<string, Json> }
}

export interface Operation {
  readonly id: string
  readonly name: string
  readonly operation: Json
}

export const operations: ReadonlyArray<Operation> = membersOf(document.paths).flatMap(([path, item]) =>
  membersOf(item).flatMap(([method, operation]) =>
    isJson(operation)
      ? [{ id: String(operation["operationId"]), name: `${method.toUpperCase()} ${path}`, operation }]
      : []
  )
)

export const operationOf = (id: string): Json => operations.find((it) => it.id === id)?.operation ?? {}
export const object = (value: unknown): Json => (isJson(value) ? value : {})
export const list = (value: unknown): ReadonlyArray<Json> => (isList(value) ? value.filter(isJson) : [])
export const said = (value: unknown) => typeof value === "string" && value.length > 2

/** Every body of an operation: the request's and each answer's. */
export const bodiesOf = ({ operation }: Operation): ReadonlyArray<{ readonly what: string; readonly media: Json }> => [
  ...membersOf(object(operation["requestBody"])["content"]).map(([, media]) => ({
    what: "body",
    media: object(media)
  })),
  ...membersOf(operation["responses"]).flatMap(([status, response]) =>
    membersOf(object(response)["content"]).map(([, media]) => ({ what: status, media: object(media) }))
  )
]

/** Every member of a schema, with what holds it. */
const membersIn = (schema: Json, owner: string, where: string): ReadonlyArray<[string, string, string, Json]> => [
  ...membersOf(schema["properties"]).flatMap(
    ([name, value]): ReadonlyArray<[string, string, string, Json]> => [
      [owner, name, `${where}.${name}`, object(value)],
      ...membersIn(object(value), name, `${where}.${name}`)
    ]
  ),
  ...list(schema["anyOf"]).flatMap((part) => membersIn(part, owner, where)),
  ...(isJson(schema["items"]) ? membersIn(schema["items"], owner, `${where}[]`) : [])
]

export const isProblem = (name: string) => name.endsWith("Problem")

export const allMembers = [
  ...Object.entries(document.components.schemas).flatMap(([name, schema]) =>
    membersIn(schema, isProblem(name) ? "Problem" : name, name)
  ),
  ...operations.flatMap((operation) =>
    bodiesOf(operation).flatMap(({ media, what }) =>
      membersIn(
        object(media["schema"]),
        what === "body" ? operation.id : `${operation.id}.answer`,
        `${operation.id} ${what}`
      )
    )
  )
]
