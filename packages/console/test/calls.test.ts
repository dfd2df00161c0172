/** How often each page calls the API (docs/design/console.md W49): every call costs both programs. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { go, withProject } from "./support/projectVisit.ts"

/** The call of every page: who is signed in, the organizations to switch to, how many invitations are pending. */
const frame = ["/v1/account"]

/** The call of a page with operations that other people began, as here: their names. */
const people = (org: string) => `/v1/orgs/${org}/members`

layer(layerTestConsole(), { excludeTestServices: true })("calls of the API", (it) => {
  it.effect("each page calls the API for what it shows, and for nothing else", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, here, home, org, project } = yield* withProject("calls@example.com")
      const own = `/v1/projects/${project.id}`
      const branch = `/branches/${project.branch_id}`
      const endpoint = `/endpoints/${project.endpoint_id}`
      /** The calls of every page of a project: the frame, and the project with the parts that the page shows. */
      const inside = [...frame, `${own}/overview`]
      const expected: Readonly<Record<string, ReadonlyArray<string>>> = {
        [`${home}/projects`]: [...frame, "/v1/projects"],
        [`${home}/projects/new`]: [...frame, "/v1/regions", "/v1/sizes"],
        [`${home}/activity`]: [...frame, "/v1/events/history"],
        [`${home}/members`]: [...frame, people(org), `/v1/orgs/${org}/invitations`],
        [`${home}/api-keys`]: [...frame, "/v1/api-keys/"],
        [`${home}/regions`]: [...frame, "/v1/regions"],
        [here]: [...inside, people(org)],
        [`${here}/branches`]: [...inside, `${own}/branches`],
        [`${here}${branch}`]: inside,
        [`${here}${branch}/credentials`]: [...inside, `${own}${branch}/credentials`],
        [`${here}/endpoints`]: [...inside, `${own}/endpoints`],
        [`${here}${endpoint}`]: [...inside, `${own}${endpoint}`, "/v1/sizes"],
        [`${here}/operations`]: [...inside, `${own}/operations`, people(org)],
        [`${here}/ip-allow`]: [...inside, `${own}/ip-allow/refusals`],
        [`${here}/settings`]: inside
      }
      yield* go(() => browser.open(`${home}/projects`))
      for (const [page, calls] of Object.entries(expected)) {
        plane.requests.length = 0
        assert.strictEqual((yield* go(() => browser.open(page))).status, 200, page)
        const made = plane.requests.map(({ path }) => path)
        assert.deepStrictEqual(made.toSorted(), [...calls].toSorted(), page)
      }
    })
  )

  it.effect("a page asks for the parts of its project that it shows, and for no others", () =>
    Effect.gen(function* () {
      const { last } = yield* Api
      const { browser, here, project } = yield* withProject("parts@example.com")
      const expected: Readonly<Record<string, string | null>> = {
        [here]: "branches,endpoints,operations,ip_allow",
        [`${here}/branches`]: "endpoints",
        [`${here}/branches/${project.branch_id}`]: "branches,endpoints",
        [`${here}/endpoints`]: "branches",
        [`${here}/operations`]: "branches,endpoints",
        [`${here}/ip-allow`]: "ip_allow",
        [`${here}/settings`]: null
      }
      for (const [page, parts] of Object.entries(expected)) {
        assert.strictEqual((yield* go(() => browser.open(page))).status, 200, page)
        const asked = last("GET", `/v1/projects/${project.id}/overview`)?.query
        assert.strictEqual(asked?.get("include"), parts, page)
      }
    })
  )

  it.effect("a page's own calls do not wait for that of the frame", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, here, home, project } = yield* withProject("together@example.com")
      const own = `/v1/projects/${project.id}`
      const firstOf: Readonly<Record<string, string>> = {
        [`${home}/projects`]: "/v1/projects",
        [`${home}/activity`]: "/v1/events/history",
        [`${home}/api-keys`]: "/v1/api-keys/",
        [`${home}/regions`]: "/v1/regions",
        [here]: `${own}/overview`,
        [`${here}/branches`]: `${own}/branches`,
        [`${here}/branches/${project.branch_id}`]: `${own}/overview`,
        [`${here}/endpoints`]: `${own}/endpoints`,
        [`${here}/operations`]: `${own}/operations`,
        [`${here}/ip-allow`]: `${own}/ip-allow/refusals`
      }
      for (const [page, path] of Object.entries(firstOf)) {
        let arrived = () => {}
        const arrival = new Promise<void>((resolve) => {
          arrived = resolve
        })
        plane.instead = async (asked) => {
          if (asked.path === path) arrived()
          if (asked.path === "/v1/account") await arrival
          return undefined
        }
        assert.strictEqual((yield* go(() => browser.open(page))).status, 200, page)
      }
      plane.instead = undefined
    })
  )

  it.effect("the menu of projects has the newest, and the page of an older one is its own", () =>
    Effect.gen(function* () {
      const { client, open, project } = yield* withProject("older@example.com")
      for (let more = 0; more < 40; more++)
        yield* go(() => client.projects.create({ name: `newer-${more}`, region: "eu-north" }))
      const { text } = yield* open("/settings")
      assert.include(text, project.id)
      assert.include(text, ">newer-39</a>")
      assert.include(text, ">newer-10</a>")
      assert.notInclude(text, ">newer-9</a>")
    })
  )

  it.effect("a part that the API leaves out is no empty list: the page says that the API does not answer", () =>
    Effect.gen(function* () {
      const { plane } = yield* Api
      const { browser, here, project } = yield* withProject("left-out@example.com")
      plane.edit(`/v1/projects/${project.id}/overview`, (body: object) => ({ ...body, ip_allow: undefined }))
      const page = yield* go(() => browser.send(here))
      plane.instead = undefined
      assert.strictEqual(page.status, 503)
      assert.notInclude(page.text, "Any address")
    })
  )
})
