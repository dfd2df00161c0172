/**
 * Creations and starts at the same moment, on Postgres: together they never exceed a quota.
 * Holds docs/design/api.md A10.
 */
import { assert, layer } from "@effect/vitest"
import {
  Branches,
  bySystem,
  defaultQuotas,
  Endpoints,
  Invitations,
  Organizations,
  Projects,
  type QuotaName,
  QuotaPolicy,
  Quotas,
  type SessionCaller,
  Webhooks
} from "@narthex/core"
import { Effect } from "effect"
import { patience, race, successes } from "./support/rounds.ts"
import { signIn, world } from "./support/world.ts"

const attempts = 50
const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: 3600, endpoint: true }

const limited = Effect.provideService(QuotaPolicy, {
  ...defaultQuotas,
  personal_percent: 100,
  projects: 7,
  sandboxes: 6,
  running_computes: 5,
  invitations: 8,
  organizations: 4,
  webhooks: 5
})

const heldOf = (owner: SessionCaller, quota: QuotaName) =>
  Quotas.use(({ usage }) =>
    Effect.map(usage({ id: owner.org_id, personal: true }), (all) => all.find((it) => it.quota === quota)?.held)
  )

/** Starts all at the same moment. The places that are free are taken, and the others are refused by this quota. */
const raced = <A, E extends { readonly _tag: string }, R>(
  owner: SessionCaller,
  quota: QuotaName,
  allowed: number,
  starters: ReadonlyArray<Effect.Effect<A, E, R>>
) =>
  Effect.gen(function* () {
    const outcomes = yield* race(starters)
    assert.strictEqual(successes(outcomes), allowed)
    const others = outcomes.flatMap((it) => (it._tag === "Failure" ? [it.failure] : []))
    for (const failure of others) {
      const { _tag, allowed: number, quota: name } = failure as { _tag: string; allowed?: number; quota?: string }
      assert.deepStrictEqual([_tag, name, number], ["QuotaExceeded", quota, allowed])
    }
    assert.strictEqual(yield* heldOf(owner, quota), allowed)
  })

const times = <A>(make: (n: number) => A) => Array.from({ length: attempts }, (_, n) => make(n))

layer(world, { excludeTestServices: true })("quotas under parallel calls", (it) => {
  it.effect(
    "50 simultaneous creations of projects make as many as the quota allows",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("projects@example.com")
        const projects = yield* Projects
        yield* raced(
          owner,
          "projects",
          7,
          times((n) => projects.create(owner, { name: `p${n}`, region: null }))
        )
      }).pipe(limited),
    patience
  )

  it.effect(
    "50 simultaneous creations of webhooks make as many as the quota allows",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("webhooks@example.com")
        const webhooks = yield* Webhooks
        const hook = { url: "https://hooks.example.com/", label: "", types: [], project_id: null }
        yield* raced(
          owner,
          "webhooks",
          5,
          times(() => webhooks.create(owner, hook))
        )
      }).pipe(limited),
    patience
  )

  it.effect(
    "50 simultaneous sandboxes on two projects make as many as the quota allows",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("sandboxes@example.com")
        const [branches, projects] = [yield* Branches, yield* Projects]
        const one = yield* projects.create(owner, { name: "one", region: null })
        const two = yield* projects.create(owner, { name: "two", region: null })
        const make = (n: number) => branches.create(owner, (n % 2 === 0 ? one : two).project, wanted)
        yield* raced(owner, "sandboxes", 6, times(make))
      }).pipe(limited),
    patience
  )

  it.effect(
    "50 simultaneous starts of 7 endpoints run as many computes as the quota allows",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("starts@example.com")
        const [endpoints, projects] = [yield* Endpoints, yield* Projects]
        const made = yield* Effect.forEach(Array.from({ length: 7 }), () =>
          projects.create(owner, { name: "p", region: null })
        )
        const outcomes = yield* race(
          times((n) => {
            const { endpoint, project } = made[n % made.length] ?? assert.fail("no project")
            return endpoints.setDesiredState(project, endpoint.id, "active", bySystem)
          })
        )
        const started = new Set(outcomes.flatMap((it) => (it._tag === "Success" ? [it.success.endpoint.id] : [])))
        assert.strictEqual(started.size, 5)
        for (const it of outcomes)
          if (it._tag === "Failure")
            assert.deepInclude(it.failure, { _tag: "QuotaExceeded", quota: "running_computes" })
        assert.strictEqual(yield* heldOf(owner, "running_computes"), 5)
      }).pipe(limited),
    patience
  )

  it.effect(
    "50 simultaneous invitations are as many as the quota allows",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("invitations@example.com")
        const invitations = yield* Invitations
        const invite = (n: number) => invitations.create(owner, { email: `guest${n}@example.com`, role: "member" })
        yield* raced(owner, "invitations", 8, times(invite))
      }).pipe(limited),
    patience
  )

  it.effect(
    "50 simultaneous organizations of a person are as many as the quota allows",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("organizations@example.com")
        const organizations = yield* Organizations
        yield* raced(
          owner,
          "organizations",
          4,
          times((n) => organizations.create(owner, `Team ${n}`))
        )
        assert.lengthOf((yield* organizations.list(owner, { limit: 100, after: null })).items, 5)
      }).pipe(limited),
    patience
  )
})
