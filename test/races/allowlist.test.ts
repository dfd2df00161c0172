/** The last place of an allowlist is given once. */
import { layer } from "@effect/vitest"
import { IpAllowlist, maxRules, Projects } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Result } from "effect"
import { patience, race, rounds, successes } from "./support/rounds.ts"
import { signIn, world } from "./support/world.ts"

const places = 2
const adds = 10

layer(world, { excludeTestServices: true })("an allowlist", (it) => {
  it.effect(
    `holds ${maxRules} networks and no more, however many are added at once`,
    () =>
      Effect.gen(function* () {
        const allowlist = yield* IpAllowlist
        const { query } = yield* Database
        const owner = yield* signIn("owner@example.com")
        const { project } = yield* (yield* Projects).create(owner, { name: "p", region: null })
        yield* query("test", "insert into ip_allowlist (project_id, version) values ($1, 1)", [project.id])
        yield* query(
          "test",
          `insert into ip_rule (project_id, cidr, label, created_at, created_by)
           select $1, format('10.%s.%s.0/24', n / 256, n % 256), 'there before', now(), $2::jsonb
           from generate_series(1, $3::int) n`,
          [project.id, JSON.stringify(owner.user.ref), maxRules - places]
        )
        yield* rounds(
          "the last places",
          (n) =>
            Effect.gen(function* () {
              const add = (it: number) =>
                allowlist.add(project, { cidr: `192.0.2.${it}/32`, label: `round ${n}` }, owner.user.ref)
              const outcomes = yield* race(Array.from({ length: adds }, (_, it) => add(it)))
              const { rules } = yield* allowlist.list(project.id)
              const strange = outcomes.filter((it) => Result.isFailure(it) && it.failure._tag !== "Conflict")
              yield* query("test", "delete from ip_rule where project_id = $1 and cidr like '192.%'", [project.id])
              return [
                ...(rules.length === maxRules ? [] : [`it held ${rules.length}`]),
                ...(successes(outcomes) === places ? [] : [`${successes(outcomes)} were added`]),
                ...(strange.length === 0 ? [] : [`${strange.length} were answered something else`])
              ]
            }),
          { lanes: 1 }
        )
      }),
    patience
  )
})
