/**
 * Every creation at the same moment as every end above it: nothing outlives what it belongs to.
 *
 * Each creation locks or holds its parent. The first tests force the order; the rounds race every creation with an end, and
 * a deadlock would show as a failed outcome.
 */
import { assert, layer } from "@effect/vitest"
import {
  ApiKeys,
  Branches,
  Credentials,
  Endpoints,
  HostEvents,
  Invitations,
  IpAllowlist,
  layerEventTypes,
  OperationRunner,
  OperatorAccounts,
  Organizations,
  OwnInvitations,
  Projects,
  Sandboxes,
  type SessionCaller
} from "@narthex/core"
import { Database } from "@narthex/postgres"
import { Effect, Layer, Result, Schema } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { makeOwners, teamOf } from "./support/team.ts"
import { workedOff } from "./support/workedOff.ts"
import { signIn, world } from "./support/world.ts"

const ttl = { ttl_seconds: 600 }
const branchWanted = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: true }
const endings = { confirmed: true, hand_over_credentials: false }

/** Living rows whose parents are gone, as sentences. */
const orphans = Effect.gen(function* () {
  const { query } = yield* Database
  const rows = yield* query<{ readonly kind: string; readonly n: number }>(
    "test",
    `with living_project as (select * from narthex.project where deleted_at is null),
       living_branch as (select * from narthex.branch where deleted_at is null)
     select kind, count(*)::integer as n from (
       select 'project' as kind from living_project p where not exists (select 1 from narthex.organization o where o.id = p.org_id)
       union all
       select 'branch' from living_branch b where not exists (select 1 from living_project p where p.id = b.project_id)
       union all
       select 'endpoint' from narthex.endpoint e
       where deleted_at is null and not exists (select 1 from living_branch b where b.id = e.branch_id)
       union all
       select 'key' from narthex.api_key k where revoked_at is null and (
         not exists (select 1 from narthex.membership m where m.org_id = k.org_id and m.user_id = k.creator_id)
         or scope_project is not null and not exists (select 1 from living_project p where p.id = scope_project)
         or scope_branch is not null and not exists (select 1 from living_branch b where b.id = scope_branch))
       union all
       select 'credential' from narthex.branch_role r where revoked_at is null and (
         not exists (select 1 from living_branch b where b.id = r.branch_id)
         or not exists (select 1 from narthex.membership m where m.org_id = r.org_id and m.user_id = r.minter_id)
         or not exists (select 1 from narthex.user_account u where u.id = r.minter_id and u.disabled_at is null))
       union all
       select 'membership' from narthex.membership m where not exists (select 1 from narthex.organization o where o.id = m.org_id)
       union all
       select 'invitation' from narthex.invitation i where not exists (select 1 from narthex.organization o where o.id = i.org_id)
     ) as found group by kind order by kind`
  )
  return rows.map(({ kind, n }) => `${n} orphans of the kind ${kind}`)
})

/** A team of two owners: `member` creates, `owner` ends. */
const teamWith = (name: string) =>
  Effect.gen(function* () {
    const team = yield* teamOf(name)
    const [owner, member] = team.owners
    yield* makeOwners(team.org, [owner, member])
    return { org: team.org, owner, member }
  })

const inOrganization = (actor: SessionCaller, guest: SessionCaller, invitation: string) =>
  Effect.gen(function* () {
    const scope = { type: "organization" as const }
    const wanted = { name: "k", capability: "read_write" as const, scope, expires_in_days: null }
    const events = yield* HostEvents
    const [invitations, keys, own, projects] = [
      yield* Invitations,
      yield* ApiKeys,
      yield* OwnInvitations,
      yield* Projects
    ]
    return {
      project: projects.create(actor, { name: "p", region: null }),
      key: keys.create(actor, wanted),
      invitation: invitations.create(actor, { email: `other-${invitation}@example.org`, role: "member" }),
      membership: own.accept(guest, invitation as Parameters<typeof own.accept>[1]),
      event: events.publish({ org_id: actor.org_id, type: "ended.test.v1", data: {} })
    }
  })

/** A project with a child branch, and everything that can be created in the two. */
const inProject = (owner: SessionCaller, actor: SessionCaller) =>
  Effect.gen(function* () {
    const [allowlist, branches, credentials, endpoints] = [
      yield* IpAllowlist,
      yield* Branches,
      yield* Credentials,
      yield* Endpoints
    ]
    const [keys, projects, sandboxes] = [yield* ApiKeys, yield* Projects, yield* Sandboxes]
    const { project } = yield* projects.create(owner, { name: "p", region: null })
    const { branch } = yield* branches.create(owner, project, branchWanted)
    const key = (scope: Parameters<typeof keys.create>[1]["scope"]) =>
      keys.create(actor, { name: "k", capability: "read_write", scope, expires_in_days: null })
    return {
      project,
      branch,
      endProject: projects.remove(owner, project),
      endBranch: branches.remove(owner, { agent: "never" } as Parameters<typeof branches.remove>[1], branch),
      creations: {
        branch: branches.create(actor, project, { ...branchWanted, parent_id: branch.id }),
        sandbox: sandboxes.create(actor, project, { name: null, parent_id: branch.id, ...ttl }),
        endpoint: endpoints.create(actor, project, {
          branch_id: branch.id,
          type: "read_only",
          suspend_timeout_seconds: null
        }),
        credential: credentials.mintOnNew(actor, project, branch, "read_write"),
        projectKey: key({ type: "project", project_id: project.id }),
        branchKey: key({ type: "branch", project_id: project.id, branch_id: branch.id }),
        rule: allowlist.add(project, { cidr: "192.0.2.0/24", label: "l" }, actor.user.ref)
      }
    }
  })

const declared = layerEventTypes({ "ended.test.v1": Schema.Struct({}) })
const ends = OperationRunner.layerManual.pipe(Layer.provideMerge(world), Layer.provideMerge(declared))

/** The refusals that a creation may get from an end, and an end from a creation. */
const expected = new Set([
  "Conflict",
  "InvalidCredential",
  "InvalidMember",
  "NotFound",
  "Refused",
  "ResourceBusy",
  "SignInRequired"
])

const strange = (outcomes: ReadonlyArray<Result.Result<unknown, unknown>>) =>
  outcomes.flatMap((it) => {
    const tag = Result.isFailure(it) ? String((it.failure as { readonly _tag?: unknown })._tag) : "Refused"
    return expected.has(tag) ? [] : [`an outcome was ${tag}`]
  })

layer(ends, { excludeTestServices: true })("an end", (it) => {
  it.effect("an organization that has ended accepts no project and no event of the host", () =>
    Effect.gen(function* () {
      const { org, owner } = yield* teamWith("ended-first")
      const guest = yield* signIn("guest-ended-first@example.com")
      const creations = yield* inOrganization(owner, guest, "none")
      const end = (yield* Organizations).remove(owner)
      const { first, others } = yield* inOrder<unknown, unknown, never, unknown, { readonly _tag: string }, never>(
        end,
        [creations.project, creations.event]
      )
      assert.isTrue(Result.isSuccess(first))
      assert.deepStrictEqual(
        others.map((it) => (Result.isSuccess(it) ? "made" : it.failure._tag)),
        ["Refused", "NotFound"]
      )
      assert.deepStrictEqual(yield* (yield* Projects).list({ ...owner, org_id: org }, { limit: 1, after: null }), {
        items: [],
        next_cursor: null
      })
      assert.deepStrictEqual(yield* orphans, [])
    })
  )

  it.effect("an organization does not end while a project is created in it", () =>
    Effect.gen(function* () {
      const { owner } = yield* teamWith("created-first")
      const create = (yield* Projects).create(owner, { name: "p", region: null })
      const { first, others } = yield* inOrder<unknown, unknown, never, unknown, { readonly _tag: string }, never>(
        create,
        [(yield* Organizations).remove(owner)]
      )
      assert.isTrue(Result.isSuccess(first))
      assert.deepStrictEqual(
        others.map((it) => (Result.isSuccess(it) ? "ended" : it.failure._tag)),
        ["Conflict"]
      )
      assert.deepStrictEqual(yield* orphans, [])
    })
  )

  it.effect("a project that has ended accepts no rule of its allowlist", () =>
    Effect.gen(function* () {
      const { owner } = yield* teamWith("rule")
      const it = yield* inProject(owner, owner)
      const { first, others } = yield* inOrder<unknown, unknown, never, unknown, { readonly _tag: string }, never>(
        it.endProject,
        [it.creations.rule]
      )
      assert.isTrue(Result.isSuccess(first))
      assert.deepStrictEqual(
        others.map((it) => (Result.isSuccess(it) ? "made" : it.failure._tag)),
        ["NotFound"]
      )
    })
  )

  it.effect(
    "an organization, a membership or an account that ends during creations leaves nothing that belongs to it",
    () =>
      Effect.gen(function* () {
        const outcomes = { organization: 0, membership: 0, account: 0 }
        yield* rounds(
          "ends of organizations and people",
          (n) =>
            Effect.gen(function* () {
              const { owner, member, org } = yield* teamWith(`people-${n}`)
              const guest = yield* signIn(`guest-${n}@example.com`)
              const email = `guest-${n}@example.com`
              const invitation = yield* (yield* Invitations).create(owner, { email, role: "member" })
              const creations = Object.values(yield* inOrganization(member, guest, invitation.id))
              const organizations = yield* Organizations
              const { disable } = yield* OperatorAccounts
              const kind = (["organization", "membership", "account"] as const)[n % 3] ?? "account"
              const end = {
                organization: organizations.remove(owner),
                membership: organizations.removeMember(owner, member.user.id, endings),
                account: disable(member.user.id)
              }[kind]
              const work = n % 3 === 0 ? [] : Object.values((yield* inProject(owner, member)).creations)
              const [ended, ...made] = yield* race<unknown, unknown, never>([end, ...creations, ...work])
              if (ended !== undefined && Result.isSuccess(ended)) outcomes[kind] += 1
              return [
                ...strange([...(ended === undefined ? [] : [ended]), ...made]),
                ...(yield* orphans).map((it) => `${kind} ${org}: ${it}`)
              ]
            }),
          { count: 9, lanes: 1, outcomes }
        )
      }),
    patience
  )

  it.effect(
    "a project or branch that ends during creations leaves nothing that belongs to it",
    () =>
      Effect.gen(function* () {
        const outcomes = { project: 0, branch: 0 }
        yield* rounds(
          "ends of projects and branches",
          (n) =>
            Effect.gen(function* () {
              const { owner, member } = yield* teamWith(`things-${n}`)
              const it = yield* inProject(owner, member)
              const kind = n % 2 === 0 ? "project" : "branch"
              // An unfinished operation would refuse the end of the branch.
              if (kind === "branch") yield* workedOff(it.branch)
              // A branch with a child does not end, so nothing that makes a child races with its end.
              const { branch: child, sandbox, ...others } = it.creations
              const creations: ReadonlyArray<Effect.Effect<unknown, unknown>> =
                kind === "project" ? [child, sandbox, ...Object.values(others)] : Object.values(others)
              const [ended, ...made] = yield* race<unknown, unknown, never>([
                kind === "project" ? it.endProject : it.endBranch,
                (yield* Organizations).remove(owner),
                ...creations
              ])
              if (ended !== undefined && Result.isSuccess(ended)) outcomes[kind] += 1
              return [...strange([...(ended === undefined ? [] : [ended]), ...made]), ...(yield* orphans)]
            }),
          { count: 8, lanes: 1, outcomes }
        )
      }),
    patience
  )
})
