/** The overview of a project: the connection string, the allowlist, and the last events. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { problem } from "../../../../test/support/HostedPlane.ts"
import { fieldIn } from "../support/Browser.ts"
import { layerTestConsole } from "../support/Console.ts"
import { go, withProject } from "../support/projectVisit.ts"

interface Overview {
  readonly operations: ReadonlyArray<object>
}

layer(layerTestConsole(), { excludeTestServices: true })("the overview of a project", (it) => {
  it.effect("shows how to connect without a password, for the program of the tab", () =>
    Effect.gen(function* () {
      const { open, project } = yield* withProject("tabs@example.com")
      const endpoint = `options=endpoint%3D${project.endpoint_id}`
      assert.include((yield* open()).text, `psql 'postgresql://role:••••••••@127.0.0.1:5442/postgres?${endpoint}'`)
      assert.include((yield* open("?tab=jdbc")).text, "jdbc:postgresql://127.0.0.1:5442/postgres")
      assert.match((yield* open("?tab=node")).text, /<input type="radio" name="tab" value="node" [^>]*checked/)
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
      assert.match(text, /<option value="28800" selected>in 8 hours/)
      assert.match(text, /Connect to main<\/h2>/)
    })
  )

  it.effect(
    "a password gets the lifetime of the form, and is in the lines of every program, with the chosen one first",
    () =>
      Effect.gen(function* () {
        const { post, project, sent } = yield* withProject("password@example.com")
        const form = { branch: project.branch_id, access: "read_only", lifetime: "3600", tab: "node" }
        const page = yield* post("/credentials", form)
        assert.deepStrictEqual(sent("POST", `/branches/${project.branch_id}/credentials`), {
          access: "read_only",
          ttl_seconds: 3600
        })
        assert.strictEqual(page.headers.get("cache-control"), "no-store")
        for (const line of ["psql 'postgresql://role_", "DATABASE_URL=", "new pg.Client(", "psycopg.connect(", "jdbc:"])
          assert.include(page.text.replaceAll("&quot;", '"'), line)
        assert.match(page.text, /<input type="radio" name="tab" value="node" [^>]*checked/)
        assert.match(page.text, /<h1>storefront<\/h1>/, "it is the overview, with the password in its card")
        assert.notInclude(page.text, ">Create password<")
      })
  )

  it.effect("a form for a password that is sent again shows no secret, and says so", () =>
    Effect.gen(function* () {
      const { open, post, project } = yield* withProject("again@example.com")
      const form_token = fieldIn(yield* open(), "form_token")
      const form = { branch: project.branch_id, access: "read_write", form_token }
      assert.include((yield* post("/credentials", form)).text, "The password is shown only once")
      const { text } = yield* post("/credentials", form)
      assert.include(text, "This form was already sent")
      assert.match(text, /psql &#39;postgresql:\/\/role:•|psql 'postgresql:\/\/role:•/)
    })
  )

  it.effect("no password is created for a page that cannot be shown", () =>
    Effect.gen(function* () {
      const { api, client, post, project, sent } = yield* withProject("lost@example.com")
      const gone = "br-01jd0000000000000000000000"
      const page = yield* post("/credentials", { branch: gone, access: "read_only" })
      assert.strictEqual(page.status, 404)
      assert.strictEqual(sent("POST", `/branches/${gone}/credentials`), undefined)
      const branch = { project_id: project.id, branch_id: project.branch_id }
      api.plane.instead = ({ path }) => (path.endsWith("/members") ? problem("unavailable") : undefined)
      assert.strictEqual((yield* post("/credentials", { branch: branch.branch_id, access: "read_only" })).status, 503)
      api.plane.instead = undefined
      assert.deepStrictEqual((yield* go(() => client.branches.credentials(branch))).credentials, [])
    })
  )

  it.effect("every page shows names as text", () =>
    Effect.gen(function* () {
      const { api, branches, endpoints, here, open, post, project } = yield* withProject("hostile@example.com")
      const hostile = `"><script>alert('x')</script>`
      yield* post("/branches", { name: "preview", endpoint: "true" })
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: hostile, hours: "" })
      const [branch] = yield* branches
      const [endpoint] = yield* endpoints
      assert(branch !== undefined && endpoint !== undefined)
      const named = (it: Readonly<Record<string, unknown>>) => it["id"] === project.id || it["id"] === branch.id
      api.reading((it) => ({
        ...it,
        ...(named(it) ? { name: hostile } : {}),
        ...("action" in it ? { action: hostile, error: hostile } : {})
      }))
      const one = [`/branches/${branch.id}`, `/branches/${project.branch_id}/credentials`, `/endpoints/${endpoint.id}`]
      const all = ["", "/branches", "/branches/new", "/sandboxes/new", "/endpoints", "/endpoints/new", "/operations"]
      for (const path of [...all, ...one, "/ip-allow", "/settings"]) {
        const { status, text } = yield* open(path)
        assert.strictEqual(status, 200, path)
        assert.notInclude(text, "<script>alert", path)
        assert.strictEqual(text.match(/<h1[ >]/g)?.length, 1, path)
      }
      const typed = yield* post("/delete", { typed: hostile })
      api.plane.instead = undefined
      assert.strictEqual(typed.headers.get("location"), `${here.replace(/\/[^/]+$/, "")}?done=project-deleted`)
    })
  )

  it.effect("a branch without an endpoint says so and offers one, and no password", () =>
    Effect.gen(function* () {
      const { branches, here, open, post, project } = yield* withProject("bare-branch@example.com")
      yield* post("/branches", { name: "preview", parent: project.branch_id })
      const [branch] = yield* branches
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
      const { api, here, open, post, project } = yield* withProject("refused-lately@example.com")
      const { endpoint_id } = project
      yield* go(() => api.refuse({ endpoint_id, address: "198.51.100.7", count: 12, minutes: 5 }))
      assert.notInclude((yield* open()).text, "in the last hour")
      const path = `/v1/projects/${project.id}/ip-allow/refusals`
      assert.isUndefined(api.last("GET", path), "any address may connect")
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: "", hours: "" })
      const link = `<a href="${here}/ip-allow#refusals">`
      assert.include((yield* open()).text, `${link}1 client was refused in the last hour</a>`)
      const clients = Array.from({ length: 99 }, (_, n) => ({ endpoint_id, address: `203.0.113.${n}` }))
      const six = { endpoint_id, address: "2001:db8::7", minutes: 50 }
      yield* go(() => api.refuse(six, ...clients.slice(2).map((it) => ({ ...it, minutes: 90 }))))
      assert.include((yield* open()).text, `${link}2 clients were refused in the last hour</a>`)
      yield* go(() => api.refuse(...clients))
      assert.include((yield* open()).text, `${link}100 or more clients were refused in the last hour</a>`)
    })
  )

  it.effect("does not mention clients that were refused earlier", () =>
    Effect.gen(function* () {
      const { api, open, post, project } = yield* withProject("refused-before@example.com")
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: "", hours: "" })
      const early = { endpoint_id: project.endpoint_id, address: "198.51.100.7", minutes: 90 }
      yield* go(() => api.refuse(early))
      assert.notInclude((yield* open()).text, "in the last hour")
    })
  )

  it.effect("is shown without refused clients when the API does not list them", () =>
    Effect.gen(function* () {
      const { api, open, post } = yield* withProject("refused-unknown@example.com")
      yield* post("/ip-allow", { cidr: "127.0.0.0/8", label: "", hours: "" })
      api.plane.instead = ({ path }) => (path.endsWith("/refusals") ? problem("not_found") : undefined)
      const { text } = yield* open()
      api.plane.instead = undefined
      assert.match(text, /1 network, yours among them/)
    })
  )

  it.effect("a member is called by the name of the list of members, on the overview and among the operations", () =>
    Effect.gen(function* () {
      const { open } = yield* withProject("namesake@example.com")
      for (const page of ["", "/operations"])
        assert.match((yield* open(page)).text.replaceAll(/<[^>]+>/g, ""), /Grace Hopper created project storefront/)
    })
  )

  it.effect("says what happened with names and how long it took, and why it failed", () =>
    Effect.gen(function* () {
      const { api, open, project } = yield* withProject("history@example.com")
      api.plane.edit(`/v1/projects/${project.id}/overview`, ({ operations, ...more }: Overview) => {
        const failed = { action: "start_compute", status: "failed", error: "No machine has room.", finished_at: null }
        return { ...more, operations: [{ ...operations[0], ...failed }, ...operations] }
      })
      const { text } = yield* open()
      api.plane.instead = undefined
      assert.match(text.replaceAll(/<[^>]+>/g, ""), /Grace Hopper created project storefront/)
      assert.match(text, /, \d+\.\d\u00a0s</)
      assert.match(text, /class="why">No machine has room\./)
    })
  )
})
