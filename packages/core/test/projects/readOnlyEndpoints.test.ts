import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { twinSuffix } from "../../src/records/projects/readOnlyTwin.ts"
import { bySystem } from "../../src/services/operations/Operations.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { ProxyRequests } from "../../src/services/proxy-requests/ProxyRequests.ts"
import { Core, Machines, settle, signedIn } from "../memory/core.ts"

/** A project with a writer's role, and the calls about its branch. */
const made = Effect.gen(function* () {
  const projects = yield* Projects
  const credentials = yield* Credentials
  const endpoints = yield* Endpoints
  const machines = yield* Machines
  const ada = yield* signedIn("ada")
  const { branch, endpoint, project } = yield* projects.create(ada, { name: "shop", region: null })
  yield* settle
  const { credential } = yield* credentials.mint(ada, project, branch, "read_write", null)
  const wanted = { branch_id: branch.id, type: "read_only", suspend_timeout_seconds: null } as const
  return {
    create: endpoints.create(ada, project, wanted),
    start: Effect.andThen(endpoints.setDesiredState(project, endpoint.id, "active", bySystem), settle),
    roles: Effect.sync(() => machines.roles.get(branch.id)),
    role: credential.role,
    twin: `${credential.role}${twinSuffix}`
  }
})

describe("A read-only endpoint", () => {
  it.effect("on a running branch the roles' twins are made with the endpoint", () =>
    Effect.gen(function* () {
      const { create, role, roles, start, twin } = yield* made
      yield* start
      assert.deepStrictEqual(yield* roles, [role])
      const { operations } = yield* create
      assert.deepStrictEqual(
        operations.map(({ action }) => action),
        ["create_compute", "apply_config"]
      )
      yield* settle
      assert.deepStrictEqual(yield* roles, [role, twin])
    }).pipe(Effect.provide(Core))
  )

  it.effect("on a suspended branch the next start makes the twins", () =>
    Effect.gen(function* () {
      const { create, role, roles, start, twin } = yield* made
      const { operations } = yield* create
      assert.deepStrictEqual(
        operations.map(({ action }) => action),
        ["create_compute"]
      )
      yield* settle
      yield* start
      assert.deepStrictEqual(yield* roles, [role, twin])
    }).pipe(Effect.provide(Core))
  )

  it.effect("proxies learn its type and its organization", () =>
    Effect.gen(function* () {
      const { create } = yield* made
      const { endpoint } = yield* create
      const ada = yield* signedIn("ada")
      const location = yield* (yield* ProxyRequests).resolve(endpoint.id)
      assert.deepInclude({ ...location }, { type: "read_only", org_id: ada.organization.id })
    }).pipe(Effect.provide(Core))
  )
})
