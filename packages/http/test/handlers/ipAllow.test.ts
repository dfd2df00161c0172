/** The allowlist of a project. */
import { assert, layer } from "@effect/vitest"
import { makeRule, maxRules, ProjectId, UserId, UserRef } from "@narthex/core"
import { listRule } from "@narthex/core/testing"
import { DateTime, Effect } from "effect"
import { Ahead, memoryApi } from "../support/apiOver.ts"
import { arrive, type Caller, founder, type Place, project, refused, withToken } from "../support/story.ts"

const add = (who: Caller, { path }: Place, body: unknown) => who.call("POST", `${path}/ip-allow`, { body })
const listed = (who: Caller, { path }: Place) =>
  Effect.map(
    who.call("GET", `${path}/ip-allow`),
    ({ body }): ReadonlyArray<string> => body.rules.map((it: { cidr: string }) => it.cidr)
  )

layer(memoryApi(), { excludeTestServices: true })("the allowlist", (it) => {
  it.effect("POST ip-allow, 201: the rule; the same network again is 200 and replaces it", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const empty = yield* who.call("GET", `${place.path}/ip-allow`)
      assert.deepStrictEqual(empty.body, { rules: [], restricted: false, opens_at: null, refused_family: null })
      const made = yield* add(who, place, { cidr: "10.0.0.0/8", label: "office" })
      assert.strictEqual(made.status, 201)
      assert.sameMembers(Object.keys(made.body), ["cidr", "label", "created_at", "created_by", "expires_at"])
      assert.deepStrictEqual(made.body.created_by, { id: who.user_id, email: who.email })
      const again = yield* add(who, place, { cidr: "10.0.0.0/8", ttl_seconds: 60 })
      assert.deepStrictEqual([again.status, again.body.label], [200, ""])
      assert.isNotNull(again.body.expires_at)
      const list = yield* who.call("GET", `${place.path}/ip-allow`)
      assert.deepStrictEqual([list.body.rules, list.body.restricted], [[again.body], true])
      assert.strictEqual(list.body.opens_at, again.body.expires_at)
      yield* add(who, place, { cidr: "0.0.0.0/0" })
      assert.strictEqual((yield* who.call("GET", `${place.path}/ip-allow`)).body.refused_family, "ipv6")
    })
  )

  it.effect("POST ip-allow, 422: text that is not a network, with a suggestion in `detail`; nothing is added", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const meant: ReadonlyArray<readonly [string, string]> = [
        ["10.0.0.1", "10.0.0.1/32"],
        ["2001:db8::1", "2001:db8::1/128"],
        ["10.0.0.1/8", "10.0.0.0/8"],
        ["2001:db8::1/32", "2001:db8::/32"]
      ]
      for (const [cidr, better] of meant) {
        const answer = yield* add(who, place, { cidr })
        refused(answer, 422, "malformed_cidr")
        assert.include(answer.body.detail, better)
      }
      for (const cidr of ["", "x", "10/8", "010.0.0.0/8", "10.0.0.0/33", "10.0.0.0/08", "::/0/0", "1.2.3.4/-1"])
        refused(yield* add(who, place, { cidr }), 422, "malformed_cidr")
      for (const body of [{}, { cidr: 5 }, { cidr: "10.0.0.0/8", ttl_seconds: 0 }])
        refused(yield* add(who, place, body), 422, "invalid_request")
      const long = { cidr: "10.0.0.0/8", ttl_seconds: 315_360_001 }
      refused(yield* add(who, place, long), 422, "invalid_request")
      assert.deepStrictEqual(yield* listed(who, place), [])
    })
  )

  it.effect("networks are stored in canonical form, IPv4-mapped ones as IPv4", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      assert.strictEqual((yield* add(who, place, { cidr: "2001:DB8:0:0::/32" })).body.cidr, "2001:db8::/32")
      assert.strictEqual((yield* add(who, place, { cidr: "::ffff:10.0.0.0/104" })).body.cidr, "10.0.0.0/8")
      for (const cidr of ["10.0.0.0/8", " 10.0.0.0/8", "10.0.0.0/8\n"])
        assert.strictEqual((yield* add(who, place, { cidr })).status, 200)
      assert.deepStrictEqual(yield* listed(who, place), ["2001:db8::/32", "10.0.0.0/8"])
    })
  )

  it.effect(
    "DELETE ip-allow/{cidr}, 204: in any spelling, slash encoded or raw; 404: not listed; 422: not a network",
    () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const place = yield* project(who)
        const spellings: ReadonlyArray<readonly [string, string]> = [
          ["10.0.0.0/8", "10.0.0.0%2F8"],
          ["10.0.0.0/8", "10.0.0.0/8"],
          ["192.0.2.1/32", "192.0.2.1"],
          ["2001:db8::/32", "2001%3ADB8%3A%3A%2F32"],
          ["2001:db8::/32", "2001:0db8:0::/32"],
          ["2001:db8::1/128", "2001:db8::1"],
          ["10.0.0.0/8", "::ffff:10.0.0.0%2F104"]
        ]
        for (const [cidr, path] of spellings) {
          yield* add(who, place, { cidr })
          const gone = yield* who.call("DELETE", `${place.path}/ip-allow/${path}`)
          assert.deepStrictEqual([gone.status, yield* listed(who, place)], [204, []], path)
          refused(yield* who.call("DELETE", `${place.path}/ip-allow/${path}`), 404, "not_found")
        }
        for (const path of ["x", "10.0.0.1%2F8", "10.0.0.1/8", "10.0.0.0/99", "a/b"])
          refused(yield* who.call("DELETE", `${place.path}/ip-allow/${path}`), 422, "malformed_cidr")
      })
  )

  it.effect("DELETE ip-allow, 204: a reset, of an empty list too; with a query it is 422 and removes nothing", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      yield* add(who, place, { cidr: "10.0.0.0/8" })
      for (const query of ["?cidr=10.0.0.0/8", "?x", "?cidr="])
        refused(yield* who.call("DELETE", `${place.path}/ip-allow${query}`), 422, "invalid_request")
      assert.deepStrictEqual(yield* listed(who, place), ["10.0.0.0/8"])
      for (const left of [[], []]) {
        assert.strictEqual((yield* who.call("DELETE", `${place.path}/ip-allow`)).status, 204)
        assert.deepStrictEqual(yield* listed(who, place), left)
      }
    })
  )

  it.effect("an expired rule is not listed and not found, and adding it again is 201", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      yield* add(who, place, { cidr: "10.0.0.0/8", ttl_seconds: 60 })
      const check = `${place.path}/ip-allow/check?address=`
      const inside = { allowed: true, matched: "10.0.0.0/8" }
      assert.deepStrictEqual((yield* who.call("GET", `${check}10.1.2.3`)).body, inside)
      assert.deepStrictEqual((yield* who.call("GET", `${check}::ffff:10.1.2.3`)).body, inside)
      assert.deepStrictEqual((yield* who.call("GET", `${check}%2010.1.2.3%0A`)).body, inside)
      assert.deepStrictEqual((yield* who.call("GET", `${check}11.1.2.3`)).body, { allowed: false, matched: null })
      for (const address of ["", "x", "10.0.0.0/8", "10.1.2.3:80", "10.1.%202.3", "10.1.2.3%25x", "010.1.2.3", "[::1]"])
        refused(yield* who.call("GET", check + address), 422, "invalid_request")
      refused(yield* who.call("GET", `${place.path}/ip-allow/check`), 422, "invalid_request")
      yield* (yield* Ahead).by("61 seconds")
      assert.deepStrictEqual(yield* listed(who, place), [])
      assert.deepStrictEqual((yield* who.call("GET", `${check}11.1.2.3`)).body, { allowed: true, matched: null })
      refused(yield* who.call("DELETE", `${place.path}/ip-allow/10.0.0.0%2F8`), 404, "not_found")
      assert.strictEqual((yield* add(who, place, { cidr: "10.0.0.0/8" })).status, 201)
    })
  )

  it.effect("GET ip-allow/summary, 200: how many rules are in force and expire; 404: a foreign project", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const summary = Effect.map(who.call("GET", `${place.path}/ip-allow/summary`), ({ body }) => body)
      assert.deepStrictEqual(yield* summary, { summary: { rules: 0, expiring: 0 } })
      yield* add(who, place, { cidr: "10.0.0.0/8", ttl_seconds: 60 })
      yield* add(who, place, { cidr: "192.0.2.0/24" })
      assert.deepStrictEqual(yield* summary, { summary: { rules: 2, expiring: 1 } })
      yield* (yield* Ahead).by("61 seconds")
      assert.deepStrictEqual(yield* summary, { summary: { rules: 1, expiring: 0 } })
      refused(yield* (yield* arrive()).call("GET", `${place.path}/ip-allow/summary`), 404, "not_found")
    })
  )

  it.effect("POST ip-allow, 409: above 1,000 rules in force; replacements and expired rules do not count", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const place = yield* project(who)
      const by = new UserRef({ id: UserId.make(who.user_id), email: who.email })
      const now = DateTime.nowUnsafe()
      for (let i = 0; i < maxRules; i++) {
        const ttl = i === 0 ? { ttl_seconds: 600 } : {}
        const rule = { cidr: `10.${Math.floor(i / 256)}.${i % 256}.0/24`, ...ttl }
        yield* listRule(ProjectId.make(place.id), yield* Effect.fromResult(makeRule(rule, by, now)))
      }
      refused(yield* add(who, place, { cidr: "192.0.2.0/24" }), 409, "conflict")
      assert.strictEqual((yield* add(who, place, { cidr: "10.0.1.0/24", label: "again" })).status, 200)
      assert.strictEqual((yield* listed(who, place)).length, maxRules)
      yield* (yield* Ahead).by("11 minutes")
      const later = yield* who.call("POST", "/v1/auth/refresh")
      const fresh = withToken(who, later.body.access_token)
      assert.strictEqual((yield* add(fresh, place, { cidr: "192.0.2.0/24" })).status, 201)
    })
  )

  it.effect("a foreign project is answered before an invalid network", () =>
    Effect.gen(function* () {
      const place = yield* project(yield* founder())
      const stranger = yield* arrive()
      refused(yield* add(stranger, place, { cidr: "nonsense" }), 404, "not_found")
      refused(yield* stranger.call("DELETE", `${place.path}/ip-allow/nonsense`), 404, "not_found")
      refused(yield* stranger.call("DELETE", `${place.path}/ip-allow?x=1`), 404, "not_found")
    })
  )
})
