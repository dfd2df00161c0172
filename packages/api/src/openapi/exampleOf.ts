/** An example of a body: that of each member from `memberCatalog`, and of everything else the first value of its type. */
import { isJson, isList, type Json, membersOf } from "./Json.ts"
import { memberEntry } from "./memberCatalog.ts"

const referenced = (schema: Json): string | undefined => {
  const reference = schema["$ref"]
  return typeof reference === "string" ? reference.slice(reference.lastIndexOf("/") + 1) : undefined
}

/** `schemas` are the named schemas of the document; `owner` is what members are looked up under. */
export const exampleOf = (schemas: Json, schema: unknown, owner: string): unknown => {
  if (!isJson(schema)) return null
  const name = referenced(schema)
  if (name !== undefined) return exampleOf(schemas, schemas[name], name)
  if (isList(schema["anyOf"])) return exampleOf(schemas, schema["anyOf"][0], owner)
  if (isList(schema["enum"])) return schema["enum"][0]
  switch (schema["type"]) {
    case "object":
      return Object.fromEntries(
        membersOf(schema["properties"]).flatMap(([member, it]) => {
          const entry = memberEntry(owner, member)
          if (entry === undefined || entry.length === 1) return [[member, exampleOf(schemas, it, member)]]
          return entry[1] === undefined ? [] : [[member, entry[1]]]
        })
      )
    case "array":
      return [exampleOf(schemas, schema["items"], owner)]
    case "boolean":
      return false
    case "integer":
    case "number":
      return schema["minimum"] ?? 1
    case "string":
      return "text"
    default:
      return null
  }
}
