/** `GET /v1/orgs/{org_id}/audit`: filters, pages and files. */
import { assert, layer } from "@effect/vitest"
import { layerMemoryPorts } from "@narthex/core"
import { Effect } from "effect"
import { apiOver } from "../support/apiOver.ts"
import { arrive, founder, joined, key, refused } from "../support/story.ts"
import { entries } from "./entriesOf.ts"

layer(apiOver(layerMemoryPorts), { excludeTestServices: true })("the list of the audit log", (it) => {
  it.effect("an entry is listed if all filters fit; an unknown value is an empty list", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const ci = yield* key(who)
      yield* ci.call("POST", "/v1/projects", { body: { name: "shop" } })
      const [made] = yield* entries(who, "?action=project.created")
      const target = made?.targets[0]?.id
      const count = (query: string) => Effect.map(entries(who, query), (all) => all.length)
      assert.strictEqual(yield* count(`?target_id=${target}`), 1)
      assert.strictEqual(yield* count(`?actor_id=${ci.id}`), 1)
      assert.strictEqual(yield* count(`?actor_id=${who.user_id}`), 3)
      assert.strictEqual(yield* count(`?actor_id=${who.user_id}&action=api_key.created&outcome=done`), 1)
      assert.strictEqual(yield* count("?from=2000-01-01T00:00:00Z&until=2100-01-01T00:00:00Z"), 3)
      for (const none of [
        "action=nothing",
        "actor_id=%00",
        "target_id=x",
        "outcome=refused",
        "until=2000-01-01T00:00:00Z"
      ])
        assert.strictEqual(yield* count(`?${none}`), 0, none)
    })
  )

  it.effect("422: an outcome or an instant that is none; 400: a cursor of another list", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const path = `/v1/orgs/${who.org_id}/audit`
      for (const query of ["outcome=maybe", "from=yesterday", "limit=0"])
        refused(yield* who.call("GET", `${path}?${query}`), 422, "invalid_request")
      refused(yield* who.call("GET", `${path}?cursor=x`), 400, "malformed_request")
    })
  )

  it.effect("pages join without a gap, in every form", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      for (let n = 0; n < 4; n++) yield* who.call("POST", "/v1/projects", { body: { name: `p${n}` } })
      const path = `/v1/orgs/${who.org_id}/audit`
      const all = (yield* entries(who)).map(({ id }) => id)
      const read: Array<string> = []
      for (let cursor: string | null = ""; cursor !== null; ) {
        const page: { body: { entries: ReadonlyArray<{ id: string }>; pagination: { next_cursor: string | null } } } =
          yield* who.call("GET", `${path}?limit=2${cursor === "" ? "" : `&cursor=${cursor}`}`)
        read.push(...page.body.entries.map(({ id }) => id))
        cursor = page.body.pagination.next_cursor
      }
      assert.deepStrictEqual(read, all)

      const lines: Array<string> = []
      for (let next: string | undefined = `${path}?limit=2`; next !== undefined; ) {
        const page: { text: string; headers: Readonly<Record<string, string | undefined>> } = yield* who.call(
          "GET",
          next,
          {
            headers: { accept: "application/x-ndjson" }
          }
        )
        assert.match(page.headers["content-type"] ?? "", /^application\/x-ndjson/)
        lines.push(...page.text.trimEnd().split("\n"))
        next = /<([^>]+)>; rel="next"/.exec(page.headers["link"] ?? "")?.[1]
      }
      assert.deepStrictEqual(
        lines.map((line) => JSON.parse(line).id),
        all
      )
    })
  )

  it.effect("CSV has a row of names, and no cell that a spreadsheet runs", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      yield* who.call("POST", "/v1/projects", {
        body: { name: 'a "quoted", name' },
        headers: { "user-agent": "=cmd|' /C calc'!A0" }
      })
      const file = yield* who.call("GET", `/v1/orgs/${who.org_id}/audit?action=project.created`, {
        headers: { accept: "text/csv, application/json;q=0.5" }
      })
      assert.match(file.headers["content-type"] ?? "", /^text\/csv/)
      const [head, row, end] = file.text.split("\r\n")
      assert.match(head ?? "", /^occurred_at,action,outcome,actor_type,/)
      assert.include(row, ",project.created,done,user,")
      assert.include(row, `,'=cmd|' /C calc'!A0,`)
      assert.include(row, '(a ""quoted"", name)')
      assert.strictEqual(end, "")
      assert.isUndefined(file.headers["link"])
    })
  )

  it.effect("JSON answers where a file is not preferred", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      for (const accept of [
        "*/*",
        "application/json",
        "text/csv;q=0",
        "text/csv;q=0.3, application/json",
        "text/html"
      ]) {
        const answer = yield* who.call("GET", `/v1/orgs/${who.org_id}/audit`, { headers: { accept } })
        assert.match(answer.headers["content-type"] ?? "", /^application\/json/, accept)
      }
    })
  )

  it.effect("owners and admins read it, and their keys that read the organization; agents' keys do not", () =>
    Effect.gen(function* () {
      const owner = yield* founder()
      const path = `/v1/orgs/${owner.org_id}/audit`
      const admin = yield* joined(owner, "admin")
      const member = yield* joined(owner, "member")
      const reader = yield* key(owner, { capability: "read" })
      const agent = yield* key(owner, { capability: "agent" })
      for (const who of [owner, admin, reader]) assert.strictEqual((yield* who.call("GET", path)).status, 200)
      refused(yield* member.call("GET", path), 403, "role_insufficient")
      refused(yield* agent.call("GET", path), 403, "capability_insufficient")
      refused(yield* (yield* arrive()).call("GET", path), 404, "not_found")
    })
  )
})
