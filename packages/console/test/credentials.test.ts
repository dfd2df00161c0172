/** The page of a branch's database credentials. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in, with a project whose branch has these credentials. */
const withCredentials = Effect.fnUntraced(function* (email: string, ...stuck: ReadonlyArray<boolean>) {
  const { state } = yield* ApiDouble
  const { browser, home, org } = yield* signedInAs(email)
  const project = state.addProject(org, "storefront")
  for (const [at, it] of stuck.entries())
    project.credentials.push({ role: `role_${at}`, access: "read_only", stuck: it })
  const here = `${home}/projects/${project.id}/branches/${project.branch_id}/credentials`
  return {
    project,
    home,
    here,
    browser,
    open: go(() => browser.open(here)),
    revoke: (role: string) => go(() => browser.post(`${here}/revoke`, { role }))
  }
})

layer(layerTestConsole(), { excludeTestServices: true })("credentials", (it) => {
  it.effect("the page of a branch leads to its credentials, which have no password", () =>
    Effect.gen(function* () {
      const { browser, here, home, open, project } = yield* withCredentials("lists@example.com", false)
      const { text } = yield* go(() => browser.open(`${home}/projects/${project.id}/branches/${project.branch_id}`))
      assert.include(text, `href="${here}"`)
      const page = yield* open
      assert.strictEqual(page.status, 200)
      assert.match(page.text, /role_0.*valid.*read only.*ada@example\.com/s)
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
      const { here, open, project, revoke } = yield* withCredentials("revokes@example.com", false, false)
      for (const _ of ["once", "again"])
        assert.strictEqual((yield* revoke("role_1")).headers.get("location"), `${here}?done=credential-revoked`)
      assert.deepStrictEqual(
        project.credentials.map(({ role }) => role),
        ["role_0"]
      )
      assert.notMatch((yield* open).text, /role_1/)
    })
  )

  it.effect("a revocation that the compute does not confirm is an error that says so, with the list", () =>
    Effect.gen(function* () {
      const page = yield* (yield* withCredentials("stuck@example.com", true)).revoke("role_0")
      assert.strictEqual(page.status, 503)
      assert.match(page.text, /role="alert">The end of its sessions is not confirmed yet/)
      assert.match(page.text, /Revoke role_0/)
    })
  )

  it.effect("a text that is not a role does not become part of a path", () =>
    Effect.gen(function* () {
      const { project, revoke } = yield* withCredentials("forged@example.com", false)
      for (const forged of ["", "..", "role_0/../..", "ROLE_0", "role_0?x"]) {
        const page = yield* revoke(forged)
        assert.strictEqual(page.status, 422, forged)
      }
      assert.lengthOf(project.credentials, 1)
    })
  )

  it.effect("the credentials of another organization's branch are not found", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, home } = yield* withCredentials("foreign@example.com")
      const other = state.addProject(state.org("Other").id, "secret")
      const page = yield* go(() => browser.open(`${home}/projects/${other.id}/branches/${other.branch_id}/credentials`))
      assert.strictEqual(page.status, 404)
      assert.notInclude(page.text, "secret")
    })
  )
})
