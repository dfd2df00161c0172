/** The page of a branch's database credentials. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../../../test/harness/eventually.ts"
import { problem } from "../../../test/support/HostedPlane.ts"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { withProject } from "./support/projectVisit.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in, with a project whose branch has this many credentials. */
const withCredentials = Effect.fnUntraced(function* (email: string, count = 0) {
  const { browser, client, here: above, home, project } = yield* withProject(email)
  const branch = { project_id: project.id, branch_id: project.branch_id }
  const roles = yield* Effect.forEach(Array.from({ length: count }), () =>
    go(async () => (await client.branches.mint({ ...branch, access: "read_only" })).credential.role)
  )
  const here = `${above}/branches/${project.branch_id}/credentials`
  return {
    project,
    home,
    here,
    browser,
    roles,
    first: roles[0] ?? "",
    /** The roles that the API lists. */
    listed: async () => (await client.branches.credentials(branch)).credentials.map(({ role }) => role),
    open: go(() => browser.open(here)),
    revoke: (role: string) => go(() => browser.post(`${here}/revoke`, { role }))
  }
})

layer(layerTestConsole(), { excludeTestServices: true })("credentials", (it) => {
  it.effect("the page of a branch leads to its credentials, which have no password", () =>
    Effect.gen(function* () {
      const { browser, first, here, home, open, project } = yield* withCredentials("lists@example.com", 1)
      const { text } = yield* go(() => browser.open(`${home}/projects/${project.id}/branches/${project.branch_id}`))
      assert.include(text, `href="${here}"`)
      const page = yield* open
      assert.strictEqual(page.status, 200)
      assert.match(page.text, new RegExp(`${first}.*read only.*lists@example\\.com`, "s"))
      assert.notInclude(page.text, "postgresql://")
    })
  )

  it.effect("a branch without credentials says how to create one", () =>
    Effect.gen(function* () {
      assert.match((yield* (yield* withCredentials("none@example.com")).open).text, /No credentials/)
    })
  )

  it.effect("revoking a credential removes it, and revoking it again succeeds", () =>
    Effect.gen(function* () {
      const { first, here, listed, open, revoke, roles } = yield* withCredentials("revokes@example.com", 2)
      for (const _ of ["once", "again"])
        assert.strictEqual((yield* revoke(first)).headers.get("location"), `${here}?done=credential-revoked`)
      yield* go(() => until("the role to be dropped", async () => !(await listed()).includes(first)))
      assert.deepStrictEqual(yield* go(listed), roles.slice(1))
      assert.notInclude((yield* open).text, first)
    })
  )

  it.effect("a revocation that the compute does not confirm is an error that says so, with the list", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { first, revoke } = yield* withCredentials("stuck@example.com", 1)
      plane.instead = ({ method }) =>
        method === "DELETE" ? problem("unavailable", "The end of its sessions is not confirmed yet.") : undefined
      const page = yield* revoke(first)
      plane.instead = undefined
      assert.strictEqual(page.status, 503)
      assert.match(page.text, /role="alert">The end of its sessions is not confirmed yet/)
      assert.include(page.text, `Revoke ${first}`)
    })
  )

  it.effect("a text that is not a role does not become part of a path", () =>
    Effect.gen(function* () {
      const { first, listed, revoke } = yield* withCredentials("forged@example.com", 1)
      for (const forged of ["", "..", `${first}/../..`, first.toUpperCase(), `${first}?x`]) {
        const page = yield* revoke(forged)
        assert.strictEqual(page.status, 422, forged)
      }
      assert.deepStrictEqual(yield* go(listed), [first])
    })
  )

  it.effect("the credentials of another organization's branch are not found", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home } = yield* withCredentials("foreign@example.com")
      const other = yield* go(() => api.foreign("secret"))
      const page = yield* go(() => browser.open(`${home}/projects/${other.id}/branches/${other.branch_id}/credentials`))
      assert.strictEqual(page.status, 404)
      assert.notInclude(page.text, "secret")
    })
  )
})
