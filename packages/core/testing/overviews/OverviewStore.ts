/** The contract of `OverviewStore`, which reads the records of other stores. Run it against every adapter. */
import { Effect, Option, Result } from "effect"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { InvitationStore } from "../../src/records/accounts/InvitationStore.ts"
import { OrganizationView } from "../../src/records/accounts/Organization.ts"
import { UserProfile } from "../../src/records/accounts/User.ts"
import { parseCidr } from "../../src/records/allowlist/Cidr.ts"
import type { IpAllowlistStore } from "../../src/records/allowlist/IpAllowlistStore.ts"
import { IpRule } from "../../src/records/allowlist/IpRule.ts"
import { OperationStore } from "../../src/records/operations/OperationStore.ts"
import { branchesCounted, endpointsInUse } from "../../src/records/overviews/Overview.ts"
import { OverviewStore, type PersonAsked } from "../../src/records/overviews/OverviewStore.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import type { Endpoint } from "../../src/records/projects/Endpoint.ts"
import { EndpointStore } from "../../src/records/projects/EndpointStore.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import { QuotaStore } from "../../src/records/quotas/QuotaStore.ts"
import { listRule } from "../allowlist/IpAllowlistStore.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import {
  aBranch,
  aBranchId,
  aMembership,
  anEndpoint,
  anInvitation,
  anOperation,
  anOrganization,
  anOrgId,
  aProject,
  aProjectId,
  aText,
  at,
  aUser,
  aUserId
} from "../records.ts"

const inserted = Effect.fnUntraced(function* (rest: Parameters<typeof aProject>[0] = {}) {
  const project = aProject(rest)
  yield* (yield* ProjectStore).insert(project)
  return project
})

const aRule = (network: string, expires_at: IpRule["expires_at"]) =>
  new IpRule({
    cidr: Result.getOrThrow(parseCidr(network)),
    label: "office",
    created_at: at(0),
    created_by: aUser().ref,
    expires_at
  })

/** The endpoint and the last use of a project. */
const useOf = Effect.fnUntraced(function* (
  project: Effect.Success<ReturnType<typeof inserted>>,
  branch: ReturnType<typeof aBranchId> | null = null
) {
  const uses = yield* (yield* OverviewStore).ofProjects([project], branch)
  assert.lengthOf(uses, 1)
  assert.strictEqual(uses[0]?.project_id, project.id)
  return { endpoint: uses[0]?.endpoint, last_used_at: uses[0]?.last_used_at }
})

export const overviewStoreContract = contract<
  | AccountStore
  | BranchStore
  | EndpointStore
  | InvitationStore
  | IpAllowlistStore
  | OperationStore
  | OverviewStore
  | ProjectStore
  | QuotaStore
>("OverviewStore", (it) => {
  it("a person has organizations, oldest first, pending invitations, and the newest projects, at most so many", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const invitations = yield* InvitationStore
      const store = yield* OverviewStore
      const [user, first, second, third] = [aUser(), anOrganization(), anOrganization(), anOrganization()]
      yield* accounts.putUser(user)
      for (const organization of [third, first, second]) {
        yield* accounts.putOrganization(organization)
        yield* accounts.putMembership(aMembership(organization.id, user.id, { role: `role of ${organization.id}` }))
      }
      const foreign = anOrganization()
      yield* accounts.putOrganization(foreign)
      yield* accounts.putMembership(aMembership(foreign.id, aUserId()))
      const address = `${aText("ada").replace(" ", "")}@example.com`
      for (const organization of [first, second, third])
        yield* invitations.add(anInvitation(organization.id, address), at(0))
      yield* invitations.add(anInvitation(foreign.id, address, { expires_at: at(5) }), at(0))
      yield* invitations.add(anInvitation(foreign.id, `other-${address}`), at(0))
      const [a, b] = [yield* inserted({ org_id: first.id }), yield* inserted({ org_id: first.id, name: "blog" })]
      const gone = yield* inserted({ org_id: first.id })
      yield* (yield* ProjectStore).markDeleted(gone.id, at(1))
      yield* inserted()
      const asked: PersonAsked = {
        user: user.id,
        address,
        org: first.id,
        now: at(5),
        limits: { organizations: 10, invitations: 10, projects: 10 }
      }
      const view = (organization: typeof first) =>
        new OrganizationView({ ...organization, role: `role of ${organization.id}` })
      assert.deepStrictEqual(yield* store.ofPerson(asked), {
        organizations: [view(first), view(second), view(third)],
        pending_invitations: 3,
        projects: [b, a].map(({ id, name }) => ({ id, name }))
      })
      const bounded = { ...asked, limits: { organizations: 2, invitations: 2, projects: 1 } }
      assert.deepStrictEqual(yield* store.ofPerson(bounded), {
        organizations: [view(first), view(second)],
        pending_invitations: 2,
        projects: [{ id: b.id, name: "blog" }]
      })
      const nothing = { organizations: 1, invitations: 1, projects: 0 }
      assert.deepStrictEqual(yield* store.ofPerson({ ...asked, user: aUserId(), address: null, limits: nothing }), {
        organizations: [],
        pending_invitations: 0,
        projects: []
      })
    }))

  it("the contents of a project are what its lists have, as far as they are asked for", () =>
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const endpoints = yield* EndpointStore
      const operations = yield* OperationStore
      const quotas = yield* QuotaStore
      const store = yield* OverviewStore
      const { id, org_id } = yield* inserted()
      const [older, newer, gone] = [aBranch(id), aBranch(id), aBranch(id)]
      for (const branch of [newer, gone, older, aBranch(aProjectId())]) yield* branches.put(branch)
      yield* branches.markDeleted(gone.id, at(1))
      for (const branch of [newer, older]) yield* quotas.expectBytes(org_id, branch.id, 0)
      yield* quotas.recordBytes(null, [{ branch_id: older.id, bytes: 8192 }], at(3))
      const [reader, writer] = [anEndpoint(id, older.id), anEndpoint(id, older.id, { type: "read_write" })]
      for (const endpoint of [writer, reader, anEndpoint(aProjectId(), older.id)]) yield* endpoints.put(endpoint)
      const [first, second] = [anOperation(id, older.id), anOperation(id, null)]
      for (const operation of [second, first, anOperation(aProjectId(), null)]) yield* operations.insert(operation)
      const [office, home] = [aRule("10.1.0.0/16", Option.none()), aRule("10.2.0.0/16", Option.some(at(9)))]
      for (const rule of [office, home]) yield* listRule(id, rule)
      yield* listRule(aProjectId(), aRule("10.3.0.0/16", Option.none()))
      const everything = { branches: 10, endpoints: 10, operations: 10, rules: true }
      const all = {
        branches: [newer, older],
        disks: [newer.id, older.id].map((branch_id) => ({
          branch_id,
          size_bytes: branch_id === older.id ? 8192 : null,
          size_measured_at: branch_id === older.id ? at(3) : null,
          held: 8192,
          terms: { personal: false, overrides: {} }
        })),
        endpoints: [writer, reader],
        operations: [second, first],
        rules: [office, home]
      }
      const found = yield* store.ofProject(id, everything)
      const disks = found.disks.toSorted((a, b) => (a.branch_id < b.branch_id ? 1 : -1))
      assert.deepStrictEqual({ ...found, disks }, all)
      assert.deepStrictEqual(yield* store.ofProject(id, { branches: 1, endpoints: 1, operations: 1, rules: false }), {
        branches: [newer],
        disks: [{ ...all.disks[0], branch_id: newer.id }],
        endpoints: [writer],
        operations: [second],
        rules: []
      })
      const nothing = { branches: [], disks: [], endpoints: [], operations: [], rules: [] }
      const none = { branches: 0, endpoints: 0, operations: 0, rules: false }
      assert.deepStrictEqual(yield* store.ofProject(id, none), nothing)
      assert.deepStrictEqual(yield* store.ofProject(aProjectId(), everything), nothing)
    }))

  it("the endpoint of a project is the read-write one of its default branch, else the newest there, else any", () =>
    Effect.gen(function* () {
      const endpoints = yield* EndpointStore
      const project = yield* inserted()
      const [main, other] = [project.default_branch_id, aBranchId()]
      const put = (endpoint: Endpoint) => Effect.as(endpoints.put(endpoint), endpoint)
      const none = { endpoint: null, last_used_at: null }
      assert.deepStrictEqual(yield* useOf(project), none)
      yield* put(anEndpoint(aProjectId(), other))
      assert.deepStrictEqual(yield* useOf(project), none)
      const elsewhere = yield* put(anEndpoint(project.id, other, { type: "read_write" }))
      assert.deepStrictEqual((yield* useOf(project)).endpoint, elsewhere)
      const writer = anEndpoint(project.id, main, { type: "read_write" })
      yield* put(anEndpoint(project.id, main))
      const reader = yield* put(anEndpoint(project.id, main))
      assert.deepStrictEqual((yield* useOf(project)).endpoint, reader)
      yield* put(writer)
      assert.deepStrictEqual((yield* useOf(project)).endpoint, writer)
      assert.deepStrictEqual((yield* useOf(project, other)).endpoint, elsewhere)
      yield* endpoints.markDeleted(writer.id, at(1))
      assert.deepStrictEqual((yield* useOf(project)).endpoint, reader)
    }))

  it("a project was used last when one of its endpoints was active, started or suspended, among the newest", () =>
    Effect.gen(function* () {
      const endpoints = yield* EndpointStore
      const store = yield* OverviewStore
      const [project, unused] = [yield* inserted(), yield* inserted()]
      const branch = project.default_branch_id
      const oldest = anEndpoint(project.id, branch, { last_active_at: at(90) })
      yield* endpoints.put(oldest)
      yield* endpoints.put(anEndpoint(project.id, branch, { started_at: at(10), suspended_at: at(30) }))
      yield* endpoints.put(anEndpoint(project.id, aBranchId(), { last_active_at: at(20) }))
      assert.deepStrictEqual((yield* useOf(project)).last_used_at, at(90))
      const uses = yield* store.ofProjects([unused, project], null)
      assert.sameMembers(
        uses.map(({ last_used_at, project_id }) => [project_id, last_used_at]),
        [
          [unused.id, null],
          [project.id, at(90)]
        ]
      )
      for (let more = 0; more < endpointsInUse - 2; more++) yield* endpoints.put(anEndpoint(project.id, branch))
      assert.deepStrictEqual((yield* useOf(project)).last_used_at, at(30), "the oldest is not among the newest 100")
      assert.deepStrictEqual(yield* store.ofProjects([], null), [])
    }))

  it("the branches of a project are counted up to 100, with the sum of their measured sizes", () =>
    Effect.gen(function* () {
      const branches = yield* BranchStore
      const quotas = yield* QuotaStore
      const store = yield* OverviewStore
      const { default_branch_id, id, org_id } = yield* inserted()
      const held = (branch: ReturnType<typeof aBranchId> | null = null) =>
        Effect.map(store.ofProjects([{ id, default_branch_id }], branch), (uses) =>
          uses.map(({ branches_count, size_bytes }) => [branches_count, size_bytes])
        )
      assert.deepStrictEqual(yield* held(), [[0, null]])
      const [first, second, unmeasured, gone] = [aBranch(id), aBranch(id), aBranch(id), aBranch(id)]
      for (const branch of [first, second, unmeasured, gone, aBranch(aProjectId())]) {
        yield* branches.put(branch)
        yield* quotas.expectBytes(org_id, branch.id, 0)
      }
      assert.deepStrictEqual(yield* held(), [[4, null]])
      const measured = [first, second, gone].map((branch, n) => ({ branch_id: branch.id, bytes: 4096 * (n + 1) }))
      yield* quotas.recordBytes(null, measured, at(3))
      yield* branches.markDeleted(gone.id, at(4))
      assert.deepStrictEqual(yield* held(), [[3, 4096 + 8192]])
      assert.deepStrictEqual(yield* held(second.id), [[1, 8192]])
      for (let more = 0; more < branchesCounted; more++) yield* branches.put(aBranch(id))
      assert.deepStrictEqual((yield* held())[0]?.[0], branchesCounted)
    }))

  it("names are those of the organization: projects, branches with their parents, members", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const branches = yield* BranchStore
      const store = yield* OverviewStore
      const project = yield* inserted()
      const { org_id } = project
      const root = aBranch(project.id)
      const child = aBranch(project.id, { parent_id: root.id })
      const unasked = aBranch(project.id, { parent_id: root.id })
      const [foreign, gone] = [yield* inserted(), yield* inserted({ org_id })]
      const foreignBranch = aBranch(foreign.id)
      const deleted = aBranch(project.id, { parent_id: unasked.id })
      for (const it of [root, child, unasked, foreignBranch, deleted]) yield* branches.put(it)
      yield* branches.markDeleted(deleted.id, at(1))
      yield* (yield* ProjectStore).markDeleted(gone.id, at(1))
      const [ada, stranger] = [aUser(), aUser()]
      for (const user of [ada, stranger]) yield* accounts.putUser(user)
      yield* accounts.putMembership(aMembership(org_id, ada.id))
      yield* accounts.putMembership(aMembership(anOrgId(), stranger.id))
      const asked = {
        projects: [project.id, foreign.id, gone.id, aProjectId()],
        branches: [child.id, foreignBranch.id, deleted.id, aBranchId()],
        people: [ada.id, stranger.id, aUserId()]
      }
      const { branches: shown, ...rest } = yield* store.names(org_id, asked)
      assert.deepStrictEqual(rest, {
        projects: [
          { id: gone.id, name: gone.name, deleted: true },
          { id: project.id, name: project.name, deleted: false }
        ],
        people: [new UserProfile({ id: ada.id, email: ada.email, name: ada.name })]
      })
      assert.deepStrictEqual(shown, [
        { id: deleted.id, name: deleted.name, parent_id: unasked.id },
        { id: unasked.id, name: unasked.name, parent_id: root.id },
        { id: child.id, name: child.name, parent_id: root.id },
        { id: root.id, name: root.name, parent_id: null }
      ])
      const without = { ...rest, projects: [], branches: [] }
      assert.deepStrictEqual(yield* store.names(org_id, { ...asked, projects: [] }), without)
      const nothing = { projects: [], branches: [], people: [] }
      assert.deepStrictEqual(yield* store.names(org_id, nothing), nothing)
    }))
})
