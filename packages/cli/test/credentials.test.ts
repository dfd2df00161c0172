import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { signedIn } from "./support/signedIn.ts"

const branch = "br-01hzx0000000000000000000aa"
const project = "prj-01hzx0000000000000000000aa"
const where = ["--project", project, "--branch", branch]
const path = `/v1/projects/${project}/branches/${branch}/credentials`

const credential = {
  role: "role_0123456789abcdef",
  access: "read_write",
  state: "active",
  project_id: project,
  branch_id: branch,
  minted_by: { id: "01930000-0000-7000-8000-00000000cccc", email: "ada@example.com" },
  api_key_id: null,
  api_key_name: null,
  created_at: "2026-11-20T10:00:00.000Z",
  expires_at: null
}

describe("credential", () => {
  it.live("credential list prints the roles of a branch, who minted them and when they expire", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = (received) =>
        received.path === path
          ? { status: 200, body: { credentials: [credential], pagination: { next_cursor: null } } }
          : undefined
      const { code, stdout } = yield* run(["credential", "list", ...where])
      assert.strictEqual(code, 0)
      assert.match(stdout, /role_0123456789abcdef +read_write +active +ada@example\.com +- +\S.*never/)
    }).pipe(Effect.scoped)
  )

  it.live("credential revoke asks for --yes without a terminal, and names the role in the path", () =>
    Effect.gen(function* () {
      const { plane, run } = yield* signedIn
      plane.instead = (received) => (received.path.startsWith(path) ? { status: 204 } : undefined)
      const before = plane.requests.length
      assert.strictEqual((yield* run(["credential", "revoke", credential.role, ...where])).code, 2)
      assert.strictEqual((yield* run(["credential", "revoke", "..", ...where, "--yes"])).code, 2)
      assert.isFalse(plane.requests.slice(before).some(({ method }) => method === "DELETE"))
      assert.strictEqual((yield* run(["credential", "revoke", credential.role, ...where, "--yes"])).code, 0)
      const last = plane.requests.at(-1)
      assert.deepStrictEqual([last?.method, last?.path], ["DELETE", `${path}/${credential.role}`])
    }).pipe(Effect.scoped)
  )
})
