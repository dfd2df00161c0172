/** Endpoints and operations of a project. */
import { assert, layer } from "@effect/vitest"
import { ComputeDriver, ComputeFailed, layerMemoryComputes } from "@narthex/core"
import { Deferred, Effect, Layer } from "effect"
import { until } from "../../../../test/harness/eventually.ts"
import { Api } from "../support/Api.ts"
import { fieldIn } from "../support/Browser.ts"
import { layerTestConsole } from "../support/Console.ts"
import { go, withProject } from "../support/projectVisit.ts"

layer(layerTestConsole(), { excludeTestServices: true })("endpoints", (it) => {
  it.effect("the form adds a read-only endpoint with a time-out", () =>
    Effect.gen(function* () {
      const { endpoints, here, open, post, project, sent } = yield* withProject("adds@example.com")
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
      const [endpoint] = yield* endpoints
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
      assert.match(page.text, /role="alert"[\s\S]*The branch has a read-write endpoint already\./)
      assert.match(page.text, /<option value="1800" selected>/)
    })
  )

  it.effect("an endpoint is disabled, enabled, timed out and deleted", () =>
    Effect.gen(function* () {
      const { endpoints, here, open, post, project, settled } = yield* withProject("changes-endpoint@example.com")
      yield* post("/endpoints", { branch: project.branch_id, type: "read_only", timeout: "300" })
      const [endpoint] = yield* endpoints
      yield* settled
      const page = `/endpoints/${endpoint?.id}`
      const disabled = yield* post(`${page}/disable`, { return_to: `${here}/endpoints` })
      assert.strictEqual(disabled.headers.get("location"), `${here}/endpoints?done=endpoint-disabled`)
      assert.match((yield* open(page)).text, /disabled[\s\S]*>Enable</)
      yield* post(`${page}/enable`, {})
      yield* post(page, { timeout: "60" })
      assert.deepInclude((yield* endpoints)[0], { disabled: false, suspend_timeout_seconds: 60 })
      assert.strictEqual((yield* post(page, { timeout: "soon" })).status, 422)
      for (const _ of ["once", "again"])
        assert.strictEqual(
          (yield* post(`${page}/delete`, {})).headers.get("location"),
          `${here}/endpoints?done=endpoint-deleted`
        )
      assert.lengthOf(yield* endpoints, 0)
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

/** Computes whose copies and removals of branches end when the test lets them, or fail. */
const gate: { copies: "made" | "held" | "refused"; free: Deferred.Deferred<void> } = {
  copies: "made",
  free: Deferred.makeUnsafe()
}
const computes = Layer.effect(
  ComputeDriver,
  Effect.map(ComputeDriver, (driver) =>
    ComputeDriver.of({
      ...driver,
      createBranch: (branch, parent) =>
        gate.copies === "refused"
          ? Effect.fail(new ComputeFailed({ reason: "The machine is full.", retryable: false }))
          : Effect.andThen(gate.copies === "held" ? Deferred.await(gate.free) : Effect.void, () =>
              driver.createBranch(branch, parent)
            ),
      deleteBranch: (branch) =>
        Effect.andThen(gate.copies === "made" ? Effect.void : Deferred.await(gate.free), () =>
          driver.deleteBranch(branch)
        )
    })
  )
).pipe(Layer.provide(layerMemoryComputes))

/** A project, where `preview` is being made and `old` being deleted, which cannot be cancelled. */
const withRunning = Effect.fnUntraced(function* (email: string) {
  const visit = yield* withProject(email)
  const { api, client, project, settled } = visit
  const path = { project_id: project.id }
  const create = (name: string) => go(() => client.branches.create({ ...path, name }))
  const old = yield* create("old")
  yield* settled
  gate.copies = "held"
  gate.free = Deferred.makeUnsafe()
  yield* Effect.addFinalizer(() => {
    gate.copies = "made"
    return Deferred.succeed(gate.free, undefined)
  })
  const made = yield* create("preview")
  const deleted = yield* go(() => client.branches.delete({ ...path, branch_id: old.branch.id }))
  const [finished] = old.operations
  const [running, promised] = [...made.operations, ...deleted.operations]
  assert(finished !== undefined && running !== undefined && promised !== undefined)
  for (const { id } of [running, promised])
    yield* go(() =>
      until("the operation to run", async () => {
        const { operation } = await client.operations.get({ ...path, operation_id: id })
        return operation.status === "running"
      })
    )
  return {
    ...visit,
    create,
    finished,
    preview: made.branch,
    promised,
    running,
    asked: () => api.last("GET", `/v1/projects/${project.id}/operations`)?.query
  }
})

layer(layerTestConsole({}, { computes }), { excludeTestServices: true })("operations", (it) => {
  const said = (text: string) => text.replaceAll(/<[^>]+>/g, "")

  it.effect("operations are sentences with state and duration, and have a button if they can be cancelled", () =>
    Effect.gen(function* () {
      const { open, promised, running } = yield* withRunning("operations@example.com")
      const { text } = yield* open("/operations")
      assert.match(said(text), /operations@example\.com is creating branch preview/)
      assert.match(text, /\d\.\d\u00a0s/)
      assert.include(text, `${running.id}/cancel`)
      assert.notInclude(text, `${promised.id}/cancel`)
    })
  )

  it.effect("operations are filtered by a form whose choices stay in the address, its pages and its live updates", () =>
    Effect.gen(function* () {
      const { asked, create, here, open } = yield* withRunning("filters@example.com")
      gate.copies = "refused"
      const { branch, operations } = yield* create("failing")
      const { product } = yield* Api
      yield* go(async () => {
        for (const operation of operations) await product.operations.waitFor(operation)
      })
      const all = yield* open("/operations?status=&action=&branch=&endpoint=")
      assert.deepStrictEqual([...(asked()?.keys() ?? [])], ["limit"])
      assert.match(said(all.text), /is deleting branch /)
      assert.notInclude(all.text, "Show all")
      const query = `status=error&action=create_branch&branch=${branch.id}`
      const { text } = yield* open(`/operations?${query}`)
      const { action, branch_id, status } = Object.fromEntries(asked() ?? [])
      assert.deepStrictEqual([status, action, branch_id], ["error", "create_branch", branch.id])
      assert.include(text, "The machine is full.")
      assert.notMatch(said(text), /is deleting/)
      for (const value of ["error", "create_branch", branch.id])
        assert.match(text, new RegExp(`<option value="${value}" selected>`))
      assert.include(text, `page="${here}/operations?${query.replaceAll("&", "&amp;")}"`)
      assert.include(text, `<a href="${here}/operations">Show all</a>`)
    })
  )

  it.effect("operations are filtered by an endpoint, which is named by its branch and type", () =>
    Effect.gen(function* () {
      const { client, here, open, project } = yield* withRunning("filters-endpoint@example.com")
      const path = { project_id: project.id, branch_id: project.branch_id }
      const { endpoint: reader } = yield* go(() => client.endpoints.create({ ...path, type: "read_only" }))
      gate.copies = "held"
      const copy = yield* go(() => client.branches.create({ project_id: project.id, name: "copy", endpoint: true }))
      const [operation] = copy.operations
      const { text } = yield* open(`/operations?endpoint=${copy.endpoint?.id}`)
      assert.match(text, new RegExp(`<option value="${copy.endpoint?.id}" selected>copy, read and write</option>`))
      assert.match(text, new RegExp(`<option value="${reader.id}">main, read only</option>`))
      assert.match(text, new RegExp(`<option value="${project.endpoint_id}">main, read and write</option>`))
      assert.match(said(text), /(is creating|asked to create) branch copy/)
      assert.notMatch(said(text), /is deleting/)
      const action = `/operations/${operation?.id}/cancel?endpoint=${copy.endpoint?.id}`
      assert.include(text, `action="${here}${action}"`)
      const gone = `ep-${"0".repeat(26)}`
      const deleted = yield* open(`/operations?endpoint=${gone}`)
      assert.match(deleted.text, new RegExp(`<option value="${gone}" selected>ep-…000000`))
      assert.match(said((yield* open("/operations?endpoint=..%2F..")).text), /is deleting/)
    })
  )

  it.effect("a filter without matches says so, and a filter that the API does not know is left out", () =>
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
      const { finished, here, open, post, running } = yield* withRunning("cancels-filtered@example.com")
      const page = yield* open("/operations?action=create_branch&status=running")
      const action = (id: string) => `/operations/${id}/cancel?status=running&action=create_branch`
      assert.include(page.text, `action="${here}${action(running.id).replaceAll("&", "&amp;")}"`)
      const cancelled = yield* post(action(running.id), {})
      assert.strictEqual(
        cancelled.headers.get("location"),
        `${here}/operations?status=running&action=create_branch&done=operation-cancelled`
      )
      const late = yield* post(action(finished.id), {})
      assert.strictEqual(late.status, 409)
      assert.match(late.text, /role="alert">[^<]+/)
      assert.notMatch(said(late.text), /is deleting/)
      assert.match(late.text, /<option value="create_branch" selected>/)
    })
  )

  it.effect("a running operation is cancelled, and the page says so if the operation has already ended", () =>
    Effect.gen(function* () {
      const { finished, here, post, running } = yield* withRunning("cancels@example.com")
      const cancelled = yield* post(`/operations/${running.id}/cancel`, {})
      assert.strictEqual(cancelled.headers.get("location"), `${here}/operations?done=operation-cancelled`)
      const late = yield* post(`/operations/${finished.id}/cancel`, {})
      assert.strictEqual(late.status, 409)
      assert.match(late.text, /role="alert">[^<]*(finished|ended)/)
    })
  )
})
