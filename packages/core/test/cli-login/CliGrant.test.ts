import { assert, describe, it } from "@effect/vitest"
import { isLoopbackRedirect } from "../../src/records/cli-login/CliGrant.ts"
import { aGrant, at } from "../../testing/records.ts"

describe("isLoopbackRedirect", () => {
  it.each([
    "http://127.0.0.1:1024/callback",
    "http://127.0.0.1:65535/callback",
    "http://127.0.0.1:43210",
    "http://127.0.0.1:43210/",
    "http://[::1]:43210/callback",
    "http://127.0.0.1:43210/a/b-c_d.e~f",
    "http://127.0.0.1:43210/..."
  ])("isLoopbackRedirect accepts %s", (redirect) => {
    assert.isTrue(isLoopbackRedirect(redirect))
  })

  it.each([
    "",
    "http://localhost:43210/callback",
    "https://127.0.0.1:43210/callback",
    "HTTP://127.0.0.1:43210/callback",
    "http://127.0.0.1/callback",
    "http://127.0.0.1:80/callback",
    "http://127.0.0.1:1023/callback",
    "http://127.0.0.1:65536/callback",
    "http://127.0.0.1:99999/callback",
    "http://127.0.0.1:043210/callback",
    "http://127.0.0.1:43210/a/../b",
    "http://127.0.0.1:43210/..",
    "http://127.0.0.1:43210/callback?x=1",
    "http://127.0.0.1:43210/callback#x",
    "http://127.0.0.1:43210/%2e%2e",
    "http://127.0.0.1:43210\\@evil.example",
    "http://127.0.0.1:43210@evil.example/",
    "http://ada@127.0.0.1:43210/",
    "http://127.0.0.1.evil.example:43210/",
    "http://127.1:43210/callback",
    "http://0x7f000001:43210/callback",
    "http://127.0.0.2:43210/callback",
    "http://[::ffff:127.0.0.1]:43210/",
    "http://[0:0:0:0:0:0:0:1]:43210/",
    "http://127.0.0.1:43210/callback\n",
    "\nhttp://127.0.0.1:43210/callback",
    "http://127.0.0.1:43210/call back",
    "http://127.0.0.1:４３２１０/",
    "javascript:alert(1)"
  ])("isLoopbackRedirect refuses %j", (redirect) => {
    assert.isFalse(isLoopbackRedirect(redirect))
  })
})

describe("CliGrant", () => {
  it("a grant is open for 60 seconds, exclusive", () => {
    assert.isTrue(aGrant().openAt(at(59.999)))
    assert.isFalse(aGrant().openAt(at(60)))
  })

  it("a grant is not open once used or after five wrong verifiers", () => {
    assert.isFalse(aGrant({ consumed_at: at(1) }).openAt(at(2)))
    assert.isTrue(aGrant({ wrong_verifiers: 4 }).openAt(at(2)))
    assert.isFalse(aGrant({ wrong_verifiers: 5 }).openAt(at(2)))
  })
})
