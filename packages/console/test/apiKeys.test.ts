/** The page of API keys: list, create with a secret that is shown once, revoke. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)
const secret = `nsk_${"s".repeat(49)}`
const blank = { capability: "read_write", scope: "organization", expires_in_days: "" }

layer(layerTestConsole(), { excludeTestServices: true })("API keys", (it) => {
  it.effect("an empty list of API keys names the command", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("none@example.com")
      const page = yield* go(() => browser.open(`${home}/api-keys`))
      assert.match(page.text, /No API keys yet/)
      assert.match(page.text, /narthex login/)
    })
  )

  it.effect("the answer to the form for an API key shows the secret, uncached, and a reload makes no second key", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, home, org } = yield* signedInAs("once@example.com")
      const form = yield* go(() => browser.open(`${home}/api-keys`))
      const fields = { ...blank, name: "deploy", form_token: fieldIn(form, "form_token") }
      const shown = yield* go(() => browser.post(`${home}/api-keys`, fields))
      assert.strictEqual(shown.status, 200)
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      assert.match(shown.text, new RegExp(`<output id="secret"[^>]*>${secret}</output>`))
      const reloaded = yield* go(() => browser.post(`${home}/api-keys`, fields))
      assert.strictEqual(reloaded.status, 200)
      assert.notInclude(reloaded.text, secret)
      assert.match(reloaded.text, /This form was already sent/)
      assert.strictEqual([...state.keys.values()].filter(({ org_id }) => org_id === org).length, 1)
      const list = yield* go(() => browser.open(`${home}/api-keys`))
      assert.match(list.text, /deploy/)
      assert.notInclude(list.text, secret)
    })
  )

  it.effect("the form for an API key sends capability, scope and days, and no days when the field is blank", () =>
    Effect.gen(function* () {
      const { last, state } = yield* ApiDouble
      const { browser, home, org } = yield* signedInAs("chosen@example.com")
      const project = state.addProject(org, "scoped")
      const form = yield* go(() => browser.open(`${home}/api-keys`))
      assert.include(form.text, `<option value="project:${project.id}">Project scoped</option>`)
      const chosen = { name: "ci", capability: "agent", scope: `project:${project.id}`, expires_in_days: "30" }
      yield* go(() => browser.post(`${home}/api-keys`, chosen))
      assert.deepStrictEqual(last("POST", "/v1/api-keys/")?.body, {
        name: "ci",
        capability: "agent",
        scope: { type: "project", project_id: project.id },
        expires_in_days: 30
      })
      yield* go(() => browser.post(`${home}/api-keys`, { ...blank, name: "forever" }))
      assert.notProperty(last("POST", "/v1/api-keys/")?.body, "expires_in_days")
    })
  )

  it.effect("errors of the form for an API key are shown at their fields in the open dialog", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, home } = yield* signedInAs("wrong@example.com")
      const before = state.keys.size
      const mistakes = [
        { fields: { ...blank, name: "" }, at: "name-error" },
        { fields: { ...blank, name: "x".repeat(65) }, at: "name-error" },
        { fields: { ...blank, name: "ok", expires_in_days: "0" }, at: "expires_in_days-error" },
        { fields: { ...blank, name: "ok", expires_in_days: "soon" }, at: "expires_in_days-error" },
        { fields: { ...blank, name: "ok", capability: "root" }, at: "capability-error" },
        { fields: { ...blank, name: "ok", scope: "galaxy" }, at: "scope-error" }
      ]
      for (const { at, fields } of mistakes) {
        const page = yield* go(() => browser.post(`${home}/api-keys`, fields))
        assert.strictEqual(page.status, 422)
        assert.match(page.text, /<dialog id="create-key"[^>]* open/)
        assert.include(page.text, `id="${at}"`)
      }
      assert.strictEqual(state.keys.size, before)
    })
  )

  it.effect("an API key is revoked, and a second time it is not found", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, home, org, person } = yield* signedInAs("revoke@example.com")
      const scope = { type: "organization" }
      const key = state.addKey({ org_id: org, name: "old", capability: "read", scope, expires_in_days: null, person })
      const revoked = yield* go(() => browser.post(`${home}/api-keys/${key.id}/revoke`, {}))
      assert.strictEqual(revoked.headers.get("location"), `${home}/api-keys?done=key-revoked`)
      assert.isFalse(state.keys.has(key.id))
      assert.strictEqual((yield* go(() => browser.post(`${home}/api-keys/${key.id}/revoke`, {}))).status, 404)
    })
  )
})
