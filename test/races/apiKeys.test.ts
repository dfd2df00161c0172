/** A key is not made beside the end of what it stands on. */
import { layer } from "@effect/vitest"
import {
  AccountStore,
  ApiKeys,
  ApiKeyStore,
  Branches,
  changes,
  Membership,
  OperationRunner,
  Organizations,
  Projects,
  type Scope,
  type SessionCaller,
  Sessions,
  SessionStore
} from "@narthex/core"
import { DateTime, Effect, Layer, Option, Random, Result } from "effect"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { authenticate, exchange, signIn, world } from "./support/world.ts"

const wanted = (scope: Scope) => ({ name: "ci", capability: "read_write" as const, scope, expires_in_days: null })
const policy = changes("destroy", "change_projects", "branch")
const everything = { type: "organization" } as const

layer(OperationRunner.layerManual.pipe(Layer.provideMerge(world)), { excludeTestServices: true })("a new key", (it) => {
  it.effect(
    "is never younger than the end of the session that asked for it",
    () =>
      Effect.gen(function* () {
        const keys = yield* ApiKeys
        const sessions = yield* Sessions
        const store = yield* SessionStore
        const outcome = { made: 0, refused: 0 }
        yield* rounds("key beside the end of its session", (n) =>
          Effect.gen(function* () {
            const { access_token } = yield* exchange(`maker-${n}@example.com`)
            const caller = yield* authenticate(access_token)
            if (caller.kind !== "session") return ["a session is no session"]
            const end: Effect.Effect<void, unknown> = (yield* Random.nextBoolean)
              ? sessions.logout(access_token)
              : sessions.end(caller.user.id, caller.session_id)
            const make = Effect.map(keys.create(caller, wanted(everything)), ({ api_key }) => api_key)
            const [ended, ...outcomes] = yield* race<unknown, unknown, never>([end, make, make, make])
            const refused = outcomes.flatMap((it) => (Result.isFailure(it) ? [it.failure] : []))
            outcome.refused += refused.length
            outcome.made += outcomes.length - refused.length
            const session = Option.getOrUndefined(yield* store.lock(caller.session_id))
            const revoked = session?.revoked_at ?? null
            const made = yield* keys.list(caller)
            const late = made.filter((key) => revoked !== null && DateTime.isGreaterThan(key.created_at, revoked))
            return [
              ...(ended !== undefined && Result.isSuccess(ended) && revoked !== null ? [] : ["it did not end"]),
              ...(made.length + refused.length === 3 ? [] : [`${made.length} made, ${refused.length} refused`]),
              ...late.map(() => "a key was made after the session had ended")
            ]
          })
        )
        if (outcome.made === 0 || outcome.refused === 0) throw new Error(`No race: ${JSON.stringify(outcome)}`)
      }),
    patience
  )

  it.effect(
    "does not outlive the membership that was ended beside it",
    () =>
      Effect.gen(function* () {
        const accounts = yield* AccountStore
        const keys = yield* ApiKeys
        const organizations = yield* Organizations
        const store = yield* ApiKeyStore
        const owner = yield* signIn("boss-of-keys@example.com")
        const team = yield* organizations.create(owner, "team")
        const boss: SessionCaller = {
          ...owner,
          org_id: team.id,
          organization: { ...owner.organization, id: team.id, personal: false, role: "owner" }
        }
        yield* rounds("key beside a removal", (_, lane) =>
          Effect.gen(function* () {
            const person = yield* signIn(`member-of-keys-${lane}@example.com`)
            const now = yield* DateTime.now
            const row = { org_id: team.id, user_id: person.user.id, role: "member", joined_at: now }
            yield* accounts.putMembership(new Membership(row))
            const make = keys.create({ ...person, org_id: team.id }, wanted(everything))
            const remove = organizations.removeMember(boss, person.user.id, false)
            const [removed] = yield* race<unknown, unknown, never>([remove, make, make, make])
            const left = yield* store.countLive(team.id, person.user.id, yield* DateTime.now)
            return [
              ...(removed !== undefined && Result.isSuccess(removed) ? [] : ["it could not be removed"]),
              ...(left === 0 ? [] : [`${left} keys of nobody`])
            ]
          })
        )
      }),
    patience
  )

  it.effect(
    "does not outlive the branch or the project that ended beside it",
    () =>
      Effect.gen(function* () {
        const branches = yield* Branches
        const keys = yield* ApiKeys
        const projects = yield* Projects
        const store = yield* ApiKeyStore
        yield* rounds("key beside the end of its scope", (n, lane) =>
          Effect.gen(function* () {
            const owner = yield* signIn(`scopes-${lane}@example.com`)
            const { branch: home, project } = yield* projects.create(owner, { name: `p${n}`, region: null })
            yield* workedOff(home)
            const child = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }
            const { branch } = yield* branches.create(owner, project, child)
            yield* workedOff(branch)
            const inProject = { type: "project", project_id: project.id } as const
            const inBranch = { type: "branch", project_id: project.id, branch_id: branch.id } as const
            const whole = yield* Random.nextBoolean
            const end: Effect.Effect<unknown, unknown> = whole
              ? projects.remove(owner, project)
              : branches.remove(owner, policy, branch)
            const scopes = whole ? [inProject, inBranch, inProject] : [inBranch, inBranch, inBranch]
            const makers: ReadonlyArray<Effect.Effect<unknown, unknown>> = scopes.map((scope) =>
              keys.create(owner, wanted(scope))
            )
            const [ended] = yield* race<unknown, unknown, never>([end, ...makers])
            const left = yield* store.countLive(owner.org_id, owner.user.id, yield* DateTime.now)
            yield* Effect.forEach(whole ? [home, branch] : [branch], workedOff)
            return [
              ...(ended !== undefined && Result.isSuccess(ended) ? [] : ["it did not end"]),
              ...(left === 0 ? [] : [`${left} keys of what is gone`])
            ]
          })
        )
      }),
    patience
  )
})
