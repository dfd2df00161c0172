/** The members of bodies that say at their schema what they mean (`means` of the core). */
import type { MemberEntry } from "@narthex/core"
import type { SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"
import { Api } from "../Api.ts"

const meaningOf = ({ context }: SchemaAST.AST): MemberEntry | undefined =>
  // Only `means` sets this annotation.
  context?.annotations?.["means"] as MemberEntry | undefined

/** Adds the members below a schema, under the name of the schema or else under `owner`. */
const collect = (found: Map<string, MemberEntry>, ast: SchemaAST.AST, owner: string): void => {
  const name = ast.annotations?.["identifier"]
  const holder = typeof name === "string" ? name : owner
  const wire = ast.encoding?.at(-1)?.to
  if (wire !== undefined) {
    collect(found, wire, holder)
    return
  }
  switch (ast._tag) {
    case "Objects":
      for (const { name, type } of ast.propertySignatures) {
        const entry = meaningOf(type)
        if (entry !== undefined) found.set(`${holder}.${String(name)}`, entry)
        collect(found, type, String(name))
      }
      break
    case "Arrays":
      for (const item of ast.rest) collect(found, item, holder)
      break
    case "Union":
      for (const part of ast.types) collect(found, part, holder)
      break
    case "Declaration":
      for (const part of ast.typeParameters) collect(found, part, holder)
      break
  }
}

/** `Owner.member` → its meaning. The owner is that of `memberCatalog`. */
export const declaredMembers = (): ReadonlyMap<string, MemberEntry> => {
  const found = new Map<string, MemberEntry>()
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group, successes }) => {
      const id = `${group.identifier}.${endpoint.identifier}`
      for (const { schemas } of endpoint.payload.values()) for (const { ast } of schemas) collect(found, ast, id)
      for (const schemas of successes.values()) for (const { ast } of schemas) collect(found, ast, `${id}.answer`)
    }
  })
  return found
}
