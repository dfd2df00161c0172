import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { RegionId } from "../../src/Ids.ts"
import { ComputeDriver } from "../../src/records/computes/ComputeDriver.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { RegionCatalog } from "../../src/records/regions/RegionCatalog.ts"
import { initiatorOf } from "../../src/services/operations/Operations.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Core, keyCallerOf, logged, region, settle, signedIn, tagOf } from "../memory/core.ts"

describe("A new project", () => {
  it.effect(
    "a new project has a branch main with a suspended read-write endpoint, in its region, by one operation",
    () =>
      Effect.gen(function* () {
        const projects = yield* Projects
        const ada = yield* signedIn("ada")
        const { branch, endpoint, operations, project } = yield* projects.create(ada, { name: " shop ", region: null })
        assert.deepInclude({ ...project }, { name: "shop", org_id: ada.org_id, default_branch_id: branch.id })
        assert.deepInclude(
          { ...branch },
          { name: "main", default: true, protected: false, parent_id: null, expires_at: null }
        )
        assert.deepInclude({ ...endpoint }, { type: "read_write", branch_id: branch.id, suspend_timeout_seconds: 300 })
        for (const it of [project, branch, endpoint]) assert.strictEqual(it.region_id, region)
        assert.deepStrictEqual(
          operations.map(({ action }) => action),
          ["create_timeline"]
        )
        assert.match(project.id, /^prj-[0-7][0-9a-hjkmnp-tv-z]{25}$/)
        assert.match(branch.id, /^br-[0-7][0-9a-hjkmnp-tv-z]{25}$/)
        assert.match(endpoint.id, /^ep-[0-7][0-9a-hjkmnp-tv-z]{25}$/)
      }).pipe(Effect.provide(Core))
  )

  it.effect("a project is refused without a region where there are several", () =>
    Effect.gen(function* () {
      const catalog = yield* RegionCatalog
      const projects = yield* Projects
      const ada = yield* signedIn("ada")
      const [first] = yield* catalog.active
      if (first === undefined) throw new Error("no region")
      yield* catalog.put({ ...first, region_id: RegionId.make("us-1"), default: false })
      const before = yield* logged
      assert.strictEqual(yield* tagOf(projects.create(ada, { name: "shop", region: null })), "RegionRequired")
      assert.strictEqual(yield* tagOf(projects.create(ada, { name: "shop", region: "mars-1" })), "RegionUnknown")
      assert.deepStrictEqual(yield* logged, before)
      assert.strictEqual((yield* projects.list(ada, { limit: 10, after: null })).items.length, 0)
      const { project } = yield* projects.create(ada, { name: "shop", region: "us-1" })
      assert.strictEqual(project.region_id, "us-1")
    }).pipe(Effect.provide(Core))
  )
})

describe("A list of projects", () => {
  it.effect("a list has the organization's projects, or the one that a key is scoped to", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const [ada, eve] = [yield* signedIn("ada"), yield* signedIn("eve")]
      const mine = yield* Effect.forEach(["a", "b"], (name) => projects.create(ada, { name, region: null }))
      yield* projects.create(eve, { name: "hers", region: null })
      const [a] = mine
      if (a === undefined) throw new Error("no project")
      const ids = (caller: Parameters<typeof projects.list>[0]) =>
        Effect.map(projects.list(caller, { limit: 10, after: null }), ({ items }) => items.map(({ id }) => id))
      assert.sameMembers(
        yield* ids(ada),
        mine.map(({ project }) => project.id)
      )
      for (const scope of [
        { type: "project", project_id: a.project.id },
        { type: "branch", branch_id: a.branch.id }
      ] as const)
        assert.deepStrictEqual(yield* ids(yield* keyCallerOf(ada, "read", scope)), [a.project.id])
    }).pipe(Effect.provide(Core))
  )
})

describe("Deleting a project", () => {
  it.effect("deleting a project ends its branches, endpoints, keys and streams, and removes its data", () =>
    Effect.gen(function* () {
      const driver = yield* ComputeDriver
      const endpoints = yield* Endpoints
      const projects = yield* Projects
      const ada = yield* signedIn("ada")
      const { branch, endpoint, project } = yield* projects.create(ada, { name: "shop", region: null })
      yield* endpoints.setDesiredState(project, endpoint.id, "active", initiatorOf(ada))
      yield* settle
      const scoped = [
        yield* keyCallerOf(ada, "read", { type: "project", project_id: project.id }),
        yield* keyCallerOf(ada, "read", { type: "branch", branch_id: branch.id })
      ]
      const wide = yield* keyCallerOf(ada, "read")
      const [operation] = yield* projects.remove(ada, project)
      assert.strictEqual(operation?.action, "delete_timeline")
      assert.isTrue(Option.isNone(yield* (yield* ProjectStore).findAnywhere(project.id)))
      assert.isTrue(Option.isNone(yield* (yield* BranchStore).findAnywhere(branch.id)))
      assert.isTrue(Option.isNone(yield* (yield* EndpointStore).findAnywhere(endpoint.id)))
      const told = (yield* logged).filter(({ internal }) => internal)
      for (const { api_key_id } of scoped) assert.isTrue(told.some(({ data }) => data["api_key_id"] === api_key_id))
      assert.isFalse(told.some(({ data }) => data["api_key_id"] === wide.api_key_id))
      assert.strictEqual(told.at(-1)?.data["project_id"], project.id)
      yield* settle
      assert.deepStrictEqual(yield* driver.running, [])
      assert.strictEqual(yield* tagOf(projects.remove(ada, project)), "NotFound")
      assert.strictEqual(yield* tagOf(projects.change(project, { name: "again" })), "NotFound")
    }).pipe(Effect.provide(Core))
  )
})

describe("A project", () => {
  it.effect("renaming a project changes its name only", () =>
    Effect.gen(function* () {
      const projects = yield* Projects
      const operator = yield* OperatorAccounts
      const ada = yield* signedIn("ada")
      const { project } = yield* projects.create(ada, { name: "shop", region: null })
      const renamed = yield* projects.change(project, { name: "  store " })
      assert.deepStrictEqual({ ...renamed, name: "", updated_at: 0 }, { ...project, name: "", updated_at: 0 })
      assert.strictEqual(renamed.name, "store")
      assert.strictEqual((yield* operator.list({ limit: 10, after: null })).items.length, 1)
    }).pipe(Effect.provide(Core))
  )
})
