/** The overview of a project: how one connects, who may connect, what happened. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "../support/ApiDouble.ts"
import { layerTestConsole } from "../support/Console.ts"
import { withProject } from "../support/projectVisit.ts"

layer(layerTestConsole(), { excludeTestServices: true })("the overview of a project", (it) => {
  it.effect("shows how to connect without a password, for the program of the tab", () =>
    Effect.gen(function* () {
      const { open, project } = yield* withProject("tabs@example.com")
      const endpoint = `options=endpoint%3D${project.endpoint_id}`
      assert.include((yield* open()).text, `psql 'postgresql://role:••••••••@127.0.0.1:5442/postgres?${endpoint}'`)
      assert.include((yield* open("?tab=jdbc")).text, "jdbc:postgresql://127.0.0.1:5442/postgres")
      assert.match((yield* open("?tab=node")).text, /aria-current="page"[^>]*>Node</)
    })
  )

  it.effect("the pickers lead to an address that shows what was picked, without the form's token", () =>
    Effect.gen(function* () {
      const { here, open, project } = yield* withProject("picks@example.com")
      const { text } = yield* open(`?tab=env&branch=${project.branch_id}&access=read_only&lifetime=28800`)
      assert.include(text, `<form method="get" action="${here}#connect"`)
      assert.match(text, /<button [^>]*name="form_token"/, "only the button that creates sends the token")
      assert.notMatch(text, /<input [^>]*name="form_token"/)
      assert.match(text, /<option value="read_only" selected>/)
      assert.match(text, /<option value="28800" selected>8 hours/)
      assert.match(text, /Connect to main<\/h2>/)
    })
  )

  it.effect("a password gets the lifetime of the form, and its page has the lines of every program", () =>
    Effect.gen(function* () {
      const { post, project, sent } = yield* withProject("password@example.com")
      const page = yield* post("/credentials", { branch: project.branch_id, access: "read_only", lifetime: "3600" })
      assert.deepStrictEqual(sent("POST", `/branches/${project.branch_id}/credentials`), {
        access: "read_only",
        ttl_seconds: 3600
      })
      assert.strictEqual(page.headers.get("cache-control"), "no-store")
      for (const line of [
        "psql 'postgresql://r:pw@host",
        "DATABASE_URL=",
        "new pg.Client(",
        "psycopg.connect(",
        "jdbc:"
      ])
        assert.include(page.text.replaceAll("&quot;", '"'), line)
    })
  )

  it.effect("no password is created for a page that cannot be shown", () =>
    Effect.gen(function* () {
      const { post, project, sent } = yield* withProject("lost@example.com")
      const gone = "br-01jd0000000000000000000000"
      const page = yield* post("/credentials", { branch: gone, access: "read_only" })
      assert.strictEqual(page.status, 404)
      assert.strictEqual(sent("POST", `/branches/${gone}/credentials`), undefined)
      assert.lengthOf(project.credentials, 0)
    })
  )

  it.effect("every page shows names as text", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("hostile@example.com")
      const hostile = `"><script>alert('x')</script>`
      yield* post("/branches", { name: "preview", endpoint: "true" })
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: hostile, hours: "" })
      const [branch] = project.branches
      const [endpoint] = project.endpoints
      assert(branch !== undefined && endpoint !== undefined)
      project.name = hostile
      branch.name = hostile
      project.operations.unshift({ id: "0198f3d2-7c1a-7b44-9c55-000000000009", action: hostile, error: hostile })
      const one = [`/branches/${branch.id}`, `/branches/${project.branch_id}/credentials`, `/endpoints/${endpoint.id}`]
      const all = ["", "/branches", "/branches/new", "/sandboxes/new", "/endpoints", "/endpoints/new", "/operations"]
      for (const path of [...all, ...one, "/ip-allow", "/settings"]) {
        const { status, text } = yield* open(path)
        assert.strictEqual(status, 200, path)
        assert.notInclude(text, "<script>alert", path)
        assert.strictEqual(text.match(/<h1[ >]/g)?.length, 1, path)
      }
      const typed = yield* post("/delete", { typed: hostile })
      assert.strictEqual(typed.headers.get("location"), `${here.replace(/\/[^/]+$/, "")}?done=project-deleted`)
    })
  )

  it.effect("a branch without an endpoint says so and offers one, and no password", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("bare-branch@example.com")
      yield* post("/branches", { name: "preview", parent: project.branch_id })
      const [branch] = project.branches
      const { text } = yield* open(`?branch=${branch?.id}`)
      assert.match(text, /preview<\/b> has no endpoint/)
      assert.include(text, `href="${here}/endpoints/new?branch=${branch?.id}"`)
      assert.notMatch(text, />Create password</)
    })
  )

  it.effect("says whether the visitor's own address may connect", () =>
    Effect.gen(function* () {
      const { open, post } = yield* withProject("who@example.com")
      assert.match((yield* open()).text, /Any address[\s\S]*Your address|Your address[\s\S]*Any address/)
      yield* post("/ip-allow", { cidr: "203.0.113.0/24", label: "", hours: "", confirmed: "true" })
      const refused = (yield* open()).text
      assert.match(refused, /1 network, yours is not among them/)
      assert.match(refused, /is not on the allowlist/)
      yield* post("/ip-allow", { use: "client-address", label: "", hours: "" })
      const { text } = yield* open()
      assert.match(text, /2 networks, yours among them/)
      assert.notMatch(text, /is not on the allowlist/)
    })
  )

  it.effect("says how many clients were refused in the last hour, with a link to them", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("refused-lately@example.com")
      const { last } = yield* ApiDouble
      const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString()
      project.refusals.push({ address: "198.51.100.7", count: 12, last_at: minutesAgo(5) })
      assert.notInclude((yield* open()).text, "in the last hour")
      assert.isUndefined(last("GET", `/v1/projects/${project.id}/ip-allow/refusals`), "any address may connect")
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: "", hours: "" })
      const link = `<a href="${here}/ip-allow#refusals">`
      assert.include((yield* open()).text, `${link}1 client was refused in the last hour</a>`)
      const elsewhere = { address: "198.51.100.7", count: 1, endpoint_id: `ep-${"0".repeat(26)}` }
      const six = { address: "2001:db8::7", count: 1, last_at: minutesAgo(50) }
      project.refusals.push({ ...elsewhere, last_at: minutesAgo(6) }, six)
      for (let n = 0; n < 97; n++)
        project.refusals.push({ address: `203.0.113.${n}`, count: 1, last_at: minutesAgo(90) })
      assert.include((yield* open()).text, `${link}2 clients were refused in the last hour</a>`)
      project.refusals.splice(3)
      for (let n = 0; n < 97; n++)
        project.refusals.push({ address: `203.0.113.${n}`, count: 1, last_at: minutesAgo(1) })
      assert.include((yield* open()).text, `${link}99 or more clients were refused in the last hour</a>`)
      project.refusals.length = 0
      assert.notInclude((yield* open()).text, "in the last hour")
    })
  )

  it.effect("is shown without refused clients when the API does not list them", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("refused-unknown@example.com")
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: "", hours: "" })
      project.lists_refusals = false
      assert.match((yield* open()).text, /1 network, yours among them/)
    })
  )

  it.effect("a member is called by the name of the list of members, on the overview and among the operations", () =>
    Effect.gen(function* () {
      const { state } = yield* ApiDouble
      const { open, org } = yield* withProject("namesake@example.com")
      state.people.set("u", { id: "u", email: "grace@example.com", personal: "", pending: false })
      state.orgs.get(org)?.members.set("u", "member")
      for (const page of ["", "/operations"])
        assert.match(
          (yield* open(page)).text.replaceAll(/<[^>]+>/g, ""),
          /grace@example\.com created project storefront/
        )
    })
  )

  it.effect("says what happened with names and how long it took, and why it failed", () =>
    Effect.gen(function* () {
      const { open, project } = yield* withProject("history@example.com")
      project.operations.unshift({
        id: "0198f3d2-7c1a-7b44-9c55-000000000001",
        action: "start_compute",
        status: "failed",
        error: "No machine has room."
      })
      const { text } = yield* open()
      assert.match(text.replaceAll(/<[^>]+>/g, ""), /ada@example\.com created project storefront/)
      assert.match(text, /, 1\.2 s</)
      assert.match(text, /class="why">No machine has room\./)
    })
  )
})
