/** The login of the command line. */
import { createHash, randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { type Caller, founder, joined, project, refused } from "../support/story.ts"
import { bytes, call } from "../support/wire.ts"

const redirect_uri = "http://127.0.0.1:43210/callback"
const text = () => randomBytes(32).toString("base64url")
const challenge = (verifier: string) => createHash("sha256").update(verifier).digest("base64url")

const authorize = (who: Caller, verifier: string, rest: Record<string, unknown> = {}) =>
  who.call("POST", "/v1/cli/authorizations", {
    body: { redirect_uri, state: text(), code_challenge: challenge(verifier), name: "laptop", ...rest }
  })

const exchange = (body: Record<string, unknown>, token?: string) =>
  call("POST", "/v1/cli/exchange", { body, token, headers: { "x-request-id": "same" } })

layer(memoryApi(), { excludeTestServices: true })("the login of the command line", (it) => {
  it.effect("POST cli/exchange, 201: a key as authorized; an Authorization header is ignored", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const { id } = yield* project(who)
      const code_verifier = text()
      const scope = { type: "project", project_id: id }
      const granted = yield* authorize(who, code_verifier, { capability: "read", scope, expires_in_days: 90 })
      assert.strictEqual(granted.status, 201)
      assert.strictEqual(granted.headers["cache-control"], "no-store")
      const { code } = granted.body
      const made = yield* exchange({ code, code_verifier, redirect_uri }, "nsk_nonsense")
      assert.strictEqual(made.status, 201, made.text)
      assert.strictEqual(made.headers["cache-control"], "no-store")
      const { api_key, secret } = made.body
      assert.deepStrictEqual(
        [api_key.name, api_key.capability, api_key.scope, api_key.created_by.id],
        ["laptop", "read", scope, who.user_id]
      )
      refused(yield* exchange({ code, code_verifier, redirect_uri }), 401, "invalid_code")
      assert.strictEqual((yield* call("GET", "/v1/auth/whoami", { token: secret })).status, 200, "the key stays")
    })
  )

  it.effect(
    "POST cli/exchange, 401: a missing, unknown, used or late code, another verifier or redirect: one body",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const code_verifier = text()
        const { code } = (yield* authorize(who, code_verifier)).body
        const right = { code, code_verifier, redirect_uri }
        const wrong = [
          {},
          { ...right, code: text() },
          { ...right, code: 5 },
          { ...right, code_verifier: text() },
          { code, redirect_uri },
          { ...right, redirect_uri: `${redirect_uri}/` }
        ]
        const answers = yield* Effect.forEach(wrong, (body) => exchange(body))
        yield* (yield* Ahead).by("61 seconds")
        for (const answer of [...answers, yield* exchange(right)]) {
          refused(answer, 401, "invalid_code")
          assert.strictEqual(bytes(answer), bytes(answers[0] ?? answer))
        }
      })
  )

  it.effect("a CLI code is revoked by five wrong verifiers, and not by four", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      for (const [tries, status] of [
        [4, 201],
        [5, 401]
      ] as const) {
        const code_verifier = text()
        const { code } = (yield* authorize(who, code_verifier)).body
        for (let i = 0; i < tries; i++) yield* exchange({ code, code_verifier: text(), redirect_uri })
        assert.strictEqual((yield* exchange({ code, code_verifier, redirect_uri })).status, status)
      }
    })
  )

  it.effect("many concurrent exchanges of a CLI code create one key", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const code_verifier = text()
      const { code } = (yield* authorize(who, code_verifier)).body
      const all = yield* Effect.all(
        Array.from({ length: 8 }, () => exchange({ code, code_verifier, redirect_uri })),
        { concurrency: "unbounded" }
      )
      assert.strictEqual(all.filter(({ status }) => status === 201).length, 1)
      assert.strictEqual((yield* who.call("GET", "/v1/api-keys")).body.api_keys.length, 1)
    })
  )

  it.effect("POST cli/authorizations, 409: a state twice; 422: an invalid redirect, state or challenge", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const state = text()
      assert.strictEqual((yield* authorize(who, text(), { state })).status, 201)
      refused(yield* authorize(who, text(), { state }), 409, "conflict")
      const wrong = [
        { redirect_uri: "http://localhost:43210/callback" },
        { redirect_uri: "https://127.0.0.1:43210/callback" },
        { redirect_uri: "http://127.0.0.1:80/callback" },
        { redirect_uri: "http://127.0.0.1:43210/../x" },
        { redirect_uri: "http://127.0.0.1:43210@evil.example/" },
        { redirect_uri: "http://127.0.0.1.evil.example:43210/" },
        { state: "short" },
        { state: "s".repeat(129) },
        { code_challenge: "short" },
        { code_challenge_method: "plain" }
      ]
      for (const body of wrong) refused(yield* authorize(who, text(), body), 422, "invalid_request")
      const v6 = yield* authorize(who, text(), { redirect_uri: "http://[::1]:43210/callback" })
      assert.strictEqual(v6.status, 201)
    })
  )

  it.effect("the exchange of a CLI code is refused after the person signed out or left", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const [one, two] = [yield* joined(owner, "member"), yield* joined(owner, "member")]
      const code_verifier = text()
      const first = (yield* authorize(one, code_verifier)).body
      yield* one.call("POST", "/v1/auth/logout")
      refused(yield* exchange({ code: first.code, code_verifier, redirect_uri }), 401, "invalid_code")
      const second = (yield* authorize(two, code_verifier)).body
      yield* owner.call("DELETE", `/v1/orgs/${owner.org_id}/members/${two.user_id}`)
      refused(yield* exchange({ code: second.code, code_verifier, redirect_uri }), 401, "invalid_code")
    })
  )
})
