/** Webhooks of an organization in the console. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { go } from "./support/projectVisit.ts"
import { browserOf, signedInAs } from "./support/signedIn.ts"

const url = "https://hooks.example.com/ada"

layer(layerTestConsole(), { excludeTestServices: true })("webhooks", (it) => {
  it.effect("the form creates a webhook and shows its secret once; wrong values stay in it with a sentence", () =>
    Effect.gen(function* () {
      const { browser, client, home, org } = yield* signedInAs("hooks@example.com")
      assert.include((yield* go(() => browser.open(`${home}/settings`))).text, `${home}/settings/webhooks`)
      const here = `${home}/settings/webhooks`
      const form = yield* go(() => browser.open(here))
      assert.include(form.text, "No webhooks yet")
      const wrong = yield* go(() => browser.post(here, { url: "https://127.0.0.1/", label: "<b>", types: "" }))
      assert.strictEqual(wrong.status, 422)
      assert.match(wrong.text, /value="https:\/\/127\.0\.0\.1\/"/)
      assert.match(wrong.text, /public internet/)
      const fields = { url, label: "billing", types: "a.b.v1, c.d.v1", form_token: fieldIn(form, "form_token") }
      const shown = yield* go(() => browser.post(here, fields))
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      assert.match(shown.text, /<output id="secret"[^>]*>whsec_/)
      assert.notInclude((yield* go(() => browser.post(here, fields))).text, "whsec_")
      const { webhooks } = yield* go(() => client.webhooks.list({ org_id: org }))
      assert.lengthOf(webhooks, 1)
      assert.deepStrictEqual(webhooks[0]?.types, ["a.b.v1", "c.d.v1"])
      assert.match((yield* go(() => browser.open(here))).text, /billing/)
    })
  )

  it.effect("the page of a webhook changes, tests, replays, rotates and deletes it", () =>
    Effect.gen(function* () {
      const { browser, client, home, org } = yield* signedInAs("hook@example.com")
      const { webhook } = yield* go(() => client.webhooks.create({ org_id: org, url, label: "<i>" }))
      const here = `${home}/settings/webhooks/${webhook.id}`
      const read = go(async () => (await client.webhooks.get({ org_id: org, webhook_id: webhook.id })).webhook)
      const opened = yield* go(() => browser.open(here))
      assert.include(opened.text, "&lt;i>")
      assert.include(opened.text, "Nothing was delivered")
      const post = (form: string, fields: Record<string, string> = {}) =>
        go(() => browser.post(`${here}${form}`, fields))
      assert.strictEqual((yield* post("", { url, label: "ops", types: "" })).status, 303)
      assert.strictEqual((yield* read).label, "ops")
      assert.strictEqual((yield* post("", { url: "http://hooks.example.com", label: "ops", types: "" })).status, 422)
      assert.strictEqual((yield* post("/test")).status, 303)
      assert.strictEqual((yield* post("/replay", { after: "" })).status, 303)
      const unknown = yield* post("/replay", { after: "soon" })
      assert.strictEqual(unknown.status, 422)
      assert.match(unknown.text, /no event with this id/)
      assert.match((yield* post("/rotate-secret")).text, /<output id="secret"[^>]*>whsec_/)
      assert.notStrictEqual((yield* read).previous_secret_expires_at, null)
      assert.strictEqual(
        (yield* post("/delete")).headers.get("location"),
        `${home}/settings/webhooks?done=webhook-deleted`
      )
      assert.strictEqual((yield* go(() => browser.open(here))).status, 404)
    })
  )

  it.effect("a member is offered no webhooks, and is refused their page", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const person = yield* go(async () => {
        const founder = await api.team(await api.person("founder-of-hooks@example.com"), "Acme")
        return api.join(founder, await api.person("member-of-hooks@example.com"), "member")
      })
      const { browser, home } = yield* browserOf(person)
      assert.notInclude((yield* go(() => browser.open(`${home}/settings`))).text, "settings/webhooks")
      assert.strictEqual((yield* go(() => browser.open(`${home}/settings/webhooks`))).status, 403)
    })
  )
})
