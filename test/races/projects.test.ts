/** Branches and endpoints that are made while their project is removed. */
import { assert, layer } from "@effect/vitest"
import { Branches, Endpoints, type Project, Projects, type SessionCaller } from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { signIn, world } from "./support/world.ts"

const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
const another = { type: "read_only" as const, suspend_timeout_seconds: null }

/** A new project, its removal, and what is made in it. */
const projectOf = (owner: SessionCaller) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const endpoints = yield* Endpoints
    const projects = yield* Projects
    const { branch, project } = yield* projects.create(owner, { name: "p", region: null })
    const makeBranch = branches.create(owner, project, wanted)
    return {
      project,
      remove: projects.remove(owner, project),
      makeBranch,
      makeBranches: Effect.flatMap(makeBranch, (made) =>
        branches.create(owner, project, { ...wanted, parent_id: made.branch.id })
      ),
      makeEndpoint: endpoints.create(owner, project, { ...another, branch_id: branch.id })
    }
  })

/** Branches and endpoints that outlived the project. */
const leftOf = (project: Project) =>
  Effect.gen(function* () {
    const { query } = yield* Database
    const [left] = yield* query<{ readonly branches: number; readonly endpoints: number }>(
      "test",
      `select
         (select count(*) from narthex.branch where project_id = $1 and deleted_at is null) as branches,
         (select count(*) from narthex.endpoint where project_id = $1 and deleted_at is null) as endpoints`,
      [project.id]
    )
    return [
      ...(left?.branches === 0 ? [] : [`${left?.branches} branches of nothing`]),
      ...(left?.endpoints === 0 ? [] : [`${left?.endpoints} endpoints of nothing`])
    ]
  })

layer(world, { excludeTestServices: true })("a project", (it) => {
  it.effect("a removed project accepts no branch and no endpoint", () =>
    Effect.gen(function* () {
      const it = yield* projectOf(yield* signIn("first@example.com"))
      const { first, others } = yield* inOrder<unknown, unknown, never, unknown, { readonly _tag: string }, never>(
        it.remove,
        [it.makeBranch, it.makeEndpoint]
      )
      assert.isTrue(Result.isSuccess(first))
      assert.deepStrictEqual(
        others.map((it) => (Result.isSuccess(it) ? "made" : it.failure._tag)),
        ["InvalidMember", "InvalidMember"]
      )
      assert.deepStrictEqual(yield* leftOf(it.project), [])
    })
  )

  for (const what of ["makeBranch", "makeBranches", "makeEndpoint"] as const)
    it.effect(`a project's removal includes what was made just before it (${what})`, () =>
      Effect.gen(function* () {
        const it = yield* projectOf(yield* signIn(`${what}@example.com`))
        const { first, others } = yield* inOrder<unknown, unknown, never, unknown, unknown, never>(it[what], [
          it.remove
        ])
        // The second of two branches may come too late; the first one was there before the end.
        assert.isTrue(Result.isSuccess(first) || what === "makeBranches")
        assert.isTrue(others.every(Result.isSuccess))
        assert.deepStrictEqual(yield* leftOf(it.project), [])
      })
    )

  it.effect(
    "a project that is removed while branches and endpoints are made in it leaves none of them",
    () =>
      Effect.gen(function* () {
        const owner = yield* signIn("owner@example.com")
        const outcomes = { made: 0, refused: 0 }
        yield* rounds(
          "project's end",
          () =>
            Effect.gen(function* () {
              const it = yield* projectOf(owner)
              const [removed, ...makers] = yield* race<unknown, unknown, never>([
                it.remove,
                it.makeBranches,
                it.makeBranches,
                it.makeEndpoint
              ])
              outcomes.made += makers.filter(Result.isSuccess).length
              outcomes.refused += makers.filter(Result.isFailure).length
              return [
                ...(removed !== undefined && Result.isSuccess(removed) ? [] : ["it could not be removed"]),
                ...(yield* leftOf(it.project))
              ]
            }),
          { outcomes }
        )
      }),
    patience
  )
})
