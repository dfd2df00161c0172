/** Endpoints and operations of a project. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ApiDouble } from "../support/ApiDouble.ts"
import { fieldIn } from "../support/Browser.ts"
import { layerTestConsole } from "../support/Console.ts"
import { withProject } from "../support/projectVisit.ts"

layer(layerTestConsole(), { excludeTestServices: true })("endpoints", (it) => {
  it.effect("the form adds a read-only endpoint with a time-out", () =>
    Effect.gen(function* () {
      const { here, open, post, project, sent } = yield* withProject("adds@example.com")
      const form = yield* open("/endpoints/new")
      const made = yield* post("/endpoints", {
        form_token: fieldIn(form, "form_token"),
        branch: project.branch_id,
        type: "read_only",
        timeout: "-1"
      })
      assert.deepStrictEqual(sent("POST", "/endpoints"), {
        branch_id: project.branch_id,
        type: "read_only",
        suspend_timeout_seconds: -1
      })
      const [endpoint] = project.endpoints
      assert.strictEqual(made.headers.get("location"), `${here}/endpoints/${endpoint?.id}?done=endpoint-added`)
      assert.match((yield* open("/endpoints")).text, /read only[\s\S]*?never/)
    })
  )

  it.effect(
    "an endpoint is shown with the address that clients reach, not with a host name that does not resolve",
    () =>
      Effect.gen(function* () {
        const { open, project } = yield* withProject("reaches@example.com")
        const list = (yield* open("/endpoints")).text
        assert.match(list, /<code id="host-ep-[^"]+"[^>]*>127\.0\.0\.1</)
        const page = (yield* open(`/endpoints/${project.endpoint_id}`)).text
        assert.match(page, /<code id="host"[^>]*>127\.0\.0\.1</)
        assert.include(page, `<code>endpoint=${project.endpoint_id}</code>`)
      })
  )

  it.effect("the menu of each of two read-only endpoints of a branch disables that endpoint", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("two-readers@example.com")
      for (const _ of ["one", "another"])
        yield* post("/endpoints", { branch: project.branch_id, type: "read_only", timeout: "300" })
      const { text } = yield* open("/endpoints")
      const readers = text.split("<tr ").filter((row) => row.includes("read only</span>"))
      assert.lengthOf(readers, 2)
      const opened = readers.map((row) => {
        const [, target = "", label = ""] = /popovertarget="([^"]+)" aria-label="([^"]+)"/.exec(row) ?? []
        const [, menu = ""] = text.split(`popover="auto" id="${target}"`)
        const [, endpoint = ""] = /\/endpoints\/([^/"]+)\/disable"/.exec(menu) ?? []
        assert.include(row, `href="${here}/endpoints/${endpoint}"`)
        return { endpoint, label }
      })
      assert.strictEqual(new Set(opened.map(({ endpoint }) => endpoint)).size, 2)
      assert.strictEqual(new Set(opened.map(({ label }) => label)).size, 2)
    })
  )

  it.effect("a second endpoint that writes is refused with a sentence, and the draft is kept", () =>
    Effect.gen(function* () {
      const { post, project } = yield* withProject("second@example.com")
      const page = yield* post("/endpoints", { branch: project.branch_id, type: "read_write", timeout: "1800" })
      assert.strictEqual(page.status, 409)
      assert.match(page.text, /role="alert"[\s\S]*The branch has a read-write endpoint\./)
      assert.match(page.text, /<option value="1800" selected>/)
    })
  )

  it.effect("an endpoint is disabled, enabled, timed out and deleted", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("changes-endpoint@example.com")
      yield* post("/endpoints", { branch: project.branch_id, type: "read_only", timeout: "300" })
      const [endpoint] = project.endpoints
      const page = `/endpoints/${endpoint?.id}`
      const disabled = yield* post(`${page}/disable`, { return_to: `${here}/endpoints` })
      assert.strictEqual(disabled.headers.get("location"), `${here}/endpoints?done=endpoint-disabled`)
      assert.match((yield* open(page)).text, /disabled[\s\S]*>Enable</)
      yield* post(`${page}/enable`, {})
      yield* post(page, { timeout: "60" })
      assert.deepInclude(endpoint, { disabled: false, timeout: 60 })
      assert.strictEqual((yield* post(page, { timeout: "soon" })).status, 422)
      for (const _ of ["once", "again"])
        assert.strictEqual(
          (yield* post(`${page}/delete`, {})).headers.get("location"),
          `${here}/endpoints?done=endpoint-deleted`
        )
      assert.lengthOf(project.endpoints, 0)
    })
  )

  it.effect("a form returns only to a page of its project", () =>
    Effect.gen(function* () {
      const { here, home, post, project } = yield* withProject("returns@example.com")
      const page = `/endpoints/${project.endpoint_id}`
      for (const forged of [
        "//evil.example",
        "https://evil.example/",
        `${home}/projects`,
        `${here}evil`,
        `${here}/../x`
      ])
        assert.strictEqual(
          (yield* post(`${page}/start`, { return_to: forged })).headers.get("location"),
          `${here}${page}?done=endpoint-starting`
        )
    })
  )
})

layer(layerTestConsole(), { excludeTestServices: true })("operations", (it) => {
  const running = { id: "0198f3d2-7c1a-7b44-9c55-000000000002", action: "create_branch", status: "running" }
  const said = (text: string) => text.replaceAll(/<[^>]+>/g, "")
  const promised = { id: "0198f3d2-7c1a-7b44-9c55-000000000003", action: "delete_timeline", status: "running" }

  it.effect("are sentences with their state and duration, and what can be cancelled has a button", () =>
    Effect.gen(function* () {
      const { open, project } = yield* withProject("operations@example.com")
      project.operations.unshift(running, promised)
      const { text } = yield* open("/operations")
      assert.match(said(text), /ada@example\.com is creating branch main/)
      assert.match(text, /1\.2 s/)
      assert.include(text, `${running.id}/cancel`)
      assert.notInclude(text, `${promised.id}/cancel`)
    })
  )

  it.effect("are filtered by a form whose choices stay in the address, its pages and its live updates", () =>
    Effect.gen(function* () {
      const { here, open, project } = yield* withProject("filters@example.com")
      const { last } = yield* ApiDouble
      const failed = { ...running, status: "failed", error: "The machine is full." }
      project.operations.unshift(promised, failed)
      const asked = () =>
        new URL(last("GET", `/v1/projects/${project.id}/operations`)?.url ?? "", "http://api").searchParams
      assert.isFalse(asked().has("status"))
      const all = yield* open("/operations?status=&action=&branch=&endpoint=")
      assert.deepStrictEqual([...asked().keys()], ["limit"])
      assert.match(said(all.text), /is deleting project /)
      assert.notInclude(all.text, "Show all")
      const query = `status=failed&action=create_branch&branch=${project.branch_id}`
      const { text } = yield* open(`/operations?${query}`)
      const { action, branch_id, status } = Object.fromEntries(asked())
      assert.deepStrictEqual([status, action, branch_id], ["failed", "create_branch", project.branch_id])
      assert.include(text, "The machine is full.")
      assert.notMatch(said(text), /is deleting/)
      for (const value of ["failed", "create_branch", project.branch_id])
        assert.match(text, new RegExp(`<option value="${value}" selected>`))
      assert.include(text, `page="${here}/operations?${query.replaceAll("&", "&amp;")}"`)
      assert.include(text, `<a href="${here}/operations">Show all</a>`)
    })
  )

  it.effect("are filtered by an endpoint, which is named by its branch and type", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("filters-endpoint@example.com")
      yield* post("/endpoints", { branch: project.branch_id, type: "read_only", timeout: "300" })
      const [reader] = project.endpoints
      assert(reader !== undefined)
      project.operations.unshift({ ...running, endpoint_id: reader.id }, promised)
      const { text } = yield* open(`/operations?endpoint=${reader.id}`)
      assert.match(text, new RegExp(`<option value="${reader.id}" selected>main, read only</option>`))
      assert.match(text, new RegExp(`<option value="${project.endpoint_id}">main, read and write</option>`))
      assert.match(said(text), /is creating/)
      assert.notMatch(said(text), /is deleting/)
      const action = `/operations/${running.id}/cancel?endpoint=${reader.id}`
      assert.include(text, `action="${here}${action}"`)
      const gone = `ep-${"0".repeat(26)}`
      const deleted = yield* open(`/operations?endpoint=${gone}`)
      assert.match(deleted.text, new RegExp(`<option value="${gone}" selected>ep-…000000`))
      assert.match((yield* open("/operations?endpoint=..%2F..")).text, /is deleting/)
    })
  )

  it.effect("that no filter matches say so, and a filter that the API does not know is left out", () =>
    Effect.gen(function* () {
      const { here, open } = yield* withProject("nothing-matches@example.com")
      const none = yield* open("/operations?status=cancelled")
      assert.match(none.text, /No operation matches[\s\S]*Show all operations/)
      assert.notInclude(none.text, "Nothing has happened")
      const gone = `br-${"0".repeat(26)}`
      const deleted = yield* open(`/operations?branch=${gone}`)
      assert.match(deleted.text, new RegExp(`<option value="${gone}" selected>br-…000000`))
      assert.include(deleted.text, "No operation matches")
      const unknown = yield* open("/operations?status=over&action=toString&branch=..%2F..&cursor=")
      assert.strictEqual(unknown.status, 200)
      assert.match(unknown.text, /created project/)
      assert.include(unknown.text, `action="${here}/operations"`)
    })
  )

  it.effect("a cancellation and its refusal keep the filter", () =>
    Effect.gen(function* () {
      const { here, open, post, project } = yield* withProject("cancels-filtered@example.com")
      project.operations.unshift(running, promised)
      const page = yield* open("/operations?action=create_branch&status=running")
      const action = `/operations/${running.id}/cancel?status=running&action=create_branch`
      assert.include(page.text, `action="${here}${action.replaceAll("&", "&amp;")}"`)
      const cancelled = yield* post(action, {})
      assert.strictEqual(
        cancelled.headers.get("location"),
        `${here}/operations?status=running&action=create_branch&done=operation-cancelled`
      )
      const late = yield* post(action, {})
      assert.strictEqual(late.status, 409)
      assert.match(said(late.text), /No operation matches/)
      assert.notMatch(said(late.text), /is deleting/)
      assert.match(late.text, /<option value="create_branch" selected>/)
    })
  )

  it.effect("one that runs is cancelled, and one that has ended says that it has", () =>
    Effect.gen(function* () {
      const { here, post, project } = yield* withProject("cancels@example.com")
      project.operations.unshift(running)
      const cancelled = yield* post(`/operations/${running.id}/cancel`, {})
      assert.strictEqual(cancelled.headers.get("location"), `${here}/operations?done=operation-cancelled`)
      const late = yield* post(`/operations/${running.id}/cancel`, {})
      assert.strictEqual(late.status, 409)
      assert.match(late.text, /role="alert">The operation has ended\./)
    })
  )
})
