/** Rate limits (docs/design/identity.md I44–I47): who is counted, what is refused, and what the headers say. */
import { createHash, randomBytes } from "node:crypto"
import { assert, layer } from "@effect/vitest"
import { makeKeySecret } from "@narthex/core"
import { Effect, Redacted } from "effect"
import { defaultRateLimits } from "../../src/limits/RateLimits.ts"
import { Ahead, everyServing, idToken, memoryApi } from "../support/apiOver.ts"
import { address, type Caller, key, refused, withToken } from "../support/story.ts"
import { type Answer, call } from "../support/wire.ts"

const limits = {
  ...defaultRateLimits,
  exchange_per_minute: 4,
  cli_exchange_per_minute: 3,
  failures_per_minute: 3,
  reports_per_hour: 3,
  refresh_per_minute: 3,
  key_creation_per_hour: 3,
  organization_creation_per_hour: 3,
  creation_per_minute: 5,
  invitation_creation_per_hour: 3,
  org_creation_per_minute: 8,
  org_invitation_creation_per_hour: 5,
  changes_per_minute: 4,
  org_changes_per_minute: 6
}

let network = 0
/** A client of its own, so that no test counts against another. */
const client = () => ({ "x-forwarded-for": `198.51.100.${++network}` })
const limited = (answer: Answer, name: string, policy: string) => {
  refused(answer, 429, "rate_limited")
  assert.strictEqual(answer.headers["ratelimit-policy"], `"${name}";${policy}`)
  const wait = Number(answer.headers["retry-after"])
  assert.isAtLeast(wait, 1)
  assert.strictEqual(answer.headers["ratelimit"], `"${name}";r=0;t=${wait}`)
  assert.strictEqual(answer.body.retry_after_ms, wait * 1000)
  const allowed = Number(/q=(\d+)/.exec(policy)?.[1])
  assert.deepInclude(answer.body, { limit: name, held: allowed, allowed })
}

/** A session from an address that no other test uses. */
const newcomer = Effect.fnUntraced(function* () {
  const headers = client()
  const email = address()
  const { body } = yield* call("POST", "/v1/auth/exchange", { headers, body: { id_token: idToken(email) } })
  const who: Caller = withToken(
    { token: "", email, user_id: body.user.id, org_id: body.organization.id, call },
    body.access_token
  )
  return { ...who, headers }
})

const exchange = (headers: Record<string, string>, id_token = idToken(address())) =>
  call("POST", "/v1/auth/exchange", { headers, body: { id_token } })

for (const serving of everyServing)
  layer(memoryApi({ limits, serving, stands: true }), { excludeTestServices: true })("limits", (it) => {
    it.effect("exchanges are limited per address, refused ones too, and answer how many are left", () =>
      Effect.gen(function* () {
        const headers = client()
        const left = []
        for (const id_token of [idToken(address()), "nonsense", idToken(address()), "nonsense"]) {
          const answer = yield* exchange(headers, id_token)
          assert.strictEqual(answer.headers["ratelimit-policy"], '"exchange";q=4;w=60')
          left.push(answer.headers["ratelimit"]?.replace(/;t=\d+$/, ""))
        }
        assert.deepStrictEqual(left, ['"exchange";r=3', '"exchange";r=2', '"exchange";r=1', '"exchange";r=0'])
        limited(yield* exchange(headers), "exchange", "q=4;w=60")
        assert.strictEqual((yield* exchange(client())).status, 200)
        yield* (yield* Ahead).by("2 minutes")
        assert.strictEqual((yield* exchange(headers)).status, 200)
      })
    )

    it.effect("exchanges of all addresses of a /64 are counted together, and those of the next one apart", () =>
      Effect.gen(function* () {
        const site = `2001:db8:${(++network).toString(16)}`
        for (let n = 1; n <= 4; n++)
          assert.strictEqual((yield* exchange({ "x-forwarded-for": `${site}:1::${n}` })).status, 200)
        limited(yield* exchange({ "x-forwarded-for": `${site}:1:ffff::5` }), "exchange", "q=4;w=60")
        assert.strictEqual((yield* exchange({ "x-forwarded-for": `${site}:2::1` })).status, 200)
      })
    )

    it.effect("limits count the address behind the trusted hops, whatever the client claims", () =>
      Effect.gen(function* () {
        const mine = client()["x-forwarded-for"]
        for (let i = 0; i < 4; i++)
          assert.strictEqual((yield* exchange({ "x-forwarded-for": `203.0.113.${i}, ${mine}` })).status, 200)
        limited(yield* exchange({ "x-forwarded-for": `203.0.113.99, ${mine}` }), "exchange", "q=4;w=60")
      })
    )

    it.effect("CLI exchanges and leak reports are limited per address", () =>
      Effect.gen(function* () {
        const headers = client()
        for (let i = 0; i < 3; i++) {
          refused(yield* call("POST", "/v1/cli/exchange", { headers, body: {} }), 401, "invalid_code")
          const reported = yield* call("POST", "/v1/credentials/report", { headers, body: { secret: "x" } })
          assert.strictEqual(reported.status, 202)
        }
        limited(yield* call("POST", "/v1/cli/exchange", { headers, body: {} }), "cli_exchange", "q=3;w=60")
        const report = yield* call("POST", "/v1/credentials/report", { headers, body: { secret: "x" } })
        limited(report, "reports", "q=3;w=3600")
      })
    )

    it.effect("a report over the limit revokes nothing, and an exchange over the limit creates no session", () =>
      Effect.gen(function* () {
        const who = yield* newcomer()
        const mine = yield* key(who)
        const headers = client()
        for (let i = 0; i < 3; i++) yield* call("POST", "/v1/credentials/report", { headers, body: {} })
        limited(
          yield* call("POST", "/v1/credentials/report", { headers, body: { secret: mine.token } }),
          "reports",
          "q=3;w=3600"
        )
        assert.strictEqual((yield* mine.call("GET", "/v1/regions")).status, 200)
      })
    )

    it.effect("above the limit, failed authentications are 429, and a credential that verifies always passes", () =>
      Effect.gen(function* () {
        const who = yield* newcomer()
        const { headers } = who
        const mine = yield* key(who)
        const bad = () => Effect.map(makeKeySecret, Redacted.value)
        const fail = Effect.fnUntraced(function* () {
          return yield* call("GET", "/v1/regions", { headers, token: yield* bad() })
        })
        for (let i = 0; i < 3; i++) {
          const answer = yield* fail()
          refused(answer, 401, "invalid_token")
          assert.strictEqual(answer.headers["ratelimit-policy"], '"failures";q=3;w=60')
        }
        limited(yield* fail(), "failures", "q=3;w=60")
        limited(yield* call("POST", "/v1/auth/refresh", { headers, token: "a.b.c" }), "failures", "q=3;w=60")
        limited(yield* call("POST", "/v1/proxy/resolve", { headers, token: "x" }), "failures", "q=3;w=60")
        for (const token of [who.token, mine.token])
          for (let i = 0; i < 5; i++) {
            const passed = yield* call("GET", "/v1/regions", { headers, token })
            assert.deepStrictEqual([passed.status, passed.headers["ratelimit"]], [200, undefined])
          }
        refused(yield* call("GET", "/v1/regions", { headers }), 401, "unauthenticated")
        refused(yield* call("GET", "/v1/regions", { headers: client(), token: yield* bad() }), 401, "invalid_token")
      })
    )

    it.effect("an expired session token is token_expired, however many failures its address has", () =>
      Effect.gen(function* () {
        const who = yield* newcomer()
        yield* (yield* Ahead).by("16 minutes")
        for (let i = 0; i < 5; i++) yield* call("GET", "/v1/regions", { headers: who.headers, token: "x" })
        const expired = yield* call("GET", "/v1/regions", { headers: who.headers, token: who.token })
        refused(expired, 401, "token_expired")
        assert.strictEqual(
          (yield* call("POST", "/v1/auth/refresh", { headers: who.headers, token: who.token })).status,
          200
        )
      })
    )

    it.effect("refreshes are limited per session, from any address", () =>
      Effect.gen(function* () {
        const who = yield* newcomer()
        const { body } = yield* exchange(client(), idToken(who.email))
        for (let i = 0; i < 3; i++)
          assert.strictEqual((yield* who.call("POST", "/v1/auth/refresh", { headers: client() })).status, 200)
        limited(yield* who.call("POST", "/v1/auth/refresh", { headers: client() }), "refresh", "q=3;w=60")
        assert.strictEqual((yield* call("POST", "/v1/auth/refresh", { token: body.access_token })).status, 200)
        assert.strictEqual((yield* who.call("POST", "/v1/auth/logout")).status, 204)
      })
    )

    it.effect("key creations are limited per user, CLI authorizations too; replays do not count", () =>
      Effect.gen(function* () {
        const who = yield* newcomer()
        const once = { headers: { "idempotency-key": "k" }, body: { name: "k" } }
        for (let i = 0; i < 5; i++) assert.strictEqual((yield* who.call("POST", "/v1/api-keys", once)).status, 201)
        yield* key(who)
        const approve = who.call("POST", "/v1/cli/authorizations", {
          body: {
            redirect_uri: "http://127.0.0.1:43210/callback",
            state: randomBytes(32).toString("base64url"),
            code_challenge: createHash("sha256").update("x").digest("base64url"),
            name: "laptop"
          }
        })
        assert.strictEqual((yield* approve).status, 201)
        limited(yield* who.call("POST", "/v1/api-keys/", { body: { name: "k" } }), "key_creation", "q=3;w=3600")
        limited(yield* approve, "key_creation", "q=3;w=3600")
        assert.strictEqual((yield* who.call("GET", "/v1/api-keys")).body.api_keys.length, 2)
        const { body } = yield* exchange(client(), idToken(who.email))
        const elsewhere = yield* call("POST", "/v1/api-keys", { token: body.access_token, body: { name: "k" } })
        limited(elsewhere, "key_creation", "q=3;w=3600")
        yield* key(yield* newcomer())
      })
    )
  })

layer(memoryApi({ limits, stands: true }), { excludeTestServices: true })("limits on creations", (it) => {
  it.effect("creations are limited per person and key, and per organization, so that more keys make no more", () =>
    Effect.gen(function* () {
      const who = yield* newcomer()
      const [first, second] = [yield* key(who), yield* key(who)]
      const create = (it: Caller) => it.call("POST", "/v1/projects", { body: {}, headers: client() })
      for (let i = 0; i < 5; i++) refused(yield* create(first), 422, "invalid_request")
      limited(yield* create(first), "creation", "q=5;w=60")
      for (let i = 0; i < 3; i++) refused(yield* create(second), 422, "invalid_request")
      for (const it of [second, who]) {
        const answer = yield* create(it)
        refused(answer, 429, "rate_limited")
        assert.strictEqual(answer.headers["ratelimit-policy"], '"creation";q=5;w=60, "org_creation";q=8;w=60')
        assert.match(String(answer.headers["ratelimit"]), /^"creation";r=\d;t=\d+, "org_creation";r=0;t=\d+$/)
      }
      refused(yield* create(yield* newcomer()), 422, "invalid_request")
      yield* (yield* Ahead).by("2 minutes")
      refused(yield* create(first), 422, "invalid_request")
    })
  )

  it.effect("all creating calls and starts of one caller count together; replays and reads do not count", () =>
    Effect.gen(function* () {
      const who = yield* newcomer()
      const once = { headers: { "idempotency-key": "k" }, body: { name: "shop" } }
      const { body } = yield* who.call("POST", "/v1/projects", once)
      for (let i = 0; i < 8; i++) assert.strictEqual((yield* who.call("POST", "/v1/projects", once)).status, 201)
      const at = `/v1/projects/${body.project.id}`
      for (let i = 0; i < 8; i++) assert.strictEqual((yield* who.call("GET", at)).status, 200)
      for (const path of ["branches", "sandboxes", `endpoints/${body.endpoint.id}/start`, "endpoints"])
        assert.notStrictEqual((yield* who.call("POST", `${at}/${path}`)).status, 429, path)
      for (const path of [
        `branches/${body.branch.id}/credentials`,
        `endpoints/${body.endpoint.id}/suspend`,
        "branches"
      ])
        limited(yield* who.call("POST", `${at}/${path}`), "creation", "q=5;w=60")
    })
  )

  it.effect("every other change is limited per caller and organization, also one that changes nothing", () =>
    Effect.gen(function* () {
      const who = yield* newcomer()
      const mine = yield* key(who)
      const { body } = yield* who.call("POST", "/v1/projects", { body: { name: "shop" } })
      const at = `/v1/projects/${body.project.id}`
      const rename = (it: Caller) => it.call("PATCH", at, { body: { name: "shop" } })
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* rename(who)).status, 200)
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* who.call("DELETE", `${at}/ip-allow`)).status, 204)
      limited(yield* rename(who), "changes", "q=4;w=60")
      limited(yield* who.call("DELETE", `${at}/ip-allow`), "changes", "q=4;w=60")
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* rename(mine)).status, 200)
      const answer = yield* rename(mine)
      refused(answer, 429, "rate_limited")
      assert.include(answer.headers["ratelimit-policy"], '"org_changes";q=6;w=60')
      const add = who.call("POST", `${at}/ip-allow`, { body: { cidr: "192.0.2.0/24" } })
      assert.strictEqual((yield* add).headers["ratelimit-policy"], '"creation";q=5;w=60, "org_creation";q=8;w=60')
      assert.strictEqual((yield* who.call("POST", "/v1/auth/logout")).status, 204)
    })
  )

  it.effect("calls that end something count per caller only, so another member's changes refuse no revocation", () =>
    Effect.gen(function* () {
      const who = yield* newcomer()
      const [mine, other] = [yield* key(who), yield* key(who)]
      const { body } = yield* who.call("POST", "/v1/projects", { body: { name: "shop" } })
      const change = (it: Caller) => it.call("PATCH", `/v1/projects/${body.project.id}`, { body: { name: "shop" } })
      for (const it of [mine, mine, mine, mine, other, other]) assert.strictEqual((yield* change(it)).status, 200)
      refused(yield* change(who), 429, "rate_limited")
      const revoked = yield* who.call("DELETE", `/v1/api-keys/${mine.id}`)
      assert.deepStrictEqual([revoked.status, revoked.headers["ratelimit-policy"]], [204, '"changes";q=4;w=60'])
    })
  )

  it.effect("invitations are limited per caller and organization, organizations per person", () =>
    Effect.gen(function* () {
      const who = yield* newcomer()
      const mine = yield* key(who)
      const invite = (it: Caller) =>
        it.call("POST", `/v1/orgs/${who.org_id}/invitations`, { body: { email: address() } })
      const { body } = yield* invite(who)
      const resend = who.call("POST", `/v1/orgs/${who.org_id}/invitations/${body.invitation.id}/resend`)
      assert.strictEqual((yield* invite(who)).status, 201)
      assert.strictEqual((yield* resend).status, 200)
      limited(yield* invite(who), "invitation_creation", "q=3;w=3600")
      limited(yield* resend, "invitation_creation", "q=3;w=3600")
      for (let i = 0; i < 2; i++) assert.strictEqual((yield* invite(mine)).status, 201)
      const answer = yield* invite(mine)
      refused(answer, 429, "rate_limited")
      assert.include(answer.headers["ratelimit-policy"], '"org_invitation_creation";q=5;w=3600')

      const found = () => who.call("POST", "/v1/orgs", { body: { name: "Team" } })
      for (let i = 0; i < 3; i++) assert.strictEqual((yield* found()).status, 201)
      limited(yield* found(), "organization_creation", "q=3;w=3600")
    })
  )
})
