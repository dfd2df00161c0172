/** The small rules at the edge: where a browser may be sent, whose forms may act, what every answer carries. */
import { assert, describe, it } from "@effect/vitest"
import { callerHeaders } from "../src/api/callerHeaders.ts"
import { returnPath, withReturn } from "../src/web/returnTo.ts"
import { isSameOrigin } from "../src/web/sameOrigin.ts"
import { contentSecurityPolicy, securityHeaders } from "../src/web/securityHeaders.ts"

describe("return_to", () => {
  it.each([
    "/projects",
    "/",
    "/orgs/1/projects?cursor=a%2Fb",
    "/cli/authorize?state=abc&redirect_uri=http%3A%2F%2F127.0.0.1%3A4000%2Fcallback"
  ])("return_to keeps %s", (path) => {
    assert.strictEqual(returnPath(path), path)
  })

  it.each([
    "",
    "projects",
    "//evil.example",
    "/\\evil.example",
    "/projects\\..",
    "https://evil.example",
    "javascript:alert(1)",
    "/\t/evil.example",
    "/\n/evil.example",
    "/ projects",
    "/pröjects",
    `/${"a".repeat(2000)}`
  ])("return_to refuses %j", (path) => {
    assert.isUndefined(returnPath(path))
  })

  it("return_to is added to a path as one encoded parameter", () => {
    assert.strictEqual(withReturn("/sign-in", "/a?b=c&d"), "/sign-in?return_to=%2Fa%3Fb%3Dc%26d")
    assert.strictEqual(withReturn("/sign-in", undefined), "/sign-in")
  })
})

describe("same origin", () => {
  const ours = "https://console.example"
  it.each([
    { site: "same-origin", origin: undefined, may: true },
    { site: "none", origin: undefined, may: true },
    { site: "same-origin", origin: "https://evil.example", may: true },
    { site: "same-site", origin: ours, may: false },
    { site: "cross-site", origin: ours, may: false },
    { site: "", origin: ours, may: false },
    { site: undefined, origin: ours, may: true },
    { site: undefined, origin: "https://evil.example", may: false },
    { site: undefined, origin: "null", may: false },
    { site: undefined, origin: "http://console.example", may: false },
    { site: undefined, origin: undefined, may: true }
  ])("a request with Sec-Fetch-Site $site and Origin $origin may change something: $may", ({ may, origin, site }) => {
    assert.strictEqual(isSameOrigin({ sec_fetch_site: site, origin }, ours), may)
  })
})

describe("caller headers", () => {
  it("the client address is not reported without the console token", () => {
    assert.deepStrictEqual(callerHeaders(undefined, "192.0.2.1", "Browser"), {})
  })
})

describe("security headers", () => {
  it("the content security policy allows nothing inline and no other origin", () => {
    const policy = contentSecurityPolicy()
    assert.match(policy, /^default-src 'none';/)
    assert.notMatch(policy, /unsafe|data:|\*|http/)
    assert.include(policy, "form-action 'self'")
    assert.include(policy, "frame-ancestors 'none'")
  })

  it("HSTS is sent only over https", () => {
    assert.isUndefined(securityHeaders(false)["strict-transport-security"])
    assert.isDefined(securityHeaders(true)["strict-transport-security"])
  })
})
