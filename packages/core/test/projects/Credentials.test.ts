import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Fiber, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import type { Branch } from "../../src/records/projects/Branch.ts"
import type { Access } from "../../src/records/projects/BranchRole.ts"
import { BranchRoleStore } from "../../src/records/projects/BranchRoleStore.ts"
import type { Project } from "../../src/records/projects/Project.ts"
import { changes } from "../../src/rules/authorization/Policy.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { OperationRunner } from "../../src/runner/OperationRunner.ts"
import { initiatorOf } from "../../src/services/operations/Operations.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Endpoints } from "../../src/services/projects/Endpoints.ts"
import { Projects } from "../../src/services/projects/Projects.ts"
import { Sandboxes } from "../../src/services/projects/Sandboxes.ts"
import { Core, keyCallerOf, Machines, settle, signedIn, tagOf, until } from "../memory/core.ts"

const onBranch = changes("write", "change_projects", "branch")

/** A project with main and a child, both ready and with an endpoint; its owner and an agent key of the owner. */
const setting = Effect.gen(function* () {
  const projects = yield* Projects
  const branches = yield* Branches
  const ada = yield* signedIn("ada")
  const { branch: main, endpoint, project } = yield* projects.create(ada, { name: "shop", region: null })
  yield* settle
  const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
  const child = yield* branches.create(ada, project, wanted)
  yield* settle
  if (child.endpoint === null) throw new Error("no endpoint")
  const agent = yield* keyCallerOf(ada, "agent")
  return { ada, agent, project, main, endpoint, child: child.branch, childEndpoint: child.endpoint }
})
type Setting = Effect.Success<typeof setting>

const mint = (caller: AnyCaller, project: Project, branch: Branch, access: Access, ttl: number | null = null) =>
  Effect.flatMap(Credentials, (credentials) => credentials.mint(caller, project, branch, access, ttl))
const validRoles = Effect.fnUntraced(function* ({ id }: Branch) {
  return yield* (yield* BranchRoleStore).valid(id, yield* DateTime.now)
})
const rolesOf = (branch: Branch) => Effect.map(validRoles(branch), (roles) => roles.map(({ role }) => role))
const start = ({ ada, childEndpoint, project }: Setting) =>
  Effect.flatMap(Endpoints, (endpoints) =>
    endpoints.setDesiredState(project, childEndpoint.id, "active", initiatorOf(ada))
  )

/** Mints on a branch that runs or starts, while the runner applies the role. */
const minted = <E, A, R>(minting: Effect.Effect<A, E, R>, branch: Branch) =>
  Effect.gen(function* () {
    const operations = yield* OperationStore
    const waiting = yield* Effect.forkChild(minting)
    yield* until(
      Effect.map(operations.unfinished(branch.id), (found) => found.some(({ action }) => action === "apply_config"))
    )
    yield* settle
    yield* TestClock.adjust("1 second")
    return yield* Fiber.join(waiting)
  })

describe("Minting", () => {
  it.effect("minting on a suspended branch starts nothing, and the role exists before the first connection", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* setting
      const calls = machines.calls.length
      const { credential } = yield* mint(given.ada, given.project, given.child, "read_write")
      assert.strictEqual(yield* settle, 0)
      assert.strictEqual(machines.calls.length, calls)
      yield* start(given)
      yield* settle
      assert.deepStrictEqual(machines.roles.get(given.child.id), [credential.role])
    }).pipe(Effect.provide(Core))
  )

  it.effect("minting on a running branch returns once the role is applied", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* setting
      yield* start(given)
      yield* settle
      const first = yield* minted(mint(given.ada, given.project, given.child, "read_only"), given.child)
      const second = yield* minted(mint(given.ada, given.project, given.child, "read_write"), given.child)
      assert.sameMembers(
        [...(machines.roles.get(given.child.id) ?? [])],
        [first.credential.role, second.credential.role]
      )
    }).pipe(Effect.provide(Core))
  )

  it.effect("a role minted during a start is applied, although the start may have read the roles before", () =>
    Effect.gen(function* () {
      const machines = yield* Machines
      const given = yield* setting
      const { runOne } = yield* OperationRunner
      let release: () => void = () => undefined
      const gate = new Promise<void>((resolve) => {
        release = resolve
      })
      machines.before = (call) => (call.startsWith("start") ? Effect.promise(() => gate) : Effect.void)
      yield* start(given)
      const starting = yield* Effect.forkChild(runOne)
      yield* until(Effect.sync(() => machines.starts.length === 1))
      const waiting = yield* Effect.forkChild(mint(given.ada, given.project, given.child, "read_write"))
      yield* until(Effect.map(rolesOf(given.child), (roles) => roles.length === 1))
      assert.deepStrictEqual(machines.starts[0]?.roles, [])
      release()
      yield* Fiber.join(starting)
      yield* settle
      yield* TestClock.adjust("1 second")
      const { credential } = yield* Fiber.join(waiting)
      assert.deepStrictEqual(machines.roles.get(given.child.id), [credential.role])
    }).pipe(Effect.provide(Core))
  )

  it.effect("minting waits at most ten seconds for a busy branch", () =>
    Effect.gen(function* () {
      const given = yield* setting
      yield* start(given)
      yield* settle
      const waiting = yield* Effect.forkChild(tagOf(mint(given.ada, given.project, given.child, "read_write")))
      yield* until(Effect.map(rolesOf(given.child), (roles) => roles.length === 1))
      yield* TestClock.adjust(9_999)
      assert.isUndefined(waiting.pollUnsafe())
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* Fiber.join(waiting), "NotApplied")
    }).pipe(Effect.provide(Core))
  )

  it.effect("a role expires after its lifetime: by default an hour for an agent, else never", () =>
    Effect.gen(function* () {
      const { ada, agent, child, project } = yield* setting
      const ends = (caller: AnyCaller, ttl: number | null) =>
        Effect.map(
          mint(caller, project, child, "read_write", ttl),
          ({ credential }) => credential.expires_at?.epochMilliseconds ?? null
        )
      assert.isNull(yield* ends(ada, null))
      assert.strictEqual(yield* ends(ada, 5), 5000)
      assert.strictEqual(yield* ends(agent, null), 3_600_000)
      assert.strictEqual(yield* ends(agent, 7200), 7_200_000)
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "minting stores the verifier, never the password, and returns a connection string of the read-write endpoint",
    () =>
      Effect.gen(function* () {
        const endpoints = yield* Endpoints
        const { ada, child, childEndpoint, project } = yield* setting
        yield* endpoints.create(ada, project, {
          branch_id: child.id,
          type: "read_only",
          suspend_timeout_seconds: null
        })
        yield* settle
        const { connection_uri, credential, password } = yield* mint(ada, project, child, "read_only")
        const [stored] = yield* validRoles(child)
        assert.strictEqual(stored?.role, credential.role)
        assert.notInclude(JSON.stringify(stored), Redacted.value(password))
        assert.include(Redacted.value(connection_uri), `${credential.role}:${Redacted.value(password)}@`)
        assert.include(Redacted.value(connection_uri), childEndpoint.id)
      }).pipe(Effect.provide(Core))
  )

  it.effect("minting is a conflict on a branch without endpoint, and not found on a deleted one", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, child, project } = yield* setting
      const bare = yield* branches.create(ada, project, {
        name: null,
        parent_id: null,
        protected: false,
        ttl_seconds: null,
        endpoint: false
      })
      assert.strictEqual(yield* tagOf(mint(ada, project, bare.branch, "read_write")), "Conflict")
      yield* branches.remove(ada, onBranch, child)
      assert.strictEqual(yield* tagOf(mint(ada, project, child, "read_write")), "NotFound")
    }).pipe(Effect.provide(Core))
  )
})

describe("An agent", () => {
  it.effect("an agent's role lives at most a day on a branch that the agent made without a lifetime", () =>
    Effect.gen(function* () {
      const { mint } = yield* Credentials
      const { agent, project } = yield* setting
      const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
      const { branch } = yield* (yield* Branches).create(agent, project, wanted)
      yield* settle
      assert.strictEqual(yield* tagOf(mint(agent, project, branch, "read_write", 86_401)), "InvalidMember")
      yield* mint(agent, project, branch, "read_write", 86_400)
    }).pipe(Effect.provide(Core))
  )

  it.effect("an agent mints read-write access outside of main, and read-only access anywhere", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      const { ada, agent, child, main, project } = yield* setting
      yield* mint(agent, project, child, "read_write")
      for (const branch of [child, main]) yield* mint(agent, project, branch, "read_only")
      assert.strictEqual(yield* tagOf(mint(agent, project, main, "read_write")), "Refused")
      yield* branches.change(ada, onBranch, child, { protected: true })
      assert.strictEqual(yield* tagOf(mint(agent, project, child, "read_write")), "Refused", "with the old record")
    }).pipe(Effect.provide(Core))
  )

  it.effect("read-write roles of agents are revoked in the commit that makes their branch main, and no others", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      for (const how of ["default", "protected"] as const)
        yield* Effect.gen(function* () {
          const { ada, agent, child, project } = yield* setting
          yield* mint(agent, project, child, "read_write")
          const reader = (yield* mint(agent, project, child, "read_only")).credential.role
          const kept = [(yield* mint(ada, project, child, "read_write")).credential.role, reader]
          const operations = yield* OperationStore
          if (how === "default") yield* branches.setDefault(ada, child)
          else yield* branches.change(ada, onBranch, child, { protected: true })
          assert.sameMembers([...(yield* rolesOf(child))], kept, how)
          assert.deepStrictEqual(
            (yield* operations.unfinished(child.id)).map(({ action }) => action),
            ["apply_config"]
          )
        })
    }).pipe(Effect.provide(Core))
  )

  it.effect("an agent never keeps a read-write role on main, however minting and the change interleave", () =>
    Effect.gen(function* () {
      const branches = yield* Branches
      for (let round = 0; round < 10; round++) {
        const given = yield* setting
        const { ada, agent, child, project } = given
        if (round % 2 === 0) {
          yield* start(given)
          yield* settle
        }
        const mints = Array.from({ length: 6 }, () =>
          Effect.asVoid(Effect.result(mint(agent, project, child, "read_write")))
        )
        // A fixed number of turns of the event loop later, so that the load of the machine does not matter.
        const turns = Effect.repeat(
          Effect.promise(() => new Promise<void>((resolve) => setImmediate(resolve))),
          { times: 3 * round }
        )
        const becoming = Effect.andThen(turns, branches.change(ada, onBranch, child, { protected: true }))
        const all = yield* Effect.forkChild(Effect.all([...mints, becoming], { concurrency: "unbounded" }))
        const operations = yield* OperationStore
        yield* until(
          Effect.gen(function* () {
            yield* settle
            yield* TestClock.adjust("1 second")
            return all.pollUnsafe() !== undefined && (yield* operations.unfinished(child.id)).length === 0
          })
        )
        yield* Fiber.join(all)
        const roles = yield* validRoles(child)
        assert.isFalse(roles.some(({ access, minted_by_agent }) => minted_by_agent && access === "read_write"))
      }
    }).pipe(Effect.provide(Core))
  )

  it.effect("a sandbox is a child branch with an endpoint and a read-write role that expire together", () =>
    Effect.gen(function* () {
      const sandboxes = yield* Sandboxes
      const { agent, main, project } = yield* setting
      const made = yield* sandboxes.create(agent, project, { name: "try", parent_id: null, ttl_seconds: null })
      assert.deepInclude({ ...made.branch }, { name: "try", parent_id: main.id, made_by_agent: true, protected: false })
      assert.strictEqual(made.branch.expires_at?.epochMilliseconds, 3_600_000)
      assert.strictEqual(made.credential.expires_at?.epochMilliseconds, 3_600_000)
      assert.strictEqual(made.credential.access, "read_write")
      assert.strictEqual(made.operations.length, 1)
      assert.include(Redacted.value(made.connection_uri), made.endpoint.id)
      assert.isTrue((yield* validRoles(made.branch))[0]?.minted_by_agent)
    }).pipe(Effect.provide(Core))
  )
})
