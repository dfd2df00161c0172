/** Parts of the OpenAPI document that generators of clients and of pages rely on. */
import { assert, describe, it } from "@effect/vitest"
import type { Json } from "../../src/openapi/Json.ts"
import { allMembers, document, list, object, operationOf, operations } from "./described.ts"

describe("the OpenAPI document for generators", () => {
  it("the security schemes are spelled bearer, in small letters", () => {
    for (const scheme of Object.values(document.components.securitySchemes))
      assert.deepInclude(scheme, { type: "http", scheme: "bearer" })
    assert.sameMembers(Object.keys(document.components.securitySchemes), ["bearer", "proxy_token"])
  })

  it("the servers are the one that serves the document, and one to name", () => {
    assert.deepStrictEqual(
      document.servers.map(({ url }) => url),
      ["/", "{origin}"]
    )
  })

  it("every time is a date-time, and nothing else is", () => {
    const dated = allMembers.filter(([, , , schema]) => JSON.stringify(schema).includes('"format":"date-time"'))
    const textual = ({ $ref, properties, ...schema }: Json) =>
      $ref === undefined && properties === undefined && JSON.stringify(schema).includes('"type":"string"')
    for (const [, name, where, schema] of allMembers)
      if (/_at$/.test(name) && textual(schema)) assert.include(JSON.stringify(schema), '"date-time"', where)
    assert.isAbove(dated.length, 40)
  })

  it("every id in a path has its pattern, and limit is a number with bounds", () => {
    for (const { name, operation } of operations)
      for (const it of list(operation["parameters"])) {
        if (it["in"] === "path" && String(it["name"]).endsWith("_id"))
          assert.isString(object(it["schema"])["pattern"], `${name} ${it["name"]}`)
        if (it["name"] === "limit")
          assert.deepStrictEqual(it["schema"], { type: "integer", minimum: 1, maximum: 1000, default: 200 })
      }
  })

  it("Idempotency-Key is a parameter of every change that replays, and of no other call", () => {
    const takes = (id: string) =>
      list(operationOf(id)["parameters"]).some((it) => it["name"] === "Idempotency-Key" && it["in"] === "header")
    for (const { id, name } of operations) {
      const replays =
        /^(POST|PATCH|DELETE) /.test(name) &&
        !/^(auth\.(switchOrg|endSession|refresh|logout|exchange)|cli\.|credentials\.|proxy\.)/.test(id)
      assert.strictEqual(takes(id), replays, id)
    }
  })

  it("a refusal that a call cannot answer with is not listed", () => {
    const answers = (id: string) => Object.keys(object(operationOf(id)["responses"]))
    for (const status of ["409", "413", "415"]) assert.notInclude(answers("projects.list"), status)
    assert.includeMembers(answers("projects.create"), ["409", "413", "415", "422", "429"])
    assert.notInclude(JSON.stringify(operationOf("projects.create")), "SessionRequiredProblem")
    assert.include(JSON.stringify(operationOf("orgs.create")), "SessionRequiredProblem")
    assert.include(JSON.stringify(operationOf("apiKeys.revoke")), "KeySelfOnlyProblem")
  })

  it("calls with a rate limit name its headers, 201 names Location, and reads name Events-Cursor", () => {
    const headersAt = (id: string, status: string) =>
      Object.keys(object(object(object(operationOf(id)["responses"])[status])["headers"]))
    assert.sameMembers(headersAt("projects.create", "201"), [
      "Location",
      "Idempotent-Replayed",
      "RateLimit-Policy",
      "RateLimit"
    ])
    assert.sameMembers(headersAt("projects.list", "200"), ["Events-Cursor"])
    assert.sameMembers(headersAt("projects.list", "429"), ["Retry-After", "RateLimit-Policy", "RateLimit"])
    assert.sameMembers(headersAt("projects.list", "401"), ["WWW-Authenticate"])
  })

  it("a body that may be missing is not required, and is not null", () => {
    const body = object(operationOf("branches.create")["requestBody"])
    assert.isFalse(body["required"])
    assert.strictEqual(object(object(object(body["content"])["application/json"])["schema"])["type"], "object")
    assert.isTrue(object(operationOf("projects.create")["requestBody"])["required"])
  })

  it("calls for people come first; other spellings and calls of proxies are internal and last", () => {
    const tags = document.tags.map(({ name }) => String(name))
    assert.strictEqual(tags[0], "Projects")
    assert.deepStrictEqual(tags.slice(-2), ["Aliases", "Proxy"])
    const used = new Set(operations.flatMap(({ operation }) => operation["tags"] as ReadonlyArray<string>)) // a list of names
    assert.sameMembers([...used], tags)
    const internal = operations.filter(({ operation }) => operation["x-internal"] === true).map(({ id }) => id)
    assert.sameMembers(internal, [
      "apiKeys.listBare",
      "apiKeys.createBare",
      "ipAllow.removeSplit",
      "proxy.resolve",
      "proxy.allowlists",
      "proxy.changes",
      "proxy.wake",
      "proxy.cancel",
      "proxy.activity",
      "proxy.refusals"
    ])
  })
})
