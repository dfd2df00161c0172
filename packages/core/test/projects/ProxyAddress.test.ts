import { assert, describe, it } from "@effect/vitest"
import { Redacted } from "effect"
import { EndpointId } from "../../src/Ids.ts"
import { connectionUri, type ProxyLocation, viewEndpoint } from "../../src/records/projects/ProxyAddress.ts"
import { aBranchId, anEndpoint, aProjectId } from "../../testing/records.ts"

const endpoint = anEndpoint(aProjectId(), aBranchId(), {
  id: EndpointId.make("ep-1"),
  address: "/run/x",
  generation: 7
})
const here: ProxyLocation = { domain: "localhost", host: "127.0.0.1", port: 5442, tls: false }
const uriAt = (rest: Partial<ProxyLocation>) =>
  Redacted.value(connectionUri({ ...here, ...rest }, endpoint, "role_a", Redacted.make("pw")))

describe("connectionUri", () => {
  it.each([
    [{}, "postgresql://role_a:pw@127.0.0.1:5442/postgres?options=endpoint%3Dep-1"],
    [{ host: "::1" }, "postgresql://role_a:pw@[::1]:5442/postgres?options=endpoint%3Dep-1"],
    [{ tls: true }, "postgresql://role_a:pw@127.0.0.1:5442/postgres?options=endpoint%3Dep-1&sslmode=require"],
    [{ domain: "db.example", port: 5432 }, "postgresql://role_a:pw@ep-1.eu-1.db.example:5432/postgres"],
    [{ domain: "db.example", tls: true }, "postgresql://role_a:pw@ep-1.eu-1.db.example:5442/postgres?sslmode=require"]
  ])("at %j is %s", (proxy, expected) => {
    assert.strictEqual(uriAt(proxy), expected)
    const parsed = new URL(uriAt(proxy))
    assert.strictEqual(parsed.password, "pw")
    const options = parsed.searchParams.get("options")
    assert.strictEqual(options, "domain" in proxy ? null : "endpoint=ep-1")
  })
})

describe("the credential in a connection string", () => {
  it("a password with dollar signs is unchanged", () => {
    const uri = connectionUri(here, endpoint, "role_a", Redacted.make("a$&b$$c"))
    assert.include(Redacted.value(uri), "://role_a:a$&b$$c@")
  })
})

describe("viewEndpoint", () => {
  it("the view of an endpoint has its host name and not the address of its compute", () => {
    const view = viewEndpoint(here, endpoint)
    assert.strictEqual(view.host, "ep-1.eu-1.localhost")
    assert.strictEqual(
      view.connection_template,
      "postgresql://{role}:{password}@127.0.0.1:5442/postgres?options=endpoint%3Dep-1"
    )
    for (const hidden of ["address", "generation", "connections"]) assert.notProperty(view, hidden)
  })
})
