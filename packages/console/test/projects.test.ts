/** The pages of projects: the list, the form for one, the overview with its connection string. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { go, withProject } from "./support/projectVisit.ts"
import { signedInAs } from "./support/signedIn.ts"

layer(layerTestConsole(), { excludeTestServices: true })("projects", (it) => {
  it.effect("an empty list of projects names the command", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("empty@example.com")
      const page = yield* go(() => browser.open(`${home}/projects`))
      assert.match(page.text, /No projects yet/)
      assert.match(page.text, /narthex project create/)
    })
  )

  it.effect("the list says of each project whether it is up, and where it is", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, client, home, person } = yield* signedInAs("lists@example.com")
      const sleeping = yield* go(() => api.project(person, "sleeping"))
      const up = yield* go(() => api.project(person, "running", "us-west"))
      yield* go(async () => {
        const { operations } = await client.endpoints.start({ project_id: up.id, endpoint_id: up.endpoint_id })
        for (const operation of operations) await api.product.operations.waitFor(operation)
      })
      const page = yield* go(() => browser.open(`${home}/projects`))
      const row = (name: string) => new RegExp(`>${name}</a>.*?</tr>`).exec(page.text)?.[0]
      assert.match(row("sleeping") ?? "", /suspended.*eu-north/)
      assert.match(row("sleeping") ?? "", /data-label="Branches">1</)
      assert.match(row("sleeping") ?? "", /data-label="Size"><span class="faint">unknown/)
      assert.match(row("running") ?? "", /active.*us-west/)
      assert.notInclude(page.text, `>${sleeping.id}<`)
      assert.include(page.text, 'regions="projects-list"')
    })
  )

  it.effect("a search shows the projects whose names have its text, in one call, and keeps it when it is live", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home, person } = yield* signedInAs("finds@example.com")
      for (const name of ["Web shop", "workshop", "blog"]) yield* go(() => api.project(person, name))
      const found = yield* go(() => browser.open(`${home}/projects?name=SHOP`))
      for (const name of ["Web shop", "workshop"]) assert.include(found.text, `>${name}</a>`)
      assert.notInclude(found.text, ">blog</a>")
      assert.include(found.text, `page="${home}/projects?name=SHOP"`)
      const none = yield* go(() => browser.open(`${home}/projects?name=garden`))
      assert.include(none.text, "No project has such a name")
      assert.notInclude(none.text, "No projects yet")
      api.plane.edit("/v1/projects", (body: object) => ({ ...body, pagination: { next_cursor: "more" } }))
      const partly = yield* go(() => browser.open(`${home}/projects?name=shop`))
      api.plane.instead = undefined
      assert.include(partly.text, "Only the newest 1,000 projects were searched.")
    })
  )

  it.effect("the form for a project preselects the default region, and sent twice it creates one project", () =>
    Effect.gen(function* () {
      const { browser, client, home } = yield* signedInAs("maker@example.com")
      const form = yield* go(() => browser.open(`${home}/projects/new`))
      assert.match(form.text, /<input[^>]*value="eu-north"[^>]* checked/)
      const fields = { name: "shop", region: "us-west", form_token: fieldIn(form, "form_token") }
      const made = yield* go(() => browser.post(`${home}/projects`, fields))
      assert.strictEqual(made.status, 303)
      const page = yield* go(() => browser.open(made.headers.get("location") ?? ""))
      assert.match(page.text, /<h1>shop<\/h1>/)
      assert.match(page.text, /The project was created/)
      const again = yield* go(() => browser.post(`${home}/projects`, fields))
      assert.strictEqual(again.headers.get("location"), made.headers.get("location"))
      assert.lengthOf((yield* go(() => client.projects.list({}))).projects, 1)
    })
  )

  it.effect("region_required is shown at the region field, and the name is kept", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("region@example.com")
      const page = yield* go(() => browser.post(`${home}/projects`, { name: 'my "shop"', region: "" }))
      assert.strictEqual(page.status, 422)
      assert.match(page.text, /id="region-error">Choose a region/)
      assert.match(page.text, /aria-invalid="true"/)
      assert.strictEqual(fieldIn(page, "name"), "my &quot;shop&quot;")
    })
  )

  it.effect("an invalid project name is shown at the name field", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("name@example.com")
      const page = yield* go(() => browser.post(`${home}/projects`, { name: "x".repeat(129), region: "eu-north" }))
      assert.strictEqual(page.status, 422)
      assert.match(page.text, /id="name-error"/)
    })
  )

  it.effect("a project of another organization is not found", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home } = yield* signedInAs("foreign@example.com")
      const foreign = yield* go(() => api.foreign("secret"))
      for (const id of [foreign.id, "prj-nonsense", ".."]) {
        const page = yield* go(() =>
          browser.send(`${home}/projects/${encodeURIComponent(id)}/ip-allow/reset`, { method: "POST" })
        )
        assert.include([404, 403], page.status)
        assert.notInclude(page.text, "secret")
      }
      assert.strictEqual((yield* go(() => browser.open(`${home}/projects/${foreign.id}`))).status, 404)
    })
  )

  it.effect("the buttons of an endpoint start and suspend it", () =>
    Effect.gen(function* () {
      const { here, open, post, project, settled } = yield* withProject("endpoint@example.com")
      assert.match((yield* open()).text, /suspended/)
      const started = yield* post(`/endpoints/${project.endpoint_id}/start`, { return_to: here })
      assert.strictEqual(started.headers.get("location"), `${here}?done=endpoint-starting`)
      yield* settled
      assert.match((yield* open()).text, /endpoints\/[^"]*\/suspend"[\s\S]*?>Suspend</)
      yield* post(`/endpoints/${project.endpoint_id}/suspend`, {})
      yield* settled
      assert.match((yield* open()).text, /endpoints\/[^"]*\/start"[\s\S]*?>Start</)
    })
  )

  it.effect("a connection string is shown only in the answer to its form", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("connect@example.com")
      const shown = yield* post("/credentials", { branch: project.branch_id, access: "read_write" })
      assert.strictEqual(shown.status, 200)
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      const uri = /postgresql:\/\/role_\w+:[^@•]+@/.exec(shown.text)?.[0]
      assert.isDefined(uri)
      assert.notInclude((yield* open()).text, uri ?? "")
    })
  )

  it.effect("a person without permission to change the project sees no forms for it", () =>
    Effect.gen(function* () {
      const { demote, open } = yield* withProject("viewer@example.com")
      yield* demote
      const page = yield* open()
      assert.strictEqual(page.status, 200)
      assert.notMatch(page.text, /New branch|>Start<|Add an endpoint/)
    })
  )
})
