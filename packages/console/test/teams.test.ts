/** Organizations as people make, rename and delete them. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

const inTeam = Effect.fnUntraced(function* (email: string, role = "owner") {
  const { state } = yield* ApiDouble
  const team = state.org("Acme")
  team.members.set(state.person(email).id, role)
  return { ...(yield* signedInAs(email, { org_id: team.id })), state, team }
})

layer(layerTestConsole(), { excludeTestServices: true })("team organizations", (it) => {
  it.effect("a new organization becomes the session's, and a form that is sent twice makes one", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, person } = yield* signedInAs("founder@example.com")
      const form = { name: "Engines", form_token: fieldIn(yield* go(() => browser.open("/orgs/new")), "form_token") }
      const created = yield* go(() => browser.post("/orgs/new", form))
      const org = [...state.orgs.values()].find(({ name }) => name === "Engines")
      assert.strictEqual(created.headers.get("location")?.split("?")[0], `/orgs/${org?.id}/members`)
      assert.strictEqual(org?.members.get(person.id), "owner")
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, `/orgs/${org?.id}/projects`)
      yield* go(() => browser.post("/orgs/new", form))
      assert.lengthOf(
        [...state.orgs.values()].filter(({ name }) => name === "Engines"),
        1
      )
    })
  )

  it.effect("an organization without a name is not created, and the page says why", () =>
    Effect.gen(function* () {
      const { browser } = yield* signedInAs("nameless@example.com")
      const page = yield* go(() => browser.post("/orgs/new", { name: "  " }))
      assert.strictEqual(page.status, 422)
      assert.include(page.text, 'id="name-error"')
    })
  )

  it.effect("the settings rename the organization and show what it holds of its quotas", () =>
    Effect.gen(function* () {
      const { browser, home, team } = yield* inTeam("renames@example.com")
      const page = yield* go(() => browser.open(`${home}/settings`))
      for (const part of ["0 of 10", "0.25 GiB of 1 GiB", "<meter"]) assert.include(page.text, part)
      const renamed = yield* go(() => browser.post(`${home}/settings`, { name: "Acme Industries" }))
      assert.strictEqual(renamed.headers.get("location")?.split("?")[0], `${home}/settings`)
      assert.strictEqual(team.name, "Acme Industries")
      const wrong = yield* go(() => browser.post(`${home}/settings`, { name: "x".repeat(129) }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, `value="${"x".repeat(129)}"`)
    })
  )

  it.effect("an organization is deleted only with its name, and the person goes on in the personal one", () =>
    Effect.gen(function* () {
      const { browser, home, person, state, team } = yield* inTeam("deletes@example.com")
      const wrong = yield* go(() => browser.post(`${home}/settings/delete`, { typed: "acme" }))
      assert.strictEqual(wrong.status, 422)
      assert.include(wrong.text, "Type the name of the organization to delete it.")
      assert.isTrue(state.orgs.has(team.id))
      const deleted = yield* go(() => browser.post(`${home}/settings/delete`, { typed: "Acme" }))
      assert.strictEqual(deleted.status, 303)
      assert.isFalse(state.orgs.has(team.id))
      assert.strictEqual((yield* go(() => browser.open("/projects"))).url.pathname, `/orgs/${person.personal}/projects`)
    })
  )

  it.effect("an organization with projects offers their deletion first, and refuses its own with a sentence", () =>
    Effect.gen(function* () {
      const { browser, home, state, team } = yield* inTeam("full@example.com")
      state.addProject(team.id, "shop")
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
