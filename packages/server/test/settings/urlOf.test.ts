import { assert, describe, it } from "@effect/vitest"
import { urlOf } from "../../src/settings/Settings.ts"

describe("the URL of a listener", () => {
  it("the URL of a listener can be called", () => {
    assert.strictEqual(urlOf({ host: "127.0.0.1", port: 4400 }), "http://127.0.0.1:4400")
    assert.strictEqual(urlOf({ host: "0.0.0.0", port: 1 }), "http://127.0.0.1:1")
    assert.strictEqual(urlOf({ host: "::", port: 1 }), "http://[::1]:1")
    assert.strictEqual(urlOf({ host: "api.example", port: 80 }), "http://api.example:80")
  })
})
