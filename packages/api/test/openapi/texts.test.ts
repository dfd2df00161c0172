/** Every part of the OpenAPI document has a text, from catalogs without idle rows. */
import { assert, describe, it } from "@effect/vitest"
import { Api } from "@narthex/api"
import { OpenApi } from "effect/http-api"
import { membersOf } from "../../src/openapi/Json.ts"
import { declaredEntry, memberCatalog } from "../../src/openapi/memberCatalog.ts"
import { parameterCatalog } from "../../src/openapi/parameterCatalog.ts"
import { schemaCatalog } from "../../src/openapi/schemaCatalog.ts"
import { endpointsOf } from "../endpointsOf.ts"
import { allMembers, document, isProblem, list, object, operations, said } from "./described.ts"

describe("texts of the OpenAPI document", () => {
  it("every operation of the contract has a summary and a description that says who may call it", () => {
    assert.strictEqual(operations.length, endpointsOf(Api).length)
    const silent = operations.filter(
      ({ operation }) =>
        !said(operation["summary"]) ||
        !/permission|credential|session token|token of proxies/.test(String(operation["description"]))
    )
    assert.deepStrictEqual(silent, [])
  })

  it("every parameter has a description and an example", () => {
    const parameters = operations.flatMap(({ name, operation }) =>
      list(operation["parameters"]).map((it) => ({ name: `${name} ${it["name"]}`, it }))
    )
    assert.isAtLeast(parameters.length, 150)
    assert.deepStrictEqual(
      parameters.filter(({ it }) => !said(it["description"]) || it["example"] === undefined),
      []
    )
  })

  it("every member of every body has a description", () => {
    assert.isAbove(allMembers.length, 500)
    assert.deepStrictEqual(
      allMembers.filter(([, , , schema]) => !said(schema["description"])).map(([, , where]) => where),
      []
    )
  })

  it("every schema has a description and an example", () => {
    const silent = Object.entries(document.components.schemas).filter(
      ([, schema]) => !said(schema["description"]) || list(schema["examples"]).length !== 1
    )
    assert.deepStrictEqual(silent, [])
  })

  it("every answer has a description that says more than that it is one", () => {
    const silent = operations.flatMap(({ name, operation }) =>
      membersOf(operation["responses"]).flatMap(([status, response]) =>
        /^(Success|<No Content>|Accepted|)$/.test(String(object(response)["description"] ?? ""))
          ? [`${name} ${status}`]
          : []
      )
    )
    assert.deepStrictEqual(silent, [])
  })

  it("every row of the catalogs is used", () => {
    const used = new Set(
      allMembers
        .filter(([owner, name]) => declaredEntry(owner, name) === undefined)
        .map(([owner, name]) => (memberCatalog[`${owner}.${name}`] === undefined ? name : `${owner}.${name}`))
    )
    const named = operations.flatMap(({ id, operation }) =>
      list(operation["parameters"]).map(({ name }) =>
        parameterCatalog[`${id}.${name}`] === undefined ? String(name) : `${id}.${name}`
      )
    )
    assert.sameMembers([...used], Object.keys(memberCatalog))
    assert.sameMembers([...new Set(named)], Object.keys(parameterCatalog))
    assert.sameMembers(
      Object.keys(document.components.schemas).filter((name) => !isProblem(name)),
      Object.keys(schemaCatalog)
    )
  })

  it("no schema is called after its encoding", () => {
    assert.notMatch(JSON.stringify(document), /Encoded"/)
    assert.include(JSON.stringify(OpenApi.fromApi(Api)), 'ProblemEncoded"')
  })
})
