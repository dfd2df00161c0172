import { request } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { TestClock } from "effect/testing"
import { decodeJwt } from "jose"
import { running } from "./running.ts"
import { clientId, json, post, verify } from "./signIn.ts"

const path = "id-token"

describe("POST /id-token", () => {
  it.live("POST /id-token with an address signs a token for the client", () =>
    Effect.gen(function* () {
      for (const { algorithms, issuer } of yield* running()) {
        const { body, headers, status } = yield* Effect.promise(() =>
          post(`${issuer}/${path}`, { email: "Ada@Example.com" })
        )
        assert.strictEqual(status, 200)
        assert.strictEqual(headers.get("cache-control"), "no-store")
        const { payload } = yield* Effect.promise(() => verify(issuer, body["id_token"], algorithms[0] ?? ""))
        assert.strictEqual(payload.iss, issuer)
        assert.strictEqual(payload.aud, clientId)
        assert.strictEqual(payload["email"], "Ada@Example.com")
        assert.strictEqual(payload["email_verified"], true)
        assert.strictEqual(payload["name"], "Ada")
        assert.strictEqual((payload.exp ?? 0) - (payload.iat ?? 0), 300)
        assert.notProperty(payload, "nonce")
      }
    })
  )

  it.live("POST /id-token puts every given member into the token", () =>
    Effect.gen(function* () {
      const [{ algorithms, issuer }] = yield* running()
      const asked = { email: "ada@example.com", sub: "person-7", name: "Ada", email_verified: false, nonce: "n-1" }
      const { body } = yield* Effect.promise(() => post(`${issuer}/${path}`, { ...asked, expires_in: 60 }))
      const { payload } = yield* Effect.promise(() => verify(issuer, body["id_token"], algorithms[0] ?? ""))
      for (const [claim, value] of Object.entries(asked)) assert.strictEqual(payload[claim], value, claim)
      assert.strictEqual((payload.exp ?? 0) - (payload.iat ?? 0), 60)
    })
  )

  it.live(
    "POST /id-token derives the subject from the address without case, and never gives the same token twice",
    () =>
      Effect.gen(function* () {
        const [{ issuer }] = yield* running()
        const tokens = yield* Effect.forEach(["ada@example.com", "ADA@example.com", "bob@example.com"], (email) =>
          Effect.map(
            Effect.promise(() => post(`${issuer}/${path}`, { email })),
            ({ body }) => decodeJwt(String(body["id_token"]))
          )
        )
        const [ada, again, bob] = tokens
        assert.isNotEmpty(ada?.sub)
        assert.strictEqual(again?.sub, ada?.sub)
        assert.notStrictEqual(bob?.sub, ada?.sub)
        assert.strictEqual(new Set(tokens.map(({ jti }) => jti)).size, 3)
      })
  )

  it.effect("an id token has the clock's time, and may be expired", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      yield* TestClock.setTime(1_000_000_500)
      const { body } = yield* Effect.promise(() => post(`${issuer}/${path}`, { email: "a@b.c", expires_in: -30 }))
      const { exp, iat } = decodeJwt(String(body["id_token"]))
      assert.deepStrictEqual({ exp, iat }, { exp: 999_970, iat: 999_970 })
    })
  )

  it.live.each([
    [{}, "email"],
    [{ email: 7 }, "email"],
    [{ email: "nobody" }, "email"],
    [{ email: "a b@example.com" }, "email"],
    [{ email: `${"a".repeat(250)}@example.com` }, "email"],
    [{ email: "a@b.c", sub: "" }, "sub"],
    [{ email: "a@b.c", name: " " }, "name"],
    [{ email: "a@b.c", email_verified: "yes" }, "email_verified"],
    [{ email: "a@b.c", nonce: 1 }, "nonce"],
    [{ email: "a@b.c", expires_in: 1.5 }, "expires_in"],
    [{ email: "a@b.c", expires_in: 86_401 }, "expires_in"],
    [{ email: "a@b.c", aud: "somebody" }, "aud"]
  ])("answers 422 to %j and names the member", ([body, member]) =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const refused = yield* Effect.promise(() => post(`${issuer}/${path}`, body))
      assert.strictEqual(refused.status, 422)
      assert.strictEqual(refused.headers.get("content-type"), "application/problem+json")
      assert.strictEqual(refused.body["code"], "invalid_request")
      assert.match(String(refused.body["detail"]), new RegExp(`^${member}: .+\\.$`))
      assert.deepInclude(refused.body["errors"], {
        path: [member],
        message: String(refused.body["detail"]).replace(`${member}: `, "").slice(0, -1)
      })
    })
  )

  it.live("POST /id-token treats null as absent, and a body without a type as JSON", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const body = new Blob([JSON.stringify({ email: "a@b.c", sub: null, nonce: null })])
      const { status } = yield* Effect.promise(() => json(`${issuer}/${path}`, { method: "POST", body }))
      assert.strictEqual(status, 200)
    })
  )

  it.live.each([
    ["GET", {}, undefined, 405, "Use POST to request an id token."],
    ["POST", { "content-type": "application/json" }, "{", 400, "The body is not valid JSON."],
    ["POST", { "content-type": "application/json" }, "[]", 422, "The body: "],
    ["POST", { "content-type": "text/plain" }, "{}", 415, "The body must be application/json."],
    ["POST", { "content-type": "application/json" }, `"${"x".repeat(20_000)}"`, 413, "The body is larger than"]
  ] as const)("answers %s with %j in a sentence", ([method, headers, body, status, sentence]) =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const refused = yield* Effect.promise(() => json(`${issuer}/${path}`, { method, headers, body: body ?? null }))
      assert.strictEqual(refused.status, status)
      assert.include(String(refused.body["detail"]), sentence)
      assert.hasAllKeys(refused.body, [
        "type",
        "title",
        "status",
        "detail",
        "code",
        ...(status === 422 ? ["errors"] : [])
      ])
    })
  )

  it.live("a development provider answers 404 with a sentence for an unknown path", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const { body, status } = yield* Effect.promise(() => json(`${issuer}/nowhere`))
      assert.strictEqual(status, 404)
      assert.strictEqual(body["detail"], "There is no /nowhere at this provider.")
    })
  )

  it.live("a development provider refuses a request for another host (DNS rebinding)", () =>
    Effect.gen(function* () {
      const [{ issuer }] = yield* running()
      const { port } = new URL(issuer)
      const status = yield* Effect.callback<number | undefined>((resume) => {
        request(`${issuer}/${path}`, { method: "POST", headers: { host: `evil.example:${port}` } }, (response) => {
          response.resume()
          resume(Effect.succeed(response.statusCode))
        }).end(JSON.stringify({ email: "ada@example.com" }))
      })
      assert.strictEqual(status, 421)
    })
  )
})
