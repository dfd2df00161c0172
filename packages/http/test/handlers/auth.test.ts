/** Sign-in, sessions, whoami, and what the service answers about itself. */
import { assert, layer } from "@effect/vitest"
import { OperatorAccounts, UserId } from "@narthex/core"
import { Effect } from "effect"
import { Ahead, consoleToken, idToken, memoryApi } from "../support/apiOver.ts"
import { address, arrive, founder, key, named, project, refused, withToken } from "../support/story.ts"
import { call } from "../support/wire.ts"

layer(memoryApi(), { excludeTestServices: true })("sessions", (it) => {
  it.effect("POST exchange, 200: the session answer, with no-store", () =>
    Effect.gen(function* () {
      const email = address()
      const answer = yield* call("POST", "/v1/auth/exchange", { body: { id_token: idToken(email), provider: null } })
      assert.strictEqual(answer.headers["cache-control"], "no-store")
      const { access_token, expires_at, organization, refresh_until, ...rest } = answer.body
      assert.isString(access_token)
      assert.strictEqual(Date.parse(refresh_until) > Date.parse(expires_at), true)
      assert.match(expires_at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      assert.deepStrictEqual(rest, {
        token_type: "Bearer",
        account_state: "active",
        user: { id: rest.user.id, email, name: null },
        invited_by: null
      })
      assert.deepStrictEqual([organization.role, organization.personal], ["owner", true])
    })
  )

  it.effect("POST exchange, 401: an id token that does not verify; 422: a missing or non-text one", () =>
    Effect.gen(function* () {
      for (const id_token of ["x", "", "a.b.c"])
        refused(yield* call("POST", "/v1/auth/exchange", { body: { id_token } }), 401, "invalid_token")
      for (const body of [{}, { id_token: null }, { id_token: 5 }, { id_token: ["x"] }]) {
        const answer = yield* call("POST", "/v1/auth/exchange", { body })
        refused(answer, 422, "invalid_request")
        assert.deepStrictEqual(named(answer), ["id_token"])
      }
    })
  )

  it.effect("a session token is valid for 15 minutes and refreshed for 12 hours; then sign-in is required", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const ahead = yield* Ahead
      yield* ahead.by("16 minutes")
      refused(yield* who.call("GET", "/v1/regions"), 401, "token_expired")
      const fresh = yield* who.call("POST", "/v1/auth/refresh")
      assert.deepStrictEqual([fresh.status, fresh.headers["cache-control"]], [200, "no-store"])
      const again = withToken(who, fresh.body.access_token)
      assert.strictEqual((yield* again.call("GET", "/v1/regions")).status, 200)
      yield* ahead.by("11 hours")
      const last = yield* again.call("POST", "/v1/auth/refresh")
      assert.strictEqual(last.status, 200)
      yield* ahead.by("1 hour")
      refused(yield* call("GET", "/v1/regions", { token: last.body.access_token }), 401, "sign_in_required")
      refused(yield* call("POST", "/v1/auth/refresh", { token: last.body.access_token }), 401, "sign_in_required")
    })
  )

  it.effect("POST logout, 204: with an expired token too; keys stay valid, the id token cannot be reused", () =>
    Effect.gen(function* () {
      const id_token = idToken(address())
      const { access_token: token } = (yield* call("POST", "/v1/auth/exchange", { body: { id_token } })).body
      const made = yield* call("POST", "/v1/api-keys", { token, body: { name: "k" } })
      yield* (yield* Ahead).by("16 minutes")
      assert.strictEqual((yield* call("POST", "/v1/auth/logout", { token })).status, 204)
      refused(yield* call("POST", "/v1/auth/refresh", { token }), 401, "sign_in_required")
      refused(yield* call("POST", "/v1/auth/exchange", { body: { id_token } }), 401, "invalid_token")
      assert.strictEqual((yield* call("GET", "/v1/regions", { token: made.body.secret })).status, 200)
    })
  )

  it.effect("own sessions are listed and ended one by one; another person's is 404", () =>
    Effect.gen(function* () {
      const one = yield* arrive()
      const two = yield* arrive(one.email)
      const stranger = yield* arrive()
      const { sessions } = (yield* one.call("GET", "/v1/auth/sessions")).body
      assert.deepStrictEqual(sessions.map((it: { current: boolean }) => it.current).toSorted(), [false, true])
      const other = sessions.find((it: { current: boolean }) => !it.current)
      assert.sameMembers(Object.keys(other), [
        "id",
        "current",
        "provider",
        "signed_in_at",
        "last_refreshed_at",
        "user_agent",
        "address"
      ])
      refused(yield* stranger.call("DELETE", `/v1/auth/sessions/${other.id}`), 404, "not_found")
      assert.strictEqual((yield* one.call("DELETE", `/v1/auth/sessions/${other.id}`)).status, 204)
      refused(yield* two.call("GET", "/v1/regions"), 401, "sign_in_required")
      refused(yield* one.call("DELETE", `/v1/auth/sessions/${other.id}`), 404, "not_found")
    })
  )

  it.effect("POST switch-org, 422: no organization; 403: one that the caller does not belong to", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const stranger = yield* founder()
      for (const body of [{}, { org_id: null }, { org_id: 5 }])
        refused(yield* who.call("POST", "/v1/auth/switch-org", { body }), 422, "invalid_request")
      for (const org_id of [stranger.org_id, "0198f3d2-7c1a-7b44-9c55-ffffffffffff", "x", ""])
        refused(yield* who.call("POST", "/v1/auth/switch-org", { body: { org_id } }), 403, "not_a_member")
    })
  )

  it.effect("a disabled account is 401 on every call, the exchange too", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const mine = yield* key(who)
      yield* (yield* OperatorAccounts).disable(UserId.make(who.user_id))
      for (const caller of [who, mine]) refused(yield* caller.call("GET", "/v1/auth/whoami"), 401, "invalid_token")
      for (const path of ["/v1/auth/refresh", "/v1/auth/logout"])
        refused(yield* who.call("POST", path), 401, "invalid_token")
      const body = { id_token: idToken(who.email) }
      refused(yield* call("POST", "/v1/auth/exchange", { body }), 401, "invalid_token")
    })
  )

  it.effect("the client's address is counted by trusted hops from the right; the console reports its browser's", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const seen = (headers: Record<string, string>) =>
        Effect.map(who.call("GET", "/v1/client-address", { headers }), ({ body }): string => body.address)
      assert.strictEqual(yield* seen({}), "127.0.0.1")
      assert.strictEqual(yield* seen({ "x-forwarded-for": "198.51.100.1, 192.0.2.7" }), "192.0.2.7")
      const claim = { "narthex-client-address": "203.0.113.5" }
      assert.strictEqual(yield* seen({ ...claim, "narthex-console": consoleToken }), "203.0.113.5")
      assert.strictEqual(yield* seen({ ...claim, "narthex-console": "wrong" }), "127.0.0.1")
    })
  )
})

layer(memoryApi({ access: { open_signup: false } }), { excludeTestServices: true })("access gating", (it) => {
  it.effect("a pending account is 403 alpha_pending until it is enabled, with the token that it holds", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      refused(yield* who.call("GET", "/v1/projects"), 403, "alpha_pending")
      assert.strictEqual((yield* who.call("GET", "/v1/auth/whoami")).body.account_state, "pending")
      yield* (yield* OperatorAccounts).enable(UserId.make(who.user_id))
      assert.strictEqual((yield* who.call("GET", "/v1/projects")).status, 200)
    })
  )
})

const allowlist = ["@example.com"]
layer(memoryApi({ access: { sign_in_allowlist: allowlist } }), { excludeTestServices: true })("sign-in", (it) => {
  it.effect("POST exchange, 403: an email address that is not on the allowlist or not verified", () =>
    Effect.gen(function* () {
      assert.strictEqual((yield* (yield* arrive()).call("GET", "/v1/regions")).status, 200)
      const unlisted = ["email:a@example.org:1", "email:a@sub.example.com:1", "unverified:a@example.com:1"]
      for (const id_token of unlisted)
        refused(yield* call("POST", "/v1/auth/exchange", { body: { id_token } }), 403, "email_not_allowed")
    })
  )
})

layer(memoryApi(), { excludeTestServices: true })("the service", (it) => {
  it.effect("the service answers its providers, the console's origin, its public keys and its readiness", () =>
    Effect.gen(function* () {
      const { body } = yield* call("GET", "/v1/auth/providers")
      assert.deepStrictEqual(body, {
        providers: [{ id: "test", name: "Test", issuer: "https://issuer.test" }],
        console_url: "http://console.test"
      })
      assert.isArray((yield* call("GET", "/.well-known/jwks.json")).body.keys)
      for (const path of ["/livez", "/readyz"]) assert.strictEqual((yield* call("GET", path)).status, 200)
      const document = yield* call("GET", "/openapi.json")
      assert.match(document.body.openapi, /^3\.1/)
    })
  )

  it.effect("whoami answers the rights of a session", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      yield* project(who)
      const { body } = yield* who.call("GET", "/v1/auth/whoami")
      assert.deepStrictEqual(
        [body.kind, body.capability, body.scope, body.api_key, body.organization.role, body.account_state],
        ["session", null, null, null, "owner", "active"]
      )
      assert.include(body.permissions, "delete_organization")
      assert.isString(body.expires_at)
    })
  )
})
