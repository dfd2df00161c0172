/**
 * The types of the client with their texts, made of the OpenAPI document: what an editor shows for a call and for a
 * member of an answer. `packages/api/test/client/types.test.ts` compares them with the schemas of the contract.
 */
import { Api, openApiDocument } from "@narthex/api"
import { Schema, SchemaAST } from "effect"
import { HttpApi } from "effect/http-api"

interface DocumentedSchema {
  readonly $ref?: string
  readonly anyOf?: ReadonlyArray<DocumentedSchema>
  readonly type?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly items?: DocumentedSchema
  readonly properties?: Readonly<Record<string, DocumentedSchema>>
  readonly required?: ReadonlyArray<string>
  readonly description?: string
  readonly additionalProperties?: { readonly type?: string }
}

interface DocumentedCall {
  readonly operationId: string
  readonly summary: string
  readonly tags: ReadonlyArray<string>
  readonly responses: Readonly<
    Record<
      string,
      {
        readonly description: string
        readonly content?: Readonly<Record<string, { readonly schema: DocumentedSchema }>>
      }
    >
  >
}

const header = "// Generated from the contract, packages/api/src/groups/, by scripts/docs.ts: change it there."

const pascal = (name: string) => name.replaceAll(/(?:^|[_.])(\w)/g, (_, letter: string) => letter.toUpperCase())

/** A comment of this text, in lines of at most 120 characters. */
const comment = (indent: string, text: string | undefined): ReadonlyArray<string> => {
  if (text === undefined || text === "") throw new Error("The document describes every call, type and member.")
  const escaped = text.replaceAll("*/", "*\\/")
  if (`${indent}/** ${escaped} */`.length <= 120) return [`${indent}/** ${escaped} */`]
  const lines: Array<string> = []
  for (const word of escaped.split(" ")) {
    const last = lines.at(-1)
    if (last === undefined || `${indent} * ${last} ${word}`.length > 120) lines.push(word)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return [`${indent}/**`, ...lines.map((line) => `${indent} * ${line}`), `${indent} */`]
}

/** Secrets are `null` on a replay only, which rejects. */
const secrets = ["secret", "password", "connection_uri"]
const replayed = "; `null` in a repeated answer"

const keyOf = (members: ReadonlyArray<string>) => members.toSorted().join(" ")

/** Members of an object → those that the client never leaves out, because it knows their default. */
const presentMembers = (): ReadonlyMap<string, ReadonlyArray<string>> => {
  const found = new Map<string, ReadonlyArray<string>>()
  const walk = (ast: SchemaAST.AST): void => {
    if (SchemaAST.isUnion(ast)) for (const type of ast.types) walk(type)
    if (SchemaAST.isArrays(ast)) for (const type of ast.rest) walk(type)
    if (!SchemaAST.isObjects(ast)) return
    const present = ast.propertySignatures.filter(({ type }) => type.context?.isOptional !== true)
    found.set(
      keyOf(ast.propertySignatures.map(({ name }) => String(name))),
      present.map(({ name }) => String(name))
    )
    for (const { type } of ast.propertySignatures) walk(type)
  }
  HttpApi.reflect(Api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint }) => {
      for (const answer of endpoint.success) walk(Schema.toType(answer).ast)
    }
  })
  return found
}

/** Types of objects by their names; one that is anonymous gets the name of where it is met first. */
class ObjectTypes {
  private readonly present = presentMembers()
  private readonly schemas: Readonly<Record<string, DocumentedSchema>>
  private readonly names = new Map<string, string>()
  readonly texts = new Map<string, string>()

  constructor(schemas: Readonly<Record<string, DocumentedSchema>>) {
    this.schemas = schemas
  }

  /** The type of a schema that `name` would be the name of. */
  typeOf(name: string, { description = "", ...schema }: DocumentedSchema): string {
    const { $ref, additionalProperties, anyOf, enum: literals, items, properties, type } = schema
    if ($ref !== undefined) return this.named($ref.split("/").at(-1) ?? "")
    if (anyOf !== undefined) {
      const types = [
        ...new Set(anyOf.map((part) => this.typeOf(this.variantOf(name, part, anyOf), { description, ...part })))
      ]
      // A text that is open has values that are known.
      return types.filter((it) => !(types.includes("string") && it.startsWith('"'))).join(" | ")
    }
    if (literals !== undefined) return literals.map((literal) => JSON.stringify(literal)).join(" | ")
    if (items !== undefined) return `ReadonlyArray<${this.typeOf(name, { description, ...items })}>`
    if (properties !== undefined) return this.anonymous(name, { ...schema, description })
    if (type === "object")
      return `Readonly<Record<string, ${additionalProperties?.type === "string" ? "string" : "Schema.Json"}>>`
    return type === "integer" ? "number" : (type ?? "unknown")
  }

  private variantOf(name: string, { properties }: DocumentedSchema, all: ReadonlyArray<DocumentedSchema>): string {
    const [kind] = properties?.["type"]?.enum ?? []
    return all.length > 2 && typeof kind === "string" ? `${pascal(kind)}${name}` : name
  }

  private named(name: string): string {
    const schema = this.schemas[name]
    if (schema !== undefined && !this.texts.has(name)) this.write(name, schema)
    return name
  }

  private anonymous(name: string, schema: DocumentedSchema): string {
    const { description: _, ...structure } = schema
    const key = JSON.stringify(structure)
    const known = this.names.get(key)
    if (known !== undefined) return known
    this.names.set(key, name)
    this.write(name, schema)
    return name
  }

  private write(name: string, { description, properties = {}, required: sent = [] }: DocumentedSchema) {
    this.texts.set(name, "")
    const required = this.present.get(keyOf(Object.keys(properties))) ?? sent
    const members = Object.entries(properties).flatMap(([member, schema]) => {
      const own = this.schemas[pascal(member)] === undefined ? pascal(member) : `${name}${pascal(member)}`
      const type = this.typeOf(own, schema)
      const shown = secrets.includes(member) ? type.replace(" | null", "") : type
      return [
        ...comment("  ", schema.description?.replace(replayed, "")),
        `  readonly ${member}${required.includes(member) ? "" : "?"}: ${shown}`
      ]
    })
    this.texts.set(name, [...comment("", description), `export type ${name} = {`, ...members, "}"].join("\n"))
  }
}

const json = "application/json"

/** The forms of an answer. A client asks for JSON where there are others. */
const mediaOf = <A>(content: Readonly<Record<string, A>>) => {
  const all = Object.entries(content)
  return Object.hasOwn(content, json) ? all.filter(([media]) => media === json) : all
}

const typesOf = () => {
  // The document is JSON, of which these members are read.
  const document = openApiDocument() as unknown as {
    readonly paths: Readonly<Record<string, Readonly<Record<string, DocumentedCall>>>>
    readonly tags: ReadonlyArray<{ readonly name: string; readonly description?: string }>
    readonly components: { readonly schemas: Readonly<Record<string, DocumentedSchema>> }
  }
  const objects = new ObjectTypes(document.components.schemas)
  const tags = new Map(document.tags.map(({ description, name }) => [name, description]))
  const groups = new Map<string, { readonly about: string; readonly calls: Array<string> }>()
  for (const call of Object.values(document.paths).flatMap((methods) => Object.values(methods))) {
    const [group = "", name = ""] = call.operationId.split(".")
    const answers = Object.entries(call.responses)
      .filter(([status]) => status < "300")
      .flatMap(([, { content = {}, description }]) =>
        mediaOf(content).map(([media, { schema }]) =>
          media === json
            ? objects.typeOf(`${pascal(call.operationId)}Answer`, { description, ...schema })
            : "ReadableStream<Uint8Array>"
        )
      )
      .map((type) => type.replaceAll(/\b[A-Z]\w*/g, (it) => (objects.texts.has(it) ? `Answers.${it}` : it)))
    const output = answers.length === 0 ? "void" : [...new Set(answers)].join(" | ")
    const about = tags.get(call.tags[0] ?? "") ?? ""
    const found = groups.get(group) ?? { about, calls: [] }
    groups.set(group, found)
    found.calls.push(
      ...comment("  ", `${call.summary}.`),
      `  readonly ${name}: Method<"${group}", "${name}", ${output}>`
    )
  }
  return { objects, groups }
}

const answersModule = () => {
  const { objects } = typesOf()
  return [
    header,
    "/** Answers of the promise client's calls, as JSON. */",
    'import type { Schema } from "effect"',
    "",
    [...objects.texts.entries()]
      .toSorted(([one], [other]) => (one < other ? -1 : 1))
      .map(([, text]) => text)
      .join("\n\n"),
    ""
  ].join("\n")
}

/** Further members of groups that are no calls of the contract. */
const following: Readonly<Record<string, ReadonlyArray<string>>> = {
  events: ["Following"],
  operations: ["OperationClient"]
}

const clientModule = () => {
  const { groups } = typesOf()
  return [
    header,
    "/** The type of the promise client: its calls by their groups. */",
    'import type * as Answers from "./answers.ts"',
    'import type { Following, OperationClient } from "./following.ts"',
    'import type { Method } from "./Method.ts"',
    "",
    ...[...groups].flatMap(([group, { about, calls }]) => [
      ...comment("", about),
      `export type ${pascal(group)}Calls = {`,
      ...calls,
      "}",
      ""
    ]),
    "/** The client with promises: every call of the contract, and what follows over time. */",
    "export type Client = {",
    ...[...groups].flatMap(([group, { about }]) => [
      ...comment("  ", about),
      `  readonly ${group}: ${[`${pascal(group)}Calls`, ...(following[group] ?? [])].join(" & ")}`
    ]),
    "}",
    ""
  ].join("\n")
}

/** file, from the root → what it must hold */
export const clientTypeModules: Readonly<Record<string, () => string>> = {
  "packages/api/src/client/promises/answers.ts": answersModule,
  "packages/api/src/client/promises/PromiseClient.ts": clientModule
}
