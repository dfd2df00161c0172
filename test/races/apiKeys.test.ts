/** No key outlives what it depends on: the session that creates it, the membership, the project or branch. */
import { assert, layer } from "@effect/vitest"
import {
  AccountStore,
  ApiKeyStore,
  ApiKeys,
  Branches,
  changes,
  Membership,
  OperationRunner,
  type OperationStore,
  Organizations,
  Projects,
  type Scope,
  type SessionCaller,
  SessionStore,
  Sessions
} from "@narthex/core"
import { firstPage } from "@narthex/core/testing"
import { DateTime, Effect, Layer, Option, Random, Result } from "effect"
import { inOrder } from "./support/inOrder.ts"
import { patience, race, rounds } from "./support/rounds.ts"
import { workedOff } from "./support/workedOff.ts"
import { authenticate, exchange, signIn, world } from "./support/world.ts"

const wanted = (scope: Scope) => ({ name: "ci", capability: "read_write" as const, scope, expires_in_days: null })
const policy = changes("destroy", "change_projects", "branch")

type Making = Effect.Effect<unknown, { readonly _tag: string }>
type Ending = Effect.Effect<unknown, unknown>

/** The object that a key depends on: how it ends, how keys are made on it, and what is wrong with them afterwards. */
interface Ground {
  readonly end: Ending
  readonly make: ReadonlyArray<Making>
  readonly left: (
    made: number
  ) => Effect.Effect<ReadonlyArray<string>, unknown, ApiKeyStore | OperationRunner | OperationStore | SessionStore>
  /** How a key is refused afterwards. */
  readonly refusal: string
}

const counted = (owner: SessionCaller) =>
  Effect.gen(function* () {
    const store = yield* ApiKeyStore
    const left = yield* store.countLive(owner.org_id, owner.user.id, yield* DateTime.now)
    return left === 0 ? [] : [`${left} keys outlived what they stood on`]
  })

/** A session that is ended by its token or by its id. Keys that it made before are kept. */
const sessionOf = (email: string, way: "logout" | "end") =>
  Effect.gen(function* () {
    const keys = yield* ApiKeys
    const sessions = yield* Sessions
    const { access_token } = yield* exchange(email)
    const caller = yield* authenticate(access_token)
    if (caller.kind !== "session") return yield* Effect.die(new Error("A session was expected."))
    const make = keys.create(caller, wanted({ type: "organization" }))
    const left: Ground["left"] = Effect.fnUntraced(function* (made) {
      const session = Option.getOrUndefined(yield* (yield* SessionStore).lock(caller.session_id))
      const revoked = session?.revoked_at ?? null
      if (revoked === null) return ["the session did not end"]
      const { items: listed } = yield* keys.list(caller, firstPage)
      const late = listed.filter((key) => DateTime.isGreaterThan(key.created_at, revoked))
      return [
        ...(listed.length === made ? [] : [`${made} were made, and ${listed.length} are listed`]),
        ...late.map(() => "a key was made after the session had ended")
      ]
    })
    const end: Ending =
      way === "logout" ? sessions.logout(access_token) : sessions.end(caller.user.id, caller.session_id)
    const ground: Ground = { end, make: [make, make, make], left, refusal: "SignInRequired" }
    return ground
  })

/** A member of a team, whose membership its owner ends. */
const memberOf = (email: string, boss: SessionCaller) =>
  Effect.gen(function* () {
    const organizations = yield* Organizations
    const person = { ...(yield* signIn(email)), org_id: boss.org_id }
    const joined_at = yield* DateTime.now
    const row = { org_id: boss.org_id, user_id: person.user.id, role: "member", joined_at }
    yield* (yield* AccountStore).putMembership(new Membership(row))
    const make = (yield* ApiKeys).create(person, wanted({ type: "organization" }))
    const end = organizations.removeMember(boss, person.user.id, { confirmed: false, hand_over_credentials: false })
    const ground: Ground = { end, make: [make, make, make], left: () => counted(person), refusal: "Refused" }
    return ground
  })

const bossOf = (email: string) =>
  Effect.gen(function* () {
    const owner = yield* signIn(email)
    const team = yield* (yield* Organizations).create(owner, "team")
    const organization = { ...owner.organization, id: team.id, personal: false, role: "owner" }
    return { ...owner, org_id: team.id, organization }
  })

/** A project with a branch; either the project or only the branch ends. */
const projectOf = (email: string, ending: "project" | "branch") =>
  Effect.gen(function* () {
    const branches = yield* Branches
    const projects = yield* Projects
    const keys = yield* ApiKeys
    const owner = yield* signIn(email)
    const { branch: home, project } = yield* projects.create(owner, { name: "p", region: null })
    yield* workedOff(home)
    const child = { name: null, parent_id: null, protected: false, ttl_seconds: null, endpoint: false }
    const { branch } = yield* branches.create(owner, project, child)
    yield* workedOff(branch)
    const inProject = keys.create(owner, wanted({ type: "project", project_id: project.id }))
    const inBranch = keys.create(owner, wanted({ type: "branch", project_id: project.id, branch_id: branch.id }))
    const whole = ending === "project"
    const end: Ending = whole ? projects.remove(owner, project) : branches.remove(owner, policy, branch)
    const ended = Effect.forEach(whole ? [home, branch] : [branch], workedOff)
    const ground: Ground = {
      end,
      make: whole ? [inProject, inBranch, inProject] : [inBranch, inBranch, inBranch],
      left: () => Effect.tap(counted(owner), ended),
      refusal: "InvalidMember"
    }
    return ground
  })

const grounds = {
  "the session that asked for it, when it signs out": (name: string) => sessionOf(`${name}-out@example.com`, "logout"),
  "the session that asked for it, when it is ended": (name: string) => sessionOf(`${name}-ended@example.com`, "end"),
  "the membership": (name: string) =>
    Effect.flatMap(bossOf(`${name}-boss@example.com`), (boss) => memberOf(`${name}-member@example.com`, boss)),
  "its project": (name: string) => projectOf(`${name}-project@example.com`, "project"),
  "its branch": (name: string) => projectOf(`${name}-branch@example.com`, "branch")
}

layer(OperationRunner.layerManual.pipe(Layer.provideMerge(world)), { excludeTestServices: true })("a new key", (it) => {
  for (const [what, ground] of Object.entries(grounds)) {
    it.effect(`a new key is refused when its creation waited for the end of ${what}`, () =>
      Effect.gen(function* () {
        const { end, left, make, refusal } = yield* ground("after")
        const { first, others } = yield* inOrder(end, make)
        assert.isTrue(Result.isSuccess(first), "it ends")
        assert.deepStrictEqual(
          others.map((it) => (Result.isSuccess(it) ? "a key" : it.failure._tag)),
          make.map(() => refusal)
        )
        assert.deepStrictEqual(yield* left(0), [])
      })
    )

    it.effect(`a key made just before the end of ${what} is older, and ends with it where it must`, () =>
      Effect.gen(function* () {
        // Each kind of key that is made on this ground.
        for (const at of [0, 1]) {
          const { end, left, make } = yield* ground(`before-${at}`)
          const { first, others } = yield* inOrder(make[at] ?? assert.fail("no such key"), [end])
          assert.isTrue(Result.isSuccess(first), "it is made")
          assert.isTrue(others.every(Result.isSuccess), "its ground ends")
          assert.deepStrictEqual(yield* left(1), [])
        }
      })
    )
  }

  /** Rounds on a ground; what was made and what was refused is counted. */
  const free = <E, R>(name: string, groundOf: (n: number, lane: number) => Effect.Effect<Ground, E, R>, count = 12) => {
    const outcomes = { made: 0, refused: 0 }
    return rounds(
      name,
      (n, lane) =>
        Effect.gen(function* () {
          const { end, left, make } = yield* groundOf(n, lane)
          const [ended, ...makers] = yield* race<unknown, unknown, never>([end, ...make])
          const made = makers.filter(Result.isSuccess).length
          outcomes.made += made
          outcomes.refused += makers.length - made
          return [...(ended !== undefined && Result.isSuccess(ended) ? [] : ["it did not end"]), ...(yield* left(made))]
        }),
      { count, outcomes }
    )
  }

  it.effect(
    "a new key is never younger than the end of the session that created it",
    () =>
      free("key and the end of its session", (n) =>
        Effect.flatMap(Random.nextBoolean, (out) => sessionOf(`maker-${n}@example.com`, out ? "logout" : "end"))
      ),
    patience
  )

  it.effect(
    "a new key does not outlive a membership that ends at the same moment",
    () =>
      Effect.flatMap(bossOf("boss-of-keys@example.com"), (boss) =>
        free("key and the removal of its member", (_, lane) => memberOf(`member-of-keys-${lane}@example.com`, boss))
      ),
    patience
  )

  it.effect(
    "a new key does not outlive a branch or a project that ends at the same moment",
    () =>
      free(
        "key and the end of its scope",
        (_, lane) =>
          Effect.flatMap(Random.nextBoolean, (whole) =>
            projectOf(`scopes-${lane}@example.com`, whole ? "project" : "branch")
          ),
        9
      ),
    patience
  )
})
