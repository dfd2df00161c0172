/** The activity of an organization: one sentence for each operation, with names, newest first. */
import { assert, describe, layer, it as test } from "@effect/vitest"
import { Envelope } from "@narthex/api"
import { Effect, Schema } from "effect"
import { activityRows } from "../src/views/activityRows.ts"
import { type Names, noNames, plain } from "../src/views/eventWords.ts"
import { Api } from "./support/Api.ts"
import { layerTestConsole } from "./support/Console.ts"
import { signedInAs } from "./support/signedIn.ts"

const go = <A>(run: () => Promise<A>) => Effect.promise(run)

let events = 0
/** An event on an operation, `seconds` after the first. */
const event = (seconds: number, status: string, more: Readonly<Record<string, unknown>> = {}) => {
  events += 1
  const { org_id = "0198f3d2-7c1a-7b44-9c55-000000000001", project_id, ...data } = more
  return {
    id: `01KAJ${String(events).padStart(19, "0")}A0`,
    type: "operation.updated.v1",
    source: "operations",
    org_id,
    ...(project_id === undefined ? {} : { project_id }),
    region_id: "eu-north",
    at: new Date(Date.parse("2026-11-23T04:00:00.000Z") + seconds * 1000).toISOString(),
    data: { operation_id: "op-1", action: "start_compute", status, ...data }
  }
}

const rows = (shown: ReadonlyArray<object>, newest = true) =>
  activityRows(
    shown.map((it) => Schema.decodeUnknownSync(Envelope)(it)),
    noNames,
    { newest, withProject: false }
  )

describe("rows of activity", () => {
  test("an operation is one row, in its newest state, with the time that it took", () => {
    const shown = rows([event(5, "finished"), event(3.8, "running"), event(3, "scheduling")])
    assert.deepStrictEqual(
      shown.map(({ sentence, took }) => [plain(sentence), took]),
      [["The platform started a branch", 1200]]
    )
  })

  test("operations that run have no duration, and each has its row", () => {
    const other = { operation_id: "op-2", action: "suspend_compute" }
    const shown = rows([event(5, "running"), event(4, "scheduling", other), event(3, "scheduling")])
    assert.deepStrictEqual(
      shown.map(({ sentence, took }) => [plain(sentence), took]),
      [
        ["The platform is starting a branch", null],
        ["The platform asked to suspend a branch", null]
      ]
    )
  })

  test("an older page leaves out what ended on a newer one, and keeps what ended on it", () => {
    const ended = { operation_id: "op-3" }
    const shown = rows([event(5, "running"), event(4, "failed", ended), event(3, "scheduling")], false)
    assert.deepStrictEqual(
      shown.map(({ sentence }) => plain(sentence)),
      ["The platform could not start a branch"]
    )
  })
})

describe("rows of activity that belong together", () => {
  const [project, org] = [`prj-${"0".repeat(26)}`, "0198f3d2-7c1a-7b44-9c55-000000000001"]
  const names: Names = {
    projects: new Map([[project, "other"]]),
    branches: new Map([
      ["br-1", { name: "main", parent_id: null }],
      ["br-2", { name: "preview", parent_id: "br-1" }],
      ["br-3", { name: "old", parent_id: "br-1" }]
    ]),
    people: new Map()
  }
  const sentences = (shown: ReadonlyArray<object>) =>
    activityRows(
      shown.map((it) => Schema.decodeUnknownSync(Envelope)(it)),
      names,
      { newest: true, withProject: true }
    ).map(({ sentence, took }) => [plain(sentence), took])
  const of = (operation_id: string, action: string, branch_id: string) => ({
    org_id: org,
    project_id: project,
    operation_id,
    action,
    branch_id
  })
  const root = of("op-1", "delete_timeline", "br-1")
  const preview = of("op-2", "delete_timeline", "br-2")
  const old = of("op-3", "delete_timeline", "br-3")
  const roles = (operation: number, branch = "br-1") => of(`op-r${operation}`, "apply_config", branch)

  test("a deleted project is one row with its name, and a branch that was deleted before it keeps its own", () => {
    const shown = sentences([
      event(9, "finished", root),
      event(8.5, "running", root),
      event(8, "finished", preview),
      event(7, "scheduling", root),
      event(7, "cancelled", roles(1)),
      event(7, "scheduling", preview),
      event(3, "finished", old),
      event(2.9, "running", old),
      event(2, "scheduling", old)
    ])
    assert.deepStrictEqual(shown, [
      ["The platform deleted project other", 500],
      ["The platform began to update the roles of main in other, which was cancelled", null],
      ["The platform deleted branch old in other", 100]
    ])
  })

  test("updates of roles that follow each other on a branch are one row", () => {
    const shown = sentences([
      event(9, "finished", roles(1)),
      event(8.5, "running", roles(1)),
      event(8, "finished", roles(2)),
      event(7, "running", roles(2)),
      event(6, "failed", { ...roles(3), error: "The machine is full." }),
      event(5, "finished", roles(4)),
      event(4, "finished", roles(5, "br-2"))
    ])
    assert.deepStrictEqual(shown, [
      ["The platform updated the roles of main in other", 500],
      ["The platform could not update the roles of main in other", null],
      ["The platform updated the roles of main in other", null],
      ["The platform updated the roles of preview in other", null]
    ])
  })
})

layer(layerTestConsole(), { excludeTestServices: true })("the activity page", (it) => {
  it.effect("the page says who did what, with the names of people, projects and branches", () =>
    Effect.gen(function* () {
      const api = yield* Api
      const { browser, client, home, person } = yield* signedInAs("active@example.com")
      const shop = yield* go(() => api.project(person, "shop"))
      yield* go(() => api.project(person, "blog"))
      yield* go(async () => {
        const started = await client.endpoints.start({ project_id: shop.id, endpoint_id: shop.endpoint_id })
        for (const operation of started.operations) await api.product.operations.waitFor(operation)
      })
      const page = yield* go(() => browser.open(`${home}/activity`))
      assert.include(
        page.text,
        "<b><bdi>active@example.com</bdi></b> started <b><bdi>main</bdi></b> in <b><bdi>shop</bdi></b>"
      )
      assert.match(page.text, /, \d+\.\d\u00a0s/)
      assert.include(page.text, 'src="/api/events"')
      assert.strictEqual(api.last("GET", "/v1/events/history")?.query.get("order"), "desc")

      const filtered = yield* go(() => browser.open(`${home}/activity?project=${shop.id}`))
      assert.include(filtered.text, "<b><bdi>active@example.com</bdi></b> started <b><bdi>main</bdi></b>")
      assert.notInclude(filtered.text, "in <b><bdi>shop</bdi></b>")
      assert.include(filtered.text, `src="/api/projects/${shop.id}/events"`)
      assert.include(
        (yield* go(() => browser.open(`${home}/activity?project=nonsense`))).text,
        "in <b><bdi>shop</bdi></b>"
      )
    })
  )
})
