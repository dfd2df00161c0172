/** Parallel additions to an allowlist: the last place is taken once. */
import { assert, layer } from "@effect/vitest"
import { IpAllowlist, maxRules, type Project, Projects, type SessionCaller } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds, successes } from "./support/rounds.ts"
import { signIn, world } from "./support/world.ts"

const places = 2
const adds = 10

/** A project whose list has this many places left. */
const almostFull = (owner: SessionCaller) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
    yield* query("test", "insert into narthex.ip_allowlist (project_id, version) values ($1, 1)", [project.id])
    yield* query(
      "test",
      `insert into narthex.ip_rule (project_id, cidr, label, created_at, created_by)
       select $1, format('10.%s.%s.0/24', n / 256, n % 256), 'there before', now(), $2::jsonb
       from generate_series(1, $3::int) n`,
      [project.id, JSON.stringify(owner.user.ref), maxRules - places]
    )
    return project
  })

/** Additions of different networks. */
const additions = (owner: SessionCaller, project: Project) =>
  Effect.map(IpAllowlist, ({ add }) =>
    Array.from({ length: adds }, (_, at) => add(project, { cidr: `192.0.2.${at}/32`, label: "added" }, owner.user.ref))
  )

layer(world, { excludeTestServices: true })("an allowlist", (it) => {
  it.effect("the first of parallel additions takes the last place of an allowlist", () =>
    Effect.gen(function* () {
      const owner = yield* signIn("first@example.com")
      const project = yield* almostFull(owner)
      const [taken, first, ...others] = yield* additions(owner, project)
      if (taken === undefined || first === undefined) return assert.fail("there is nothing to add")
      yield* taken
      const outcomes = yield* inOrder(first, others)
      assert.isTrue(Result.isSuccess(outcomes.first))
      assert.deepStrictEqual(
        outcomes.others.map((it) => (Result.isSuccess(it) ? "added" : it.failure._tag)),
        others.map(() => "Conflict")
      )
    })
  )

  it.effect(
    `an allowlist holds at most ${maxRules} networks, however many are added at once`,
    () =>
      Effect.gen(function* () {
        const allowlist = yield* IpAllowlist
        const { query } = yield* Database
        const owner = yield* signIn("owner@example.com")
        const project = yield* almostFull(owner)
        const adding = yield* additions(owner, project)
        yield* rounds(
          "the last places",
          () =>
            Effect.gen(function* () {
              const outcomes = yield* race(adding)
              const { rules } = yield* allowlist.list(project.id)
              const strange = outcomes.filter((it) => Result.isFailure(it) && it.failure._tag !== "Conflict")
              yield* query("test", "delete from narthex.ip_rule where project_id = $1 and cidr like '192.%'", [
                project.id
              ])
              return [
                ...(rules.length === maxRules ? [] : [`it held ${rules.length}`]),
                ...(successes(outcomes) === places ? [] : [`${successes(outcomes)} were added`]),
                ...(strange.length === 0 ? [] : [`${strange.length} were answered something else`])
              ]
            }),
          { count: 6, lanes: 1 }
        )
      }),
    patience
  )
})
