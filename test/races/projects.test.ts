/** What is made in a project at the moment of its end ends with it. */
import { layer } from "@effect/vitest"
import { Branches, Endpoints, Projects } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Result } from "effect"
import { patience, race, rounds } from "./support/rounds.ts"
import { signIn, world } from "./support/world.ts"

layer(world, { excludeTestServices: true })("a project", (it) => {
  it.effect(
    "that is removed while branches and endpoints are made in it leaves none of them",
    () =>
      Effect.gen(function* () {
        const branches = yield* Branches
        const endpoints = yield* Endpoints
        const projects = yield* Projects
        const { query } = yield* Database
        const owner = yield* signIn("owner@example.com")
        yield* rounds("project's end", () =>
          Effect.gen(function* () {
            const { branch, project } = yield* projects.create(owner, { name: "p", region: null })
            const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
            const branching = Effect.gen(function* () {
              const made = yield* branches.create(owner, project, wanted)
              yield* branches.create(owner, project, { ...wanted, parent_id: made.branch.id })
            })
            const another = { branch_id: branch.id, type: "read_only" as const, suspend_timeout_seconds: null }
            const [removed] = yield* race<unknown, unknown, never>([
              projects.remove(owner, project),
              branching,
              branching,
              endpoints.create(owner, project, branch, another)
            ])
            const [left] = yield* query<{ readonly branches: number; readonly endpoints: number }>(
              "test",
              `select
                 (select count(*) from branch where project_id = $1 and deleted_at is null) as branches,
                 (select count(*) from endpoint where project_id = $1 and deleted_at is null) as endpoints`,
              [project.id]
            )
            return [
              ...(removed !== undefined && Result.isSuccess(removed) ? [] : ["it could not be removed"]),
              ...(left?.branches === 0 && left.endpoints === 0
                ? []
                : [`${left?.branches} branches and ${left?.endpoints} endpoints of nothing`])
            ]
          })
        )
      }),
    patience
  )
})
