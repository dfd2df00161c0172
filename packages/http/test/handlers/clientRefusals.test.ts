/** The clients that the allowlist refused: what proxies report, and what people read of it. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { memoryApi, proxyToken } from "../support/apiOver.ts"
import { arrive, branch, type Caller, founder, joined, key, type Place, project, refused } from "../support/story.ts"
import { bytes, call } from "../support/wire.ts"

let proxies = 0
const aProxy = () => `proxy-${++proxies}`

const refusal = ({ endpoint }: Pick<Place, "endpoint">, address: string, rest: Record<string, unknown> = {}) => ({
  endpoint_id: endpoint,
  address,
  reason: "address_not_listed",
  count: 1,
  first_ms: 0,
  last_ms: 0,
  ...rest
})

const report = (refusals: ReadonlyArray<unknown>, rest: Record<string, unknown> = {}) =>
  call("POST", "/v1/proxy/refusals", {
    token: proxyToken,
    body: { proxy_id: aProxy(), sequence: 1, refusals, ...rest }
  })

const list = (who: Caller, { path }: Pick<Place, "path">, query = "") =>
  who.call("GET", `${path}/ip-allow/refusals${query}`)

const addresses = (who: Caller, place: Place, query = "") =>
  Effect.map(list(who, place, query), ({ body }) => body.refusals.map((it: { address: string }) => it.address))

const cursorOf = (text: string) => `?limit=2&cursor=${encodeURIComponent(text)}`

layer(memoryApi(), { excludeTestServices: true })("refused clients", (it) => {
  it.effect("GET ip-allow/refusals, 200: one entry for each address and endpoint, newest first, dated by age", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      assert.deepStrictEqual((yield* list(who, place)).body, { refusals: [], pagination: { next_cursor: null } })
      const before = Date.now()
      const reported = yield* report([
        refusal(place, "203.0.113.9", { count: 3, first_ms: 60_000, last_ms: 10_000 }),
        refusal(place, "::ffff:198.51.100.7", { reason: "rules_unknown" })
      ])
      assert.strictEqual(reported.status, 204, reported.text)
      const [mapped, first, ...more] = (yield* list(who, place)).body.refusals
      assert.deepStrictEqual(more, [])
      assert.deepInclude(mapped, { address: "198.51.100.7", reason: "rules_unknown", count: 1 })
      const { first_at, last_at, ...rest } = first
      assert.deepStrictEqual(rest, {
        address: "203.0.113.9",
        endpoint_id: place.endpoint,
        branch_id: place.main,
        role: null,
        reason: "address_not_listed",
        count: 3
      })
      assert.strictEqual(Date.parse(last_at) - Date.parse(first_at), 50_000)
      assert.isAtLeast(Date.parse(last_at), before - 10_000)
    })
  )

  it.effect(
    "GET ip-allow/refusals, 200: pages by a cursor; 400: a cursor that the API did not issue; 422: no limit",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        yield* report(
          [1, 2, 3, 4, 5].map((n) => refusal(place, `203.0.113.${n}`, { last_ms: n * 1000, first_ms: n * 1000 }))
        )
        const read: Array<string> = []
        let query = "?limit=2"
        for (let page = 0; page < 3; page++) {
          const { body } = yield* list(who, place, query)
          read.push(...body.refusals.map((it: { address: string }) => it.address))
          query = cursorOf(body.pagination.next_cursor ?? "")
        }
        assert.deepStrictEqual(
          read,
          [1, 2, 3, 4, 5].map((n) => `203.0.113.${n}`)
        )
        refused(yield* list(who, place, "?cursor=nonsense"), 400, "malformed_request")
        refused(yield* list(who, place, "?limit=0"), 422, "invalid_request")
      })
  )

  it.effect(
    "GET ip-allow/refusals, 404: a foreign project, with the body of an unknown one; 403: a key of another project",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const [place, other] = [yield* project(who), yield* project(who)]
        yield* report([refusal(place, "203.0.113.9")])
        const stranger = yield* arrive()
        const same = { headers: { "x-request-id": "same" } }
        const foreign = yield* stranger.call("GET", `${place.path}/ip-allow/refusals`, same)
        const unknown = yield* stranger.call("GET", "/v1/projects/prj-none/ip-allow/refusals", same)
        refused(foreign, 404, "not_found")
        assert.strictEqual(bytes(foreign), bytes(unknown))
        const narrow = yield* key(who, { scope: `project:${other.id}` })
        refused(yield* list(narrow, place), 403, "scope_insufficient")
        assert.deepStrictEqual(yield* addresses(narrow, other), [])
      })
  )

  it.effect("a role is shown to those who see the credential, and only a name of the platform's form is kept", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const member = yield* joined(who, "member")
      const agent = yield* key(who, { capability: "agent" })
      const mint = (by: Caller) =>
        Effect.map(
          by.call("POST", `${place.path}/branches/${place.main}/credentials`, { body: { access: "read_only" } }),
          ({ body }): string => body.credential.role
        )
      const [ofOwner, ofMember, ofAgent] = [yield* mint(who), yield* mint(member), yield* mint(agent)]
      yield* report(
        [ofOwner, ofMember, ofAgent, "role_aaaaaaaaaaaaaaaa", "hunter2", "\u0000"].map((role, n) =>
          refusal(place, `203.0.113.${n}`, { role, last_ms: n, first_ms: n })
        )
      )
      const roles = (by: Caller) =>
        Effect.map(list(by, place), ({ body, text }) => {
          assert.notInclude(text, "hunter2")
          return body.refusals.map((it: { role: string | null }) => it.role)
        })
      assert.deepStrictEqual(yield* roles(who), [ofOwner, ofMember, ofAgent, null, null, null])
      assert.deepStrictEqual(yield* roles(member), [null, ofMember, null, null, null, null])
      assert.deepStrictEqual(yield* roles(agent), [null, null, ofAgent, null, null, null])
      const reader = yield* key(who, { capability: "read", scope: `project:${place.id}` })
      assert.deepStrictEqual(yield* roles(reader), [ofOwner, ofMember, ofAgent, null, null, null])
    })
  )

  it.effect(
    "POST proxy/refusals, 204: a repeated report counts once, and entries that cannot be read are left out",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const proxy_id = aProxy()
        const once = { proxy_id, sequence: 7 }
        const odd = [
          refusal(place, "nowhere"),
          refusal(place, "203.0.113.9/32"),
          refusal({ endpoint: "ep-none" }, "203.0.113.1"),
          refusal({ endpoint: "\u0000" }, "203.0.113.1"),
          refusal(place, "203.0.113.2", { reason: "of_a_newer_version", more: true })
        ]
        for (let n = 0; n < 3; n++)
          assert.strictEqual(
            (yield* report([...odd, refusal(place, "203.0.113.9"), refusal(place, "203.0.113.9")], once)).status,
            204
          )
        const { body } = yield* list(who, place)
        assert.deepStrictEqual(
          body.refusals.map((it: { address: string; count: number }) => `${it.address} ${it.count}`),
          ["203.0.113.9 2"]
        )
        assert.strictEqual((yield* report([refusal(place, "203.0.113.9")], { proxy_id, sequence: 8 })).status, 204)
        assert.strictEqual((yield* list(who, place)).body.refusals[0].count, 3)
      })
  )

  it.effect("POST proxy/refusals, 422: more than 200 entries, a negative age, no name of the proxy; 401: a key", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const many = Array.from({ length: 201 }, (_, n) => refusal(place, `10.0.0.${n}`))
      refused(yield* report(many), 422, "invalid_request")
      refused(yield* report([refusal(place, "10.0.0.1", { last_ms: -1 })]), 422, "invalid_request")
      refused(yield* report([refusal(place, "10.0.0.1", { count: 0 })]), 422, "invalid_request")
      refused(yield* report([refusal(place, "10.0.0.1")], { proxy_id: "No Name" }), 422, "invalid_request")
      const { token } = yield* key(who)
      refused(yield* call("POST", "/v1/proxy/refusals", { token, body: {} }), 401, "invalid_token")
      assert.deepStrictEqual(yield* addresses(who, place), [])
    })
  )

  it.effect("10,000 refused addresses leave the last 100 of the project, those of other projects, and no event", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const [place, quiet] = [yield* project(who), yield* project(who)]
      const events = () => who.call("GET", "/v1/events/history?limit=1000")
      const before = (yield* events()).body.events.length
      yield* report([refusal(quiet, "198.51.100.7")])
      const proxy_id = aProxy()
      for (let part = 0; part < 50; part++) {
        const refusals = Array.from({ length: 200 }, (_, n) =>
          refusal(place, `10.${part}.0.${n}`, { last_ms: 200 - n, first_ms: 200 - n })
        )
        assert.strictEqual((yield* report(refusals, { proxy_id, sequence: part })).status, 204)
      }
      const kept: ReadonlyArray<string> = yield* addresses(who, place, "?limit=1000")
      assert.lengthOf(kept, 100)
      assert.strictEqual(kept[0], "10.49.0.199")
      assert.deepStrictEqual(yield* addresses(who, quiet), ["198.51.100.7"])
      assert.strictEqual((yield* events()).body.events.length, before)
    })
  )

  it.effect("the refusals at an endpoint that is deleted stay listed, and later ones are not recorded", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const made = yield* branch(who, place, { endpoint: true })
      const endpoint = made.endpoint?.id ?? ""
      yield* report([refusal({ endpoint }, "203.0.113.9")])
      const deleted = yield* who.call("DELETE", `${place.path}/endpoints/${endpoint}`)
      assert.strictEqual(deleted.status, 202, deleted.text)
      yield* report([refusal({ endpoint }, "203.0.113.10")])
      assert.deepStrictEqual(yield* addresses(who, place), ["203.0.113.9"])
    })
  )
})
