import { assert, describe, it } from "@effect/vitest"
import { canonicalIssuer, describes, isTrustedUrl, mayVouch, speaksFor } from "../../src/sessions/OpenIdProvider.ts"

const google = "https://accounts.google.com"
const common = "https://login.microsoftonline.com/common/v2.0"
const tenant = "72f988bf-86f1-41af-91ab-2d7cd011db47"
const other = "9188040d-6c67-4c5b-b112-36a304b66dad"
const entra = (id: string) => `https://login.microsoftonline.com/${id}/v2.0`

describe("an issuer", () => {
  it.each([
    [google, { iss: google }, true],
    [google, { iss: "accounts.google.com" }, true],
    [google, { iss: "http://accounts.google.com" }, false],
    ["https://other.example", { iss: "other.example" }, false],
    [common, { iss: entra(tenant), tid: tenant }, true],
    [common, { iss: entra(tenant), tid: other }, false],
    [common, { iss: entra(tenant) }, false],
    [common, { iss: common, tid: "common" }, false],
    [common, { iss: entra("{tenantid}"), tid: "{tenantid}" }, false],
    [common, { iss: entra(`${tenant}/../x`), tid: `${tenant}/../x` }, false],
    [entra(tenant), { iss: entra(tenant), tid: tenant }, true],
    [entra(tenant), { iss: entra(other), tid: other }, false]
  ] as const)("%s and the claims %j: its own word? %s", (issuer, claims, own) => {
    assert.strictEqual(speaksFor(issuer, claims), own)
  })

  it("an issuer has one canonical form, whichever the token used", () => {
    assert.strictEqual(canonicalIssuer(google, { iss: "accounts.google.com" }), google)
    assert.strictEqual(canonicalIssuer(common, { iss: entra(tenant) }), entra(tenant))
  })

  it("an issuer is the one that its document names, or Entra's template for the shared endpoints", () => {
    assert.isTrue(describes(google, google))
    assert.isFalse(describes("accounts.google.com", google))
    assert.isTrue(describes(entra("{tenantid}"), common))
    assert.isFalse(describes(entra("{tenantid}"), entra(tenant)))
  })

  it("a token of an issuer is verified by that issuer's keys only", () => {
    const claims = { iss: entra(tenant), tid: tenant }
    assert.isTrue(mayVouch({}, claims))
    assert.isTrue(mayVouch({ issuer: entra("{tenantid}") }, claims))
    assert.isTrue(mayVouch({ issuer: entra(tenant) }, claims))
    assert.isFalse(mayVouch({ issuer: entra(other) }, claims))
    assert.isFalse(mayVouch({ issuer: 1 }, claims))
  })

  it.each([
    ["https://id.example", true],
    ["https://id.example/tenant/v2.0", true],
    ["http://127.0.0.1:4402", true],
    ["http://127.8.9.1", true],
    ["http://[::1]:4402", true],
    ["http://localhost:4402", true],
    ["http://id.example", false],
    ["http://127.0.0.1.example", false],
    ["http://localhost.example", false],
    ["http://10.0.0.1", false],
    ["https://user:password@id.example", false],
    ["https://id.example?x", false],
    ["https://id.example#x", false],
    ["ftp://id.example", false],
    ["id.example", false],
    ["", false]
  ])("at %s may be configured: %s", (url, trusted) => {
    assert.strictEqual(isTrustedUrl(url), trusted)
  })
})
