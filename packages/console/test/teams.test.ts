/** Organizations as people make, rename and delete them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { Api } from "./support/Api.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { browserOf, signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const inTeam = Effect.fnUntraced(function* (email: string, role = "owner") {
  const api = yield* Api
  const person = yield* go(async () => {
    const person = await api.person(email)
    const founder = await api.team(role === "owner" ? person : await api.person(`founder-of-${email}`), "Acme")
    return role === "owner" ? founder : api.join(founder, person, role)
  })
  const named = go(async () => (await person.client.orgs.list({})).organizations.map(({ name }) => name))
  return { ...(yield* browserOf(person)), api, named }
})

layer(layerTestConsole(), { excludeTestServices: true })("team organizations", (it) => {
  it.effect("a new organization becomes the session's, and a form that is sent twice makes one", () =>
    Effect.gen(function* () {
      const { browser, client } = yield* signedInAs("founder@example.com")
      const page = yield* go(() => browser.open("/orgs/new"))
      const form = { name: "Engines", form_token: fieldIn(page, "form_token"), org_id: fieldIn(page, "org_id") }
      const created = yield* go(() => browser.post("/orgs/new", form))
      const named = go(async () => (await client.orgs.list({})).organizations.filter(({ name }) => name === "Engines"))
      const [org] = yield* named
      assert.strictEqual(created.headers.get("location")?.split("?")[0], `/orgs/${org?.id}/members`)
      assert.strictEqual(org?.role, "owner")
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, `/orgs/${org?.id}/projects`)
      const again = yield* go(() => browser.post("/orgs/new", form))
      assert.strictEqual(again.status, 409)
      assert.strictEqual(fieldIn(again, "name"), "Engines")
      assert.lengthOf(yield* named, 1)
    })
  )

  it.effect("an organization without a name is not created, and the page says why", () =>
    Effect.gen(function* () {
      const { browser, org } = yield* signedInAs("nameless@example.com")
      const page = yield* go(() => browser.post("/orgs/new", { name: "  ", org_id: org }))
      assert.strictEqual(page.status, 422)
      assert.include(page.text, 'id="name-error"')
    })
  )

  it.effect("the settings rename the organization and show what it holds of its quotas", () =>
    Effect.gen(function* () {
      const { api, browser, home, named, org } = yield* inTeam("renames@example.com")
      api.plane.edit(`/v1/orgs/${org}/usage`, () => ({
        usage: [
          { quota: "projects", held: 0, allowed: 10 },
          { quota: "disk_bytes", held: 2 ** 28, allowed: 2 ** 30 }
        ]
      }))
      const page = yield* go(() => browser.open(`${home}/settings`))
      for (const part of ["0 of 10", "0.25 GiB of 1 GiB", "<meter"]) assert.include(page.text, part)
      api.plane.instead = undefined
      const renamed = yield* go(() => browser.post(`${home}/settings`, { name: "Acme Industries" }))
      assert.strictEqual(renamed.headers.get("location")?.split("?")[0], `${home}/settings`)
      assert.include(yield* named, "Acme Industries")
      const wrong = yield* go(() => browser.post(`${home}/settings`, { name: "x".repeat(129) }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, `value="${"x".repeat(129)}"`)
    })
  )

  it.effect("an organization is deleted only with its name, and the person goes on in the personal one", () =>
    Effect.gen(function* () {
      const { browser, home, named, person } = yield* inTeam("deletes@example.com")
      const wrong = yield* go(() => browser.post(`${home}/settings/delete`, { typed: "acme" }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, "Type the name of the organization to delete it.")
      assert.include(yield* named, "Acme")
      const deleted = yield* go(() => browser.post(`${home}/settings/delete`, { typed: "Acme" }))
      assert.strictEqual(deleted.status, 303)
      assert.strictEqual((yield* go(() => browser.open(`${home}/projects`))).status, 404)
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, `/orgs/${person.personal}/projects`)
    })
  )

  it.effect("an organization with projects offers their deletion first, and refuses its own with a sentence", () =>
    Effect.gen(function* () {
      const { api, browser, home, person } = yield* inTeam("full@example.com")
      yield* go(() => api.project(person, "shop"))
      const page = yield* go(() => browser.open(`${home}/settings`))
      assert.include(page.text, "Delete its project first")
      assert.notInclude(page.text, "/settings/delete")
      const refused = yield* go(() => browser.post(`${home}/settings/delete`, { typed: "Acme" }))
      assert.strictEqual(refused.status, 409)
      assert.include(refused.text, "The organization has projects. Delete them first.")
    })
  )

  it.effect("a viewer sees the settings and is offered no change, and a personal organization no end", () =>
    Effect.gen(function* () {
      const viewer = yield* inTeam("viewer@example.com", "viewer")
      const page = yield* go(() => viewer.browser.open(`${viewer.home}/settings`))
      assert.strictEqual(page.status, 200)
      assert.notInclude(page.text, ">Rename<")
      assert.notInclude(page.text, "Delete the organization")
      assert.include(page.text, "Leave Acme")
      const own = yield* signedInAs("own@example.com")
      assert.notInclude((yield* go(() => own.browser.open(`${own.home}/settings`))).text, "Leave")
    })
  )
})
