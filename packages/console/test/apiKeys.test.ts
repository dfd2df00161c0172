/** The page of API keys: list, create with a secret that is shown once, revoke. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { browserOf, signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)
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
      const { browser, client, home } = yield* signedInAs("once@example.com")
      const keys = go(async () => (await client.apiKeys.list({})).api_keys)
      const form = yield* go(() => browser.open(`${home}/api-keys/new`))
      const fields = { ...blank, name: "deploy", form_token: fieldIn(form, "form_token") }
      const shown = yield* go(() => browser.post(`${home}/api-keys`, fields))
      assert.strictEqual(shown.status, 200)
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      const secret = /<output id="secret"[^>]*>(nsk_\w+)<\/output>/.exec(shown.text)?.[1] ?? assert.fail("no secret")
      const reloaded = yield* go(() => browser.post(`${home}/api-keys`, fields))
      assert.strictEqual(reloaded.status, 200)
      assert.notInclude(reloaded.text, secret)
      assert.match(reloaded.text, /This form was already sent/)
      assert.lengthOf(yield* keys, 1)
      const list = yield* go(() => browser.open(`${home}/api-keys`))
      assert.match(list.text, /deploy/)
      const [{ id } = { id: "" }] = yield* keys
      assert.match(list.text, new RegExp(`data-copy="${id}" title="${id}">key-…${id.slice(-6)}</code>`))
      assert.match(list.text, /data-label="Created"><local-time/)
      assert.notInclude(list.text, secret)
    })
  )

  it.effect("the form for an API key sends capability, scope and days, and no days when the field is blank", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, home, person } = yield* signedInAs("chosen@example.com")
      const project = yield* go(() => api.project(person, "scoped"))
      const form = yield* go(() => browser.open(`${home}/api-keys/new`))
      assert.include(form.text, `<option value="project:${project.id}">Project scoped</option>`)
      const chosen = { name: "ci", capability: "agent", scope: `project:${project.id}`, expires_in_days: "30" }
      yield* go(() => browser.post(`${home}/api-keys`, chosen))
      assert.deepStrictEqual(api.sent("POST", "/v1/api-keys/"), {
        name: "ci",
        capability: "agent",
        scope: { type: "project", project_id: project.id },
        expires_in_days: 30
      })
      yield* go(() => browser.post(`${home}/api-keys`, { ...blank, name: "forever" }))
      assert.notProperty(api.sent("POST", "/v1/api-keys/"), "expires_in_days")
    })
  )

  it.effect("errors of the form for an API key are shown at their fields, and the draft is kept", () =>
    Effect.gen(function* () {
      const { browser, client, home } = yield* signedInAs("wrong@example.com")
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
        if (fields.name !== "") assert.include(page.text, `value="${fields.name}"`)
        assert.include(page.text, `id="${at}"`)
      }
      assert.deepStrictEqual((yield* go(() => client.apiKeys.list({}))).api_keys, [])
    })
  )

  it.effect("an API key is revoked, and a second time it is not found", () =>
    Effect.gen(function* () {
      const { browser, client, home } = yield* signedInAs("revoke@example.com")
      const { api_key: key } = yield* go(() => client.apiKeys.create({ name: "old", capability: "read" }))
      const revoked = yield* go(() => browser.post(`${home}/api-keys/${key.id}/revoke`, {}))
      assert.strictEqual(revoked.headers.get("location"), `${home}/api-keys?done=key-revoked`)
      assert.deepStrictEqual((yield* go(() => client.apiKeys.list({}))).api_keys, [])
      assert.strictEqual((yield* go(() => browser.post(`${home}/api-keys/${key.id}/revoke`, {}))).status, 404)
    })
  )

  it.effect(
    "a capability is explained in words, and a scope that is a project offers its branches in the same form",
    () =>
      Effect.gen(function* () {
        const api = yield* Api
        const { browser, home, person } = yield* signedInAs("narrow@example.com")
        const project = yield* go(() => api.project(person, "shop"))
        const form = yield* go(() => browser.open(`${home}/api-keys/new`))
        assert.include(form.text, "Reads main, and cannot change it.")
        assert.match(form.text, /<div id="key-branch"><\/div>/)
        const filled = new URLSearchParams({ ...blank, name: "ci", scope: `project:${project.id}` })
        const narrowed = yield* go(() => browser.open(`${home}/api-keys/new?${filled}`))
        assert.include(narrowed.text, `<option value="${project.branch_id}">main</option>`)
        assert.match(narrowed.text, /name="name"[^>]* value="ci"/, "the draft is kept")
        assert.match(narrowed.text, /<option value(="")? selected>It does not expire/)
        assert.strictEqual((yield* go(() => browser.open(`${home}/api-keys/new?scope=project:nonsense`))).status, 200)
      })
  )

  it.effect("a key of one branch is for a branch of its scope, and no wider key is made of another choice", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, client, home, person } = yield* signedInAs("branch@example.com")
      const shop = yield* go(() => api.project(person, "shop"))
      const blog = yield* go(() => api.project(person, "blog"))
      const chosen = { ...blank, name: "ci", branch: shop.branch_id }
      for (const scope of ["organization", `project:${blog.id}`]) {
        const refused = yield* go(() => browser.post(`${home}/api-keys`, { ...chosen, scope }))
        assert.strictEqual(refused.status, 422)
        assert.include(refused.text, 'id="scope-error"')
      }
      assert.deepStrictEqual((yield* go(() => client.apiKeys.list({}))).api_keys, [])
      const made = yield* go(() => browser.post(`${home}/api-keys`, { ...chosen, scope: `project:${shop.id}` }))
      assert.strictEqual(made.status, 200)
      assert.deepStrictEqual(
        (yield* go(() => client.apiKeys.list({}))).api_keys.map(({ scope }) => scope),
        [{ type: "branch", project_id: shop.id, branch_id: shop.branch_id }]
      )
    })
  )

  it.effect("the page of a key says what it may do and where it reaches, by name", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, client, home, person } = yield* signedInAs("reads@example.com")
      const project = yield* go(() => api.project(person, "shop"))
      const scope = { type: "branch", project_id: project.id, branch_id: project.branch_id } as const
      const { api_key: key } = yield* go(() => client.apiKeys.create({ name: "bot", capability: "agent", scope }))
      const page = yield* go(() => browser.open(`${home}/api-keys/${key.id}`))
      for (const part of [
        "Agent",
        "Reads everything",
        "Branch main of shop",
        person.email,
        `nsk_${key.hint}`,
        "Rotate the secret"
      ])
        assert.include(page.text, part)
      assert.strictEqual((yield* go(() => browser.open(`${home}/api-keys/nonsense`))).status, 404)
    })
  )

  it.effect("a rotation shows the new secret once, and sends the grace of the old one", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, client, home } = yield* signedInAs("rotates@example.com")
      const { api_key: key, secret } = yield* go(() => client.apiKeys.create({ name: "old", capability: "read" }))
      const form_token = fieldIn(yield* go(() => browser.open(`${home}/api-keys/${key.id}`)), "form_token")
      const sent = { grace_seconds: "3600", form_token }
      const rotated = yield* go(() => browser.post(`${home}/api-keys/${key.id}/rotate`, sent))
      assert.match(rotated.text, /<output id="secret"[^>]*>nsk_\w+<\/output>/)
      assert.notInclude(rotated.text, secret ?? "?")
      assert.strictEqual(rotated.headers.get("cache-control"), "no-store")
      assert.deepStrictEqual(api.sent("POST", `/v1/api-keys/${key.id}/rotate`), { grace_seconds: 3600 })
      const again = yield* go(() => browser.post(`${home}/api-keys/${key.id}/rotate`, sent))
      assert.notMatch(again.text, /nsk_\w/)
      const wrong = yield* go(() => browser.post(`${home}/api-keys/${key.id}/rotate`, { grace_seconds: "soon" }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, 'id="grace_seconds-error"')
    })
  )

  it.effect("a key of another person is not offered for rotation", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { founder, key } = yield* go(async () => {
        const founder = await api.team(await api.person("other@example.com"), "Engines")
        const maker = await api.join(founder, await api.person("maker@example.com"), "member")
        return { founder, key: (await maker.client.apiKeys.create({ name: "k", capability: "read" })).api_key }
      })
      const { browser, home } = yield* browserOf(founder)
      const page = yield* go(() => browser.open(`${home}/api-keys/${key.id}`))
      assert.include(page.text, "Only maker@example.com can rotate this key")
      assert.notInclude(page.text, "/rotate")
    })
  )
})
