/** Sizes of endpoints in forms, on the page of an endpoint, and without a catalog. Holds docs/design/console.md W61. */
import { assert, layer } from "@effect/vitest"
import { testSizes } from "@narthex/core/testing"
import { Effect } from "effect"
import { fieldIn } from "../support/Browser.ts"
import { layerTestConsole } from "../support/Console.ts"
import { go, withProject } from "../support/projectVisit.ts"

const chosen = /<option value="(\w+)" selected>/

layer(layerTestConsole({}, { sizes: testSizes }), { excludeTestServices: true })("sizes", (it) => {
  it.effect("the forms for a project and an endpoint offer the sizes, and choose the default", () =>
    Effect.gen(function* () {
      const { browser, endpoints, home, open, post, project, sent } = yield* withProject("sizes@example.com")
      const form = yield* go(() => browser.open(`${home}/projects/new`))
      assert.match(form.text, /<option value="small" selected>small: 0\.5 CPU, 1 GiB of memory, 20 GiB of disk</)
      assert.include((yield* open("/endpoints/new")).text, '<option value="large">')
      const wanted = { branch: project.branch_id, type: "read_only", timeout: "300" }
      yield* post("/endpoints", { ...wanted, size: "large" })
      assert.deepInclude(sent("POST", "/endpoints"), { size: "large" })
      assert.strictEqual((yield* endpoints)[0]?.size?.name, "large")
      const refused = yield* post("/endpoints", { ...wanted, size: "huge" })
      assert.strictEqual(refused.status, 422)
      assert.include(refused.text, "The sizes are: small, large.")
      const fields = { form_token: fieldIn(form, "form_token"), name: "big", region: "eu-north", size: "large" }
      const made = yield* go(() => browser.post(`${home}/projects`, fields))
      assert.include(made.headers.get("location") ?? "", "done=project-created")
    })
  )

  it.effect("the page of an endpoint shows its size and changes it; a viewer sees it alone", () =>
    Effect.gen(function* () {
      const { demote, here, open, post, project, sent } = yield* withProject("resizes@example.com")
      const page = `/endpoints/${project.endpoint_id}`
      const before = (yield* open(page)).text
      assert.include(before, "small: 0.5 CPU, 1 GiB of memory, 20 GiB of disk")
      assert.strictEqual(chosen.exec(before)?.[1], "small")
      const changed = yield* post(`${page}/resize`, { size: "large" })
      assert.strictEqual(changed.headers.get("location"), `${here}${page}?done=endpoint-changed`)
      assert.deepStrictEqual(sent("PATCH", page), { size: "large" })
      assert.strictEqual(chosen.exec((yield* open(page)).text)?.[1], "large")
      assert.strictEqual((yield* post(`${page}/resize`, { size: "huge" })).status, 422)
      yield* demote
      const seen = (yield* open(page)).text
      assert.include(seen, "large: 2 CPU, 4 GiB of memory, 80 GiB of disk")
      assert.notInclude(seen, "Change the size")
    })
  )
})

layer(layerTestConsole(), { excludeTestServices: true })("without a catalog", (it) => {
  it.effect("no form asks for a size, and an endpoint has no limits", () =>
    Effect.gen(function* () {
      const { browser, home, open, project } = yield* withProject("no-sizes@example.com")
      const page = (yield* open(`/endpoints/${project.endpoint_id}`)).text
      assert.include(page, "no limits")
      const forms = [
        page,
        (yield* open("/endpoints/new")).text,
        (yield* go(() => browser.open(`${home}/projects/new`))).text
      ]
      for (const form of forms) assert.notInclude(form, 'name="size"')
    })
  )
})
