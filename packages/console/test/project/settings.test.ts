/** The settings of a project. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { layerTestConsole } from "../support/Console.ts"
import { go, withProject } from "../support/projectVisit.ts"

layer(layerTestConsole(), { excludeTestServices: true })("the settings of a project", (it) => {
  it.effect("a project is renamed, and a refused name is shown at its field", () =>
    Effect.gen(function* () {
      const { client, here, post, project } = yield* withProject("renames@example.com")
      const name = go(async () => (await client.projects.get({ project_id: project.id })).project.name)
      const renamed = yield* post("/rename", { name: "shop" })
      assert.strictEqual(renamed.headers.get("location"), `${here}/settings?done=project-renamed`)
      assert.strictEqual(yield* name, "shop")
      const wrong = yield* post("/rename", { name: "" })
      assert.strictEqual(wrong.status, 422)
      assert.match(wrong.text, /id="name-error">Use 1 to 128 characters/)
      assert.strictEqual(yield* name, "shop")
    })
  )

  it.effect("the note of a project is changed and shown, and a refused note is shown at its field", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("notes@example.com")
      const changed = yield* post("/rename", { name: "shop", note: "For the city" })
      assert.strictEqual(changed.status, 303)
      assert.match((yield* open("/settings")).text, /<dd>For the city<\/dd>[\s\S]*value="For the city"/)
      const wrong = yield* post("/rename", { name: "shop", note: "x".repeat(501) })
      assert.strictEqual(wrong.status, 422)
      assert.match(wrong.text, /id="note-error">Use at most 500 characters/)
    })
  )

  it.effect("a project is deleted only after its name was typed", () =>
    Effect.gen(function* () {
      const { home, open, post } = yield* withProject("ends@example.com")
      assert.match((yield* open("/settings")).text, /Every branch and its data are lost/)
      const refused = yield* post("/delete", { typed: "shop" })
      assert.strictEqual(refused.status, 422)
      assert.match(refused.text, /Nothing was deleted\. Type the name of the project, storefront/)
      assert.strictEqual((yield* open("/settings")).status, 200)
      const deleted = yield* post("/delete", { typed: "storefront" })
      assert.strictEqual(deleted.headers.get("location"), `${home}/projects?done=project-deleted`)
      assert.strictEqual((yield* open("/settings")).status, 404)
    })
  )

  it.effect("a person who may not change a project is offered neither renaming nor deletion", () =>
    Effect.gen(function* () {
      const { demote, open } = yield* withProject("looks@example.com")
      yield* demote
      assert.notMatch((yield* open("/settings")).text, /action="[^"]*\/(rename|delete)"/)
    })
  )
})
