/** Webhooks of an organization. Holds docs/design/webhooks.md H15 and H16. */
import { assert, layer } from "@effect/vitest"
import { defaultQuotas, OrgId, WebhookStore } from "@narthex/core"
import { Effect } from "effect"
import { memoryApi } from "../support/apiOver.ts"
import { type Caller, founder, joined, refused } from "../support/story.ts"

const path = ({ org_id }: Caller) => `/v1/orgs/${org_id}/webhooks`
const url = "https://hooks.example.com/ada"
const create = (who: Caller, body: Record<string, unknown> = { url }) => who.call("POST", path(who), { body })

layer(memoryApi({ idle: true, quotas: { ...defaultQuotas, webhooks: 5 } }), { excludeTestServices: true })(
  "webhooks",
  (it) => {
    it.effect("POST webhooks, 201: the secret once, and the webhook without it, which GET answers too", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const made = yield* create(who, { url: ` ${url} `, label: "billing", types: ["operation.updated.v1"] })
        assert.strictEqual(made.status, 201)
        const { secret, webhook } = made.body
        assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/)
        assert.strictEqual(made.headers["location"], `${path(who)}/${webhook.id}`)
        assert.strictEqual(made.headers["cache-control"], "no-store")
        assert.deepStrictEqual(
          { ...webhook, id: "", created_at: "", updated_at: "", position: "" },
          {
            ...{ id: "", org_id: who.org_id, project_id: null, url, label: "billing", types: ["operation.updated.v1"] },
            ...{ status: "active", paused_reason: null, position: "", failures_count: 0, next_attempt_at: null },
            ...{ previous_secret_expires_at: null, created_at: "", updated_at: "" },
            created_by: { id: who.user_id, email: who.email }
          }
        )
        const read = yield* who.call("GET", `${path(who)}/${webhook.id}`)
        assert.deepStrictEqual(read.body, { webhook })
        const { body } = yield* who.call("GET", path(who))
        assert.deepStrictEqual(body, { webhooks: [webhook], pagination: { next_cursor: null } })
      })
    )

    it.effect("POST webhooks, 422: a URL, type, label or project that is none, and a member that nothing knows", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        for (const body of [
          ...[{}, { url: 5 }, { url: "http://hooks.example.com" }, { url: "https://127.0.0.1" }, { url: "hooks" }],
          ...[
            { url, types: ["Not A Type"] },
            { url, types: "all" },
            { url, types: Array(51).fill("a.b.v1") }
          ],
          ...[
            { url, label: "x".repeat(257) },
            { url, project_id: "prj-unknown" },
            { url, secret: "whsec_own" }
          ]
        ])
          refused(yield* create(who, body), 422, "invalid_request")
      })
    )

    it.effect("POST webhooks, 422 quota_exceeded: more than the quota; a deletion gives the place back", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const made = yield* Effect.forEach([1, 2, 3, 4, 5], () => create(who))
        assert.deepStrictEqual(new Set(made.map(({ status }) => status)), new Set([201]))
        const { body } = yield* create(who)
        assert.deepInclude(body, { code: "quota_exceeded", quota: "webhooks", held: 5, allowed: 5 })
        const gone = yield* who.call("DELETE", `${path(who)}/${made[0]?.body.webhook.id}`)
        assert.strictEqual(gone.status, 204)
        assert.strictEqual((yield* create(who)).status, 201)
      })
    )

    it.effect("PATCH, 200: the members that are given; 404 for a webhook of another organization or none", () =>
      Effect.gen(function* () {
        const [who, other] = [yield* founder(), yield* founder()]
        const { webhook } = (yield* create(who)).body
        const here = `${path(who)}/${webhook.id}`
        const changed = yield* who.call("PATCH", here, { body: { label: "new", types: null } })
        assert.deepInclude(changed.body.webhook, { label: "new", url, types: [] })
        refused(yield* who.call("PATCH", here, { body: { project_id: null } }), 422, "invalid_request")
        for (const method of ["GET", "PATCH", "DELETE"] as const) {
          const body = method === "PATCH" ? { body: { label: "x" } } : {}
          refused(yield* other.call(method, `${path(other)}/${webhook.id}`, body), 404, "not_found")
          refused(yield* who.call(method, `${path(who)}/unknown`, body), 404, "not_found")
        }
      })
    )

    it.effect("POST rotate-secret, 201: another secret, and until when the former one signs too", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { secret, webhook } = (yield* create(who)).body
        const rotate = (body?: Record<string, unknown>) =>
          who.call("POST", `${path(who)}/${webhook.id}/rotate-secret`, body === undefined ? {} : { body })
        const day = yield* rotate()
        assert.strictEqual(day.status, 201)
        assert.notStrictEqual(day.body.secret, secret)
        const until = Date.parse(day.body.webhook.previous_secret_expires_at)
        assert.strictEqual(until - Date.parse(day.body.webhook.updated_at), 86_400_000)
        assert.isNull((yield* rotate({ grace_seconds: 0 })).body.webhook.previous_secret_expires_at)
        refused(yield* rotate({ grace_seconds: 86_401 }), 422, "invalid_request")
      })
    )

    it.effect("a repeated creation has one effect, and shows no secret again", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const options = { body: { url }, headers: { "idempotency-key": "once" } }
        const [first, again] = [
          yield* who.call("POST", path(who), options),
          yield* who.call("POST", path(who), options)
        ]
        assert.strictEqual(again.headers["idempotent-replayed"], "true")
        assert.deepStrictEqual(again.body, { ...first.body, secret: null })
        assert.lengthOf((yield* who.call("GET", path(who))).body.webhooks, 1)
      })
    )

    it.effect("POST test and replay, 200; POST replay, 422: an event that the organization does not have", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const { webhook } = (yield* create(who)).body
        const post = (call: string, body?: Record<string, unknown>) =>
          who.call("POST", `${path(who)}/${webhook.id}/${call}`, body === undefined ? {} : { body })
        assert.strictEqual((yield* post("test")).status, 200)
        const { events } = (yield* who.call("GET", "/v1/events/history")).body
        assert.deepInclude(events.at(-1), { type: "webhook.test.v1", data: { webhook_id: webhook.id } })
        assert.strictEqual((yield* post("replay", { after: events.at(-1).id })).body.webhook.position, events.at(-1).id)
        for (const after of ["soon", "7ZZZZZZZZZZZZZZZZZZZZZZZZZ"])
          refused(yield* post("replay", { after }), 422, "invalid_request")
        const { body } = yield* who.call("GET", `${path(who)}/${webhook.id}/deliveries`)
        assert.deepStrictEqual(body, { deliveries: [], pagination: { next_cursor: null } })
      })
    )

    it.effect("deliveries go on when the person who created the webhook leaves, and end with the organization", () =>
      Effect.gen(function* () {
        const who = yield* founder()
        const admin = yield* joined(who, "admin")
        const { webhook } = (yield* create(admin)).body
        const left = yield* who.call("DELETE", `/v1/orgs/${who.org_id}/members/${admin.user_id}`)
        assert.strictEqual(left.status, 204)
        const kept = yield* who.call("GET", `${path(who)}/${webhook.id}`)
        assert.deepInclude(kept.body.webhook, { status: "active", created_by: webhook.created_by })
        assert.strictEqual((yield* who.call("DELETE", `/v1/orgs/${who.org_id}`)).status, 204)
        const { items } = yield* (yield* WebhookStore).list(OrgId.make(who.org_id), { limit: 10, after: null })
        assert.deepStrictEqual(items, [])
      })
    )
  }
)
