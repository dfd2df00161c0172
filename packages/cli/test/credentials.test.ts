import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { withShop } from "./support/signedIn.ts"

/** A project, a credential of its branch, and the flags that name the branch. */
const withCredential = Effect.gen(function* () {
  const world = yield* withShop()
  const { client, plane, project } = world
  const path = { project_id: project.id, branch_id: project.default_branch_id, access: "read_write" } as const
  const { credential } = yield* Effect.promise(() => client.branches.mint(path))
  plane.requests.length = 0
  return { ...world, role: credential.role, where: ["--project", project.id, "--branch", project.default_branch_id] }
})

describe("credential", () => {
  it.live("credential list prints the roles of a branch, who minted them and when they expire", () =>
    Effect.gen(function* () {
      const { role, run, where } = yield* withCredential
      const { code, stdout } = yield* run(["credential", "list", ...where])
      assert.strictEqual(code, 0)
      assert.match(stdout, new RegExp(`${role} +read_write +\\w+ +ada@example\\.com +- +\\S.*never`))
    }).pipe(Effect.scoped)
  )

  it.live("credential revoke asks for --yes without a terminal, and names the role in the path", () =>
    Effect.gen(function* () {
      const { plane, project, role, run, where } = yield* withCredential
      assert.strictEqual((yield* run(["credential", "revoke", role, ...where])).code, 2)
      assert.strictEqual((yield* run(["credential", "revoke", "..", ...where, "--yes"])).code, 2)
      assert.isFalse(plane.requests.some(({ method }) => method === "DELETE"))
      assert.strictEqual((yield* run(["credential", "revoke", role, ...where, "--yes"])).code, 0)
      const last = plane.requests.at(-1)
      const path = `/v1/projects/${project.id}/branches/${project.default_branch_id}/credentials/${role}`
      assert.deepStrictEqual([last?.method, last?.path], ["DELETE", path])
    }).pipe(Effect.scoped)
  )
})
