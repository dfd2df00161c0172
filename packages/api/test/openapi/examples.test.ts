/** Every body of the OpenAPI document has an example that the server's own schema accepts. */
import { assert, describe, it } from "@effect/vitest"
import { Api, type ProblemCode, problems } from "@narthex/api"
import { Exit, Schema } from "effect"
import { HttpApi } from "effect/http-api"
import { isList, type Json, membersOf } from "../../src/openapi/Json.ts"
import { bodiesOf, document, isProblem, list, object, operationOf, operations } from "./described.ts"

const decodes = (schema: Schema.Top, value: unknown): boolean =>
  // The codecs of the contract need no services.
  Exit.isSuccess(
    Schema.decodeUnknownExit(Schema.toCodecJson(schema) as unknown as Schema.Codec<unknown, unknown>)(value)
  )

describe("examples of the OpenAPI document", () => {
  it("the example of every body decodes with the schema that the server uses", () => {
    const wrong: Array<string> = []
    let compared = 0
    const compare = (what: string, example: unknown, schemas: ReadonlyArray<Schema.Top>) => {
      compared++
      if (example === undefined || !schemas.some((schema) => decodes(schema, example))) wrong.push(what)
    }
    HttpApi.reflect(Api, {
      onGroup: () => {},
      onEndpoint: ({ endpoint, group, successes }) => {
        const id = `${group.identifier}.${endpoint.identifier}`
        const operation = operationOf(id)
        const body = object(object(object(operation["requestBody"])["content"])["application/json"])
        const payloads = [...endpoint.payload.values()].flatMap(({ schemas }) => schemas)
        if (payloads.length > 0) compare(`${id} body`, body["example"], payloads)
        for (const [status, schemas] of successes) {
          const content = object(object(object(operation["responses"])[String(status)])["content"])
          if (Object.keys(content).length > 0)
            compare(`${id} ${status}`, object(content["application/json"])["example"], schemas)
        }
      }
    })
    assert.isAbove(compared, 80)
    assert.deepStrictEqual(wrong, [])
  })

  it("the example of a member that may be null shows what it is otherwise", () => {
    const [example] = list(document.components.schemas["Credential"]?.["examples"])
    assert.containsAllKeys(example?.["minted_by"], ["id", "email"])
  })

  it("the example of every problem decodes as that problem, and has what the server sends", () => {
    for (const [name, schema] of Object.entries(document.components.schemas).filter(([it]) => isProblem(it))) {
      const [example = {}] = list(schema["examples"])
      const code = String(example["code"]) as ProblemCode // `problems` is indexed by it, and the next line fails if it has none
      assert.isTrue(decodes(problems[code], example), name)
      assert.containsAllKeys(example, ["type", "title", "status", "detail", "code", "request_id"], name)
    }
  })

  it("every answer with a problem has a schema with an example", () => {
    const bare = operations.flatMap((operation) =>
      bodiesOf(operation).flatMap(({ media, what }) => {
        const schema = object(media["schema"])
        const parts = isList(schema["anyOf"]) ? list(schema["anyOf"]) : [schema]
        const shown = parts.every((part) => {
          const name = String(part["$ref"] ?? "").replace(/^.*\//, "")
          return list(document.components.schemas[name]?.["examples"]).length === 1
        })
        return media["example"] !== undefined || shown ? [] : [`${operation.name} ${what}`]
      })
    )
    assert.deepStrictEqual(bare, [])
  })

  it("ids in examples have the form that their pattern says", () => {
    let matched = 0
    const check = (given: Json, value: unknown, where: string): void => {
      const schema = document.components.schemas[String(given["$ref"] ?? "").replace(/^.*\//, "")] ?? given
      const pattern = [schema, ...list(schema["anyOf"])].find((part) => typeof part["pattern"] === "string")?.[
        "pattern"
      ]
      if (typeof value === "string" && typeof pattern === "string") {
        matched++
        assert.match(value, new RegExp(pattern, "u"), where)
      }
      for (const [name, member] of membersOf(schema["properties"]))
        check(object(member), object(value)[name], `${where}.${name}`)
      if (isList(value)) for (const item of value) check(object(schema["items"]), item, `${where}[]`)
    }
    for (const operation of operations) {
      for (const it of list(operation.operation["parameters"]))
        check(object(it["schema"]), it["example"], `${operation.name} ${it["name"]}`)
      for (const { media, what } of bodiesOf(operation))
        if (media["example"] !== undefined)
          check(object(media["schema"]), media["example"], `${operation.name} ${what}`)
    }
    assert.isAbove(matched, 250)
  })
})
