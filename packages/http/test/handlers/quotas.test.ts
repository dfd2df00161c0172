/** Quotas over HTTP: each is refused as `quota_exceeded`, and readable at `GET /v1/orgs/{org_id}/usage`. */
import { assert, layer } from "@effect/vitest"
import { BranchId, ComputeDriver, defaultQuotas, OrgId, type QuotaSettings, QuotaStore } from "@narthex/core"
import { DateTime, Effect } from "effect"
import { eventually } from "../../../../test/harness/eventually.ts"
import { memoryApi, proxyToken } from "../support/apiOver.ts"
import { address, arrive, branch, type Caller, founder, key, project, refused, settled } from "../support/story.ts"
import { type Answer, call } from "../support/wire.ts"

/** A personal organization has half of each. */
const quotas: QuotaSettings = {
  ...defaultQuotas,
  projects: 4,
  branches: 12,
  branches_per_project: 6,
  sandboxes: 4,
  endpoints: 10,
  credentials_per_branch: 4,
  running_computes: 2,
  memory_bytes: 10 * 1024 ** 3,
  members: 8,
  invitations: 6,
  organizations: 2,
  disk_bytes: 2 * 1024 ** 3,
  personal_percent: 50
}

const exceeded = (answer: Answer, quota: string, held: number, allowed: number) => {
  refused(answer, 422, "quota_exceeded")
  assert.deepInclude(answer.body, { quota, held, allowed })
  assert.match(answer.body.detail, /; its quota is .+\. .+, or ask the operator for a higher quota\.$/)
}

const usageOf = Effect.fnUntraced(function* (who: Caller) {
  const { body, status } = yield* who.call("GET", `/v1/orgs/${who.org_id}/usage`)
  assert.strictEqual(status, 200)
  const rows: ReadonlyArray<{ quota: string; held: number; allowed: number }> = body.usage
  return Object.fromEntries(rows.map(({ allowed, held, quota }) => [quota, [held, allowed]]))
})

layer(memoryApi({ quotas }), { excludeTestServices: true })("quotas", (it) => {
  it.effect("GET usage, 200: what the organization holds and may have, for every member", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const shop = yield* project(who)
      yield* branch(who, shop, { ttl_seconds: 3600, endpoint: true })
      const usage = yield* usageOf(who)
      assert.deepStrictEqual(usage, {
        projects: [1, 2],
        branches: [2, 6],
        branches_per_project: [2, 3],
        sandboxes: [1, 2],
        endpoints: [2, 5],
        credentials_per_branch: [0, 2],
        running_computes: [0, 1],
        memory_bytes: [0, 5 * 1024 ** 3],
        members: [1, 4],
        invitations: [0, 3],
        organizations: [0, 2],
        webhooks: [0, 5],
        disk_bytes: [0, 1024 ** 3]
      })
      const reader = yield* key(who, { capability: "read" })
      assert.deepStrictEqual(yield* usageOf(reader), usage)
      const team = yield* usageOf(yield* founder())
      assert.deepStrictEqual([team["projects"], team["organizations"]], [[0, 4], undefined])
    })
  )

  it.effect("POST projects, 422: beyond the quota of projects", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const first = yield* project(who)
      yield* project(who)
      exceeded(yield* who.call("POST", "/v1/projects", { body: { name: "x" } }), "projects", 2, 2)
      assert.strictEqual((yield* who.call("DELETE", first.path)).status, 202)
      assert.strictEqual((yield* who.call("POST", "/v1/projects", { body: { name: "x" } })).status, 201)
    })
  )

  it.effect("a replay of a creation takes no second place, and is answered at the quota too", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      yield* project(who)
      const sent = { body: { name: "x" }, headers: { "idempotency-key": "once" } }
      const made = yield* who.call("POST", "/v1/projects", sent)
      assert.strictEqual(made.status, 201)
      const again = yield* who.call("POST", "/v1/projects", sent)
      assert.deepStrictEqual([again.status, again.body.project.id], [201, made.body.project.id])
      assert.deepStrictEqual((yield* usageOf(who))["projects"], [2, 2])
    })
  )

  it.effect("POST branches, 422: beyond the quotas of branches, of a project's and of the organization's", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const [one, two] = [yield* project(who), yield* project(who)]
      for (const it of [one, one, two]) yield* branch(who, it)
      exceeded(yield* who.call("POST", `${one.path}/branches`), "branches_per_project", 3, 3)
      yield* branch(who, two)
      exceeded(yield* who.call("POST", `${two.path}/branches`), "branches", 6, 6)
    })
  )

  it.effect("POST sandboxes, and branches that expire, 422: beyond the quota of sandboxes", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const shop = yield* project(who)
      yield* settled(who, yield* who.call("POST", `${shop.path}/sandboxes`))
      const agent = yield* key(who, { capability: "agent" })
      yield* settled(agent, yield* agent.call("POST", `${shop.path}/sandboxes`))
      const full = ["sandboxes", 2, 2] as const
      const other = yield* project(who)
      exceeded(yield* agent.call("POST", `${other.path}/sandboxes`), ...full)
      exceeded(yield* who.call("POST", `${other.path}/branches`, { body: { ttl_seconds: 60 } }), ...full)
    })
  )

  it.effect("POST endpoints, 422: beyond the quota of endpoints", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const shop = yield* project(who)
      const make = () => who.call("POST", `${shop.path}/endpoints`, { body: { branch_id: shop.main } })
      for (let n = 0; n < 4; n++) assert.strictEqual((yield* make()).status, 201)
      exceeded(yield* make(), "endpoints", 5, 5)
    })
  )

  it.effect("POST credentials, 422: beyond the quota of a branch's credentials, until one is revoked", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const shop = yield* project(who)
      const at = `${shop.path}/branches/${shop.main}/credentials`
      const mint = () => who.call("POST", at, { body: { access: "read_write" } })
      const first = yield* mint()
      assert.deepStrictEqual([first.status, (yield* mint()).status], [201, 201])
      exceeded(yield* mint(), "credentials_per_branch", 2, 2)
      assert.deepStrictEqual((yield* usageOf(who))["credentials_per_branch"], [2, 2])
      assert.strictEqual((yield* who.call("DELETE", `${at}/${first.body.credential.role}`)).status, 204)
      yield* eventually(
        "the end of the credential to be confirmed",
        Effect.map(mint(), ({ status }) => status === 201)
      )
    })
  )

  it.effect("start and wake, 422: beyond the quota of running computes", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const [one, two] = [yield* project(who), yield* project(who)]
      const start = (it: typeof one) => who.call("POST", `${it.path}/endpoints/${it.endpoint}/start`)
      yield* settled(who, yield* start(one))
      exceeded(yield* start(two), "running_computes", 1, 1)
      const wake = call("POST", `/v1/proxy/endpoints/${two.endpoint}/wake`, {
        token: proxyToken,
        body: { client_address: "198.51.100.7" }
      })
      exceeded(yield* wake, "running_computes", 1, 1)
      assert.strictEqual((yield* start(one)).status, 200)
      yield* settled(who, yield* who.call("POST", `${one.path}/endpoints/${one.endpoint}/suspend`))
      assert.strictEqual((yield* wake).status, 200)
    })
  )

  it.effect("POST invitations, 422: beyond the quotas of invitations and of members", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const invite = () => who.call("POST", `/v1/orgs/${who.org_id}/invitations`, { body: { email: address() } })
      for (let n = 0; n < 3; n++) assert.strictEqual((yield* invite()).status, 201)
      exceeded(yield* invite(), "members", 4, 4)
      const store = yield* QuotaStore
      yield* store.setOverride(OrgId.make(who.org_id), "members", 10)
      exceeded(yield* invite(), "invitations", 3, 3)
    })
  )

  it.effect("POST orgs, 422: beyond the quota of organizations of a person, whichever organization is active", () =>
    Effect.gen(function* () {
      const who = yield* founder()
      const make = () => who.call("POST", "/v1/orgs", { body: { name: "Team" } })
      const second = yield* make()
      assert.strictEqual(second.status, 201)
      exceeded(yield* make(), "organizations", 2, 2)
      assert.strictEqual((yield* who.call("DELETE", `/v1/orgs/${who.org_id}`)).status, 204)
      const back = yield* arrive(who.email)
      assert.strictEqual((yield* back.call("POST", "/v1/orgs", { body: { name: "Team" } })).status, 201)
    })
  )

  it.effect("POST branches, sandboxes and reset, 422: when the copy would exceed the disk quota", () =>
    Effect.gen(function* () {
      const who = yield* arrive()
      const shop = yield* project(who)
      const made = yield* branch(who, shop)
      const store = yield* QuotaStore
      const gibibyte = 1024 ** 3
      // The driver reports the branch; a real machine would measure its bytes.
      const usage = yield* (yield* ComputeDriver).diskUsage
      assert.include(
        usage.map(({ branch_id }) => String(branch_id)),
        shop.main
      )
      yield* store.recordBytes(null, [{ branch_id: BranchId.make(shop.main), bytes: gibibyte }], yield* DateTime.now)
      for (const path of ["branches", "sandboxes", `branches/${made.branch.id}/reset`])
        exceeded(yield* who.call("POST", `${shop.path}/${path}`), "disk_bytes", gibibyte, gibibyte)
      exceeded(yield* who.call("POST", "/v1/projects", { body: { name: "x" } }), "disk_bytes", gibibyte, gibibyte)
      assert.deepStrictEqual((yield* usageOf(who))["disk_bytes"], [gibibyte, gibibyte])
    })
  )
})
