/** Endpoints and operations of a project. */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
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
  const promised = { id: "0198f3d2-7c1a-7b44-9c55-000000000003", action: "delete_timeline", status: "running" }

  it.effect("are sentences with their state and duration, and what can be cancelled has a button", () =>
    Effect.gen(function* () {
      const { open, project } = yield* withProject("operations@example.com")
      project.operations.unshift(running, promised)
      const { text } = yield* open("/operations")
      assert.match(text.replaceAll(/<[^>]+>/g, ""), /ada@example\.com is creating branch main/)
      assert.match(text, /1\.2 s/)
      assert.include(text, `${running.id}/cancel`)
      assert.notInclude(text, `${promised.id}/cancel`)
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
