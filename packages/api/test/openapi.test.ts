import { assert, describe, it } from "@effect/vitest"
import { Api, openApiDocument } from "@narthex/api"
import { endpointsOf } from "./endpointsOf.ts"

describe("the OpenAPI document", () => {
  const document = openApiDocument()

  it("the OpenAPI document lists every path of the contract", () => {
    const paths = endpointsOf(Api).map(({ endpoint }) => endpoint.path.replace(/:(\w+)/g, "{$1}"))
    assert.sameMembers(Object.keys(document.paths), [...new Set(paths)])
  })

  it("the OpenAPI document lists both paths of the collection of keys", () => {
    assert.containsAllKeys(document.paths, ["/v1/api-keys", "/v1/api-keys/"])
  })

  it("the OpenAPI document types streams as event streams", () => {
    for (const path of ["/v1/events", "/v1/projects/{project_id}/events", "/v1/proxy/changes"]) {
      const content = document.paths[path]?.get?.responses[200]?.content ?? {}
      assert.deepStrictEqual(Object.keys(content), ["text/event-stream"], path)
    }
  })

  it("the OpenAPI document types refusals as problems", () => {
    const refusal = document.paths["/v1/projects"]?.get?.responses[401]
    assert.deepStrictEqual(Object.keys(refusal?.content ?? {}), ["application/problem+json"])
  })

  it("the OpenAPI document needs a credential exactly where the policy does", () => {
    const open = endpointsOf(Api)
      .map(({ endpoint }) => ({ endpoint, item: document.paths[endpoint.path.replace(/:(\w+)/g, "{$1}")] }))
      .filter(({ endpoint, item }) => {
        const method = endpoint.method.toLowerCase()
        const operation = Object.entries(item ?? {}).find(([name]) => name === method)?.[1]
        return typeof operation === "object" && "security" in operation && operation.security.length === 0
      })
      .map(({ endpoint }) => `${endpoint.method} ${endpoint.path}`)
    assert.sameMembers(open, [
      "GET /v1/auth/providers",
      "POST /v1/auth/exchange",
      "GET /.well-known/jwks.json",
      "POST /v1/credentials/report",
      "POST /v1/cli/exchange",
      "GET /livez",
      "GET /readyz"
    ])
  })

  it("the OpenAPI document closes exactly the bodies that refuse unknown members", () => {
    const closed = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.entries(item).flatMap(([method, operation]) =>
        typeof operation === "object" &&
        "requestBody" in operation &&
        JSON.stringify(operation.requestBody).includes('"additionalProperties":false')
          ? [`${method} ${path}`]
          : []
      )
    )
    assert.sameMembers(closed, [
      "post /v1/api-keys/",
      "post /v1/api-keys",
      "post /v1/cli/authorizations",
      "patch /v1/projects/{project_id}",
      "patch /v1/projects/{project_id}/branches/{branch_id}",
      "post /v1/projects/{project_id}/branches/{branch_id}/credentials",
      "post /v1/projects/{project_id}/sandboxes",
      "patch /v1/projects/{project_id}/endpoints/{endpoint_id}",
      "post /v1/projects/{project_id}/ip-allow",
      "patch /v1/orgs/{org_id}",
      "patch /v1/orgs/{org_id}/members/{user_id}",
      "post /v1/orgs/{org_id}/invitations",
      "post /v1/orgs/{org_id}/webhooks",
      "patch /v1/orgs/{org_id}/webhooks/{webhook_id}"
    ])
    assert.notInclude(JSON.stringify(document), "x-narthex")
    assert.notInclude(JSON.stringify(document.components), '"additionalProperties":false')
  })

  it("the OpenAPI document has a summary of every call", () => {
    const silent = Object.entries(document.paths).flatMap(([path, item]) =>
      Object.values(item).flatMap((operation) =>
        typeof operation === "object" && "operationId" in operation && !operation.summary ? [path] : []
      )
    )
    assert.deepStrictEqual(silent, [])
  })
})
