/** The pages of projects, with endpoints, connection strings and the IP allowlist. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "./support/ApiDouble.ts"
import { fieldIn } from "./support/Browser.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

/** Signed in, with a project. */
const withProject = Effect.fnUntraced(function* (email: string) {
  const { state } = yield* ApiDouble
  const signedIn = yield* signedInAs(email)
  const project = state.addProject(signedIn.org, "storefront")
  const here = `${signedIn.home}/projects/${project.id}`
  const post = (path: string, fields: Readonly<Record<string, string>>) =>
    go(() => signedIn.browser.post(`${here}${path}`, fields))
  return { ...signedIn, project, here, post, open: go(() => signedIn.browser.open(here)) }
})

layer(layerTestConsole(), { excludeTestServices: true })("projects", (it) => {
  it.effect("an empty list of projects names the command", () =>
    Effect.gen(function* () {
      const { browser, home } = yield* signedInAs("empty@example.com")
      const page = yield* go(() => browser.open(`${home}/projects`))
      assert.match(page.text, /No projects yet/)
      assert.match(page.text, /narthex project create/)
    })
  )

  it.effect("the form for a project preselects the default region, and sent twice it creates one project", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { browser, home, org } = yield* signedInAs("maker@example.com")
      const form = yield* go(() => browser.open(`${home}/projects/new`))
      assert.match(form.text, /<option value="eu-north" selected>/)
      const fields = { name: "shop", region: "us-west", form_token: fieldIn(form, "form_token") }
      const made = yield* go(() => browser.post(`${home}/projects`, fields))
      assert.strictEqual(made.status, 303)
      const page = yield* go(() => browser.open(made.headers.get("location") ?? ""))
      assert.match(page.text, /<h1>shop<\/h1>/)
      assert.match(page.text, /The project is being created/)
      const again = yield* go(() => browser.post(`${home}/projects`, fields))
      assert.strictEqual(again.headers.get("location"), made.headers.get("location"))
      assert.strictEqual([...state.projects.values()].filter(({ org_id }) => org_id === org).length, 1)
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
      const { state } = yield* ApiDouble
      const { browser, home } = yield* signedInAs("foreign@example.com")
      const foreign = state.addProject(state.org("Other").id, "secret")
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
      const { open, post, project } = yield* withProject("endpoint@example.com")
      assert.match((yield* open).text, /suspended/)
      const started = yield* post(`/endpoints/${project.endpoint_id}/start`, {})
      assert.match(started.headers.get("location") ?? "", /\?done=endpoint-starting$/)
      assert.match((yield* open).text, /Suspend the endpoint of main/)
      yield* post(`/endpoints/${project.endpoint_id}/suspend`, {})
      assert.match((yield* open).text, /Start the endpoint of main/)
    })
  )

  it.effect("a connection string is shown only in the answer to its form", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("connect@example.com")
      const shown = yield* post("/credentials", { branch_id: project.branch_id, access: "read_write" })
      assert.strictEqual(shown.status, 200)
      assert.strictEqual(shown.headers.get("cache-control"), "no-store")
      assert.match(shown.text, /postgresql:\/\/r:pw@host\/db/)
      assert.notInclude((yield* open).text, "postgresql://r:pw")
    })
  )

  it.effect("a person without permission to change the project sees no forms for it", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { open, org, person } = yield* withProject("viewer@example.com")
      state.orgs.get(org)?.members.set(person.id, "viewer")
      const page = yield* open
      assert.strictEqual(page.status, 200)
      assert.notMatch(page.text, /Add rule|Start the endpoint/)
    })
  )
})

layer(layerTestConsole(), { excludeTestServices: true })("IP allowlist", (it) => {
  it.effect("an empty allowlist says that the project is open, and names the command", () =>
    Effect.gen(function* () {
      const { text } = yield* (yield* withProject("open@example.com")).open
      assert.match(text, /Open to any address/)
      assert.match(text, /narthex ip-allow add &lt;cidr>/)
    })
  )

  it.effect("a bare address in the form for a rule gets a prefix before it is sent", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("bare@example.com")
      const added = yield* post("/ip-allow", { cidr: " 203.0.113.7 ", label: "office", hours: "" })
      assert.strictEqual(added.status, 303)
      yield* post("/ip-allow", { cidr: "2001:db8::1", label: "", hours: "8" })
      assert.deepStrictEqual(project.rules, [
        { cidr: "203.0.113.7/32", label: "office", ttl_seconds: null },
        { cidr: "2001:db8::1/128", label: "", ttl_seconds: 28_800 }
      ])
      assert.match((yield* open).text, /Remove 203\.0\.113\.7\/32/)
    })
  )

  it.effect("an invalid rule is shown at its field with the input kept", () =>
    Effect.gen(function* () {
      const { post, project } = yield* withProject("mistake@example.com")
      const page = yield* post("/ip-allow", { cidr: "10.0.0.1/8", label: "typed", hours: "" })
      assert.strictEqual(page.status, 422)
      assert.match(page.text, /id="cidr-error">[^<]*did you mean 10\.0\.0\.0\/8/)
      assert.match(page.text, /aria-describedby="cidr-hint cidr-error"/)
      assert.strictEqual(fieldIn(page, "cidr"), "10.0.0.1/8")
      assert.strictEqual(fieldIn(page, "label"), "typed")
      const hours = yield* post("/ip-allow", { cidr: "10.0.0.0/8", label: "", hours: "soon" })
      assert.strictEqual(hours.status, 422)
      assert.match(hours.text, /id="hours-error"/)
      assert.strictEqual(project.rules.length, 0)
    })
  )

  it.effect("'Add my address' adds the client address that the API sees", () =>
    Effect.gen(function* () {
      const { post, project } = yield* withProject("mine@example.com")
      yield* post("/ip-allow", { use: "client-address", cidr: "", label: "me", hours: "" })
      assert.deepStrictEqual(project.rules, [{ cidr: "127.0.0.1/32", label: "me", ttl_seconds: null }])
    })
  )

  it.effect("removing a rule asks for confirmation only before the last one", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("remove@example.com")
      yield* post("/ip-allow", { cidr: "10.0.0.0/8", label: "", hours: "" })
      yield* post("/ip-allow", { cidr: "192.0.2.0/24", label: "", hours: "" })
      assert.notMatch((yield* open).text, /This is the last rule/)
      yield* post("/ip-allow/remove", { cidr: "10.0.0.0/8" })
      assert.deepStrictEqual(
        project.rules.map(({ cidr }) => cidr),
        ["192.0.2.0/24"]
      )
      assert.match((yield* open).text, /This is the last rule\. The project will accept connections from any address/)
      assert.strictEqual((yield* post("/ip-allow/remove", { cidr: "../../other" })).status, 422)
      assert.strictEqual((yield* post("/ip-allow/remove", { cidr: "" })).status, 422)
      assert.strictEqual(project.rules.length, 1)
      assert.strictEqual((yield* post("/ip-allow/remove", { cidr: "10.0.0.0/8" })).status, 303, "already removed")
    })
  )

  it.effect("the page says when the project opens if every rule expires", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("opens@example.com")
      yield* post("/ip-allow", { cidr: "10.0.0.0/8", label: "", hours: "24" })
      assert.match((yield* open).text, /Every rule expires/)
      yield* post("/ip-allow", { cidr: "192.0.2.0/24", label: "", hours: "" })
      assert.notMatch((yield* open).text, /Every rule expires/)
    })
  )

  it.effect("resetting the allowlist asks for confirmation and names the consequence", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("reset@example.com")
      yield* post("/ip-allow", { cidr: "10.0.0.0/8", label: "", hours: "" })
      const { text } = yield* open
      assert.match(text, /<dialog id="reset-allowlist"[\s\S]*?will accept connections from any address/)
      yield* post("/ip-allow/reset", {})
      assert.strictEqual(project.rules.length, 0)
    })
  )
})
