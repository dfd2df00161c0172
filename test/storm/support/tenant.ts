/** The work of a tenant in the storm, and the rows that the databases must have at its end. */
import { assert } from "@effect/vitest"
import {
  type Branch,
  Branches,
  type BranchId,
  BranchRoleStore,
  Credentials,
  changes,
  EndpointStore,
  Endpoints,
  initiatorOf,
  OperationStore,
  type Project,
  Projects,
  type SessionCaller,
  SizeCatalog
} from "@narthex/core"
import { testSizes } from "@narthex/core/testing"
import { Effect, Option, Random } from "effect"
import { eventually } from "../../harness/eventually.ts"
import { signIn } from "../../races/support/world.ts"
import { rolesOf, type Written, write } from "./inspection.ts"
import { limit, type StormRegion } from "./StormRegion.ts"

/** Completes when the branch has no unfinished operation. */
const settled = (branch: BranchId) =>
  Effect.flatMap(OperationStore, (store) =>
    eventually(
      `the operations of ${branch}`,
      Effect.map(store.unfinished(branch), (left) => left.length === 0),
      { every: 100, limit }
    )
  )

const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
const onBranch = changes("write", "change_projects", "branch")

/** Mints two credentials, and revokes one: Postgres has the other alone. */
const mintAndRevoke = (dataDir: string, owner: SessionCaller, project: Project, branch: Branch) =>
  Effect.gen(function* () {
    const credentials = yield* Credentials
    const store = yield* BranchRoleStore
    // Runners are being killed: the compute's confirmation may be late.
    const late = { NotApplied: () => Effect.void }
    const mint = Effect.catchTags(credentials.mint(owner, project, branch, "read_write", null), late)
    yield* mint
    yield* mint
    yield* settled(branch.id)
    const [revoked, kept] = yield* store.present(branch.id)
    if (revoked === undefined || kept === undefined) return yield* Effect.die(new Error("A minted role is missing."))
    yield* Effect.catchTags(credentials.revoke(owner, project, revoked), late)
    yield* settled(branch.id)
    assert.deepStrictEqual(yield* rolesOf(dataDir, branch.id), [kept.role])
    const found = yield* store.find(branch.id, revoked.role)
    assert.isTrue(
      Option.exists(found, ({ removed_at }) => removed_at !== null),
      "its end is confirmed"
    )
  })

/** The fates of a branch. */
const fates = ["suspend", "reset", "delete", "mint and revoke", "make default", "delete endpoint", "resize"] as const

/**
 * Branches that a tenant keeps: a personal organization may have fifty in a project, and twenty running computes. The oldest
 * is deleted, unless it is the default branch or has children.
 */
const mostKept = 8

/** The branches of a region, and the rows that each must have in the end. */
export type Expected = Map<string, ReadonlyArray<Written>>

/** Until `over`, creates branches of main, writes to them, and lets one of the fates happen to each. */
export const tenant = ({ dataDir, region }: StormRegion, name: string, over: () => boolean, expected: Expected) =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const endpoints = yield* Endpoints
    const owner: SessionCaller = yield* signIn(`${name}@example.com`)
    const made = yield* (yield* Projects).create(owner, { name, region })
    const { branch: main, project } = made
    const set = (endpoint: { readonly id: typeof made.endpoint.id }, state: "active" | "idle", of: Project) =>
      endpoints.setDesiredState(of, endpoint.id, state, initiatorOf(owner))
    /** Gives a running compute two sizes at once: it runs with the one that the endpoint has then. */
    const resize = Effect.fnUntraced(function* ({ branch_id, id }: typeof made.endpoint) {
      const store = yield* EndpointStore
      const present = Effect.map(store.findAnywhere(id), Option.getOrThrow)
      const given = yield* present
      const to = (size: string) => endpoints.change(owner, onBranch, project, given, { size })
      yield* Effect.all([to("large"), to("small"), to("large")], { concurrency: "unbounded" }).pipe(
        Effect.provideService(SizeCatalog, testSizes)
      )
      yield* settled(branch_id)
      assert.deepInclude({ ...(yield* present) }, { current_state: "active", resized: false })
    })
    yield* set(made.endpoint, "active", project)
    yield* settled(main.id)
    const ofMain: Written = { branch: main.id, rows: 2_000 }
    yield* write(dataDir, ofMain)
    expected.set(main.id, [ofMain])
    const kept: Array<Branch> = []
    for (let n = 0; n === 0 || !over(); n++) {
      const { branch, endpoint } = yield* branches.create(owner, project, wanted)
      if (endpoint === null) return
      yield* set(endpoint, "active", project)
      yield* settled(branch.id)
      const own: Written = { branch: branch.id, rows: 500 }
      yield* write(dataDir, own)
      const fate = fates[yield* Random.nextIntBetween(0, fates.length, { halfOpen: true })]
      expected.set(branch.id, fate === "reset" ? [ofMain] : [own, ofMain])
      if (fate === "suspend") yield* set(endpoint, "idle", project)
      if (fate === "reset") yield* branches.reset(owner, onBranch, branch)
      if (fate === "delete") {
        expected.delete(branch.id)
        yield* branches.remove(owner, onBranch, branch)
      }
      if (fate === "mint and revoke") yield* mintAndRevoke(dataDir, owner, project, branch)
      if (fate === "make default") yield* branches.setDefault(owner, branch)
      if (fate === "resize") yield* resize(endpoint)
      if (fate === "delete endpoint") yield* endpoints.remove(owner, onBranch, project, endpoint)
      yield* settled(branch.id)
      if (fate === "delete") continue
      if (fate !== "delete endpoint") yield* set(endpoint, "idle", project)
      yield* settled(branch.id)
      kept.push(branch)
      const oldest = kept.length > mostKept ? kept.shift() : undefined
      if (oldest === undefined) continue
      yield* branches.remove(owner, onBranch, oldest).pipe(
        Effect.andThen(Effect.sync(() => expected.delete(oldest.id))),
        Effect.catchTag("Conflict", () => Effect.void)
      )
      yield* settled(oldest.id)
    }
  })
