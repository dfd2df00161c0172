/** How often each page calls the API (docs/design/console.md W49): every call costs both programs. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { layerTestConsole } from "./support/Console.ts"
import { go, withProject } from "./support/projectVisit.ts"

/** Of every page: who is signed in, the organizations to switch to, and the invitations that wait. */
const frame = ["/v1/auth/whoami", "/v1/invitations", "/v1/orgs"]

/** Of a page with operations that other people began, as the double's are: their names. */
const people = (org: string) => `/v1/orgs/${org}/members`

/** Of every page of a project: the projects to switch to, among which its own is. */
const inside = [...frame, "/v1/projects"]

layer(layerTestConsole(), { excludeTestServices: true })("calls of the API", (it) => {
  it.effect("each page calls the API for what it shows, and for nothing else", () =>
    Effect.gen(function* () {
      const { seen } = yield* ApiDouble
      const { browser, here, home, org, project } = yield* withProject("calls@example.com")
      const own = `/v1/projects/${project.id}`
      const branch = `/branches/${project.branch_id}`
      const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
        [`${home}/projects`]: [...frame, "/v1/projects", `${own}/endpoints`],
        [`${home}/projects/new`]: [...frame, "/v1/regions"],
        [`${home}/activity`]: [...frame, "/v1/events/history", "/v1/projects", people(org)],
        [`${home}/members`]: [...frame, people(org), `/v1/orgs/${org}/invitations`],
        [`${home}/api-keys`]: [...frame, "/v1/api-keys/"],
        [`${home}/regions`]: [...frame, "/v1/regions"],
        [here]: [...inside, `${own}/branches`, `${own}/endpoints`, `${own}/operations`, `${own}/ip-allow`, people(org)],
        [`${here}/branches`]: [...inside, `${own}/branches`, `${own}/endpoints`],
        // The branches to switch to, and all, among which its parent and its copies are.
        [`${here}${branch}`]: [...inside, `${own}/branches`, `${own}/branches`, `${own}${branch}`, `${own}/endpoints`],
        [`${here}/endpoints`]: [...inside, `${own}/branches`, `${own}/endpoints`],
        [`${here}/operations`]: [...inside, `${own}/branches`, `${own}/endpoints`, `${own}/operations`, people(org)],
        [`${here}/ip-allow`]: [...inside, `${own}/ip-allow`, `${own}/ip-allow/refusals`],
        [`${here}/settings`]: inside
      }
      yield* go(() => browser.open(`${home}/projects`))
      for (const [page, calls] of Object.entries(expected)) {
        const before = seen.length
        assert.strictEqual((yield* go(() => browser.open(page))).status, 200, page)
        const made = seen.slice(before).map(({ url }) => url.split("?")[0])
        assert.deepStrictEqual(made.toSorted(), [...calls].toSorted(), page)
      }
    })
  )

  it.effect("a page's own calls do not wait for those of the frame", () =>
    Effect.gen(function* () {
      const { arrival, held } = yield* ApiDouble
      const { browser, here, home, project } = yield* withProject("together@example.com")
      const firstOf: Readonly<Record<string, string>> = {
        [`${home}/projects`]: "/v1/projects",
        [`${home}/activity`]: "/v1/events/history",
        [`${home}/api-keys`]: "/v1/api-keys/",
        [`${home}/regions`]: "/v1/regions",
        [here]: `/v1/projects/${project.id}/operations`,
        [`${here}/branches`]: `/v1/projects/${project.id}/branches`,
        [`${here}/endpoints`]: `/v1/projects/${project.id}/endpoints`,
        [`${here}/operations`]: `/v1/projects/${project.id}/operations`,
        [`${here}/ip-allow`]: `/v1/projects/${project.id}/ip-allow`
      }
      for (const [page, path] of Object.entries(firstOf)) {
        held.set("/v1/auth/whoami", arrival(path))
        assert.strictEqual((yield* go(() => browser.open(page))).status, 200, page)
      }
      held.clear()
    })
  )

  it.effect("a project that is older than those of the menu is read by its id", () =>
    Effect.gen(function* () {
      const { last, state } = yield* ApiDouble
      const { here, open, org, project } = yield* withProject("older@example.com")
      for (let more = 0; more < 30; more++) state.addProject(org, `newer-${more}`)
      assert.include((yield* open("/settings")).text, project.id, here)
      assert.isDefined(last("GET", `/v1/projects/${project.id}`))
    })
  )
})
