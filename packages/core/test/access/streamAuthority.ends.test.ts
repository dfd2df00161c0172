/** Each fact that ends the authority of a live stream, even if the stream received no revocation. */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Layer, Option } from "effect"
import { TestClock } from "effect/testing"
import { AccessPolicy } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import { User } from "../../src/records/accounts/User.ts"
import { ProjectStore } from "../../src/records/projects/ProjectStore.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { layerStreamAuthority } from "../../src/services/access/streamAuthority.ts"
import type { StreamAccess } from "../../src/services/events/streams/StreamAccess.ts"
import { StreamAuthority } from "../../src/services/events/streams/StreamAuthority.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { aProject, aProjectId } from "../../testing/records.ts"
import { callerOf, People, signedIn } from "../memory/core.ts"

/** Accounts and their rights without background work, so that the clock can jump. */
const World = Layer.provideMerge(layerStreamAuthority, People)

const bySession = ({ org_id, session_id, user }: SessionCaller): StreamAccess => ({
  org_id,
  project_id: null,
  principal: { session_id, api_key_id: null, secret: null, user_id: user.id, project_id: null, branch_id: null }
})

const permits = (access: StreamAccess) => Effect.flatMap(StreamAuthority, (authority) => authority.permits(access))

/** Ada, with a session and a one-day key that may both subscribe. */
const ada = Effect.gen(function* () {
  const caller = yield* signedIn("ada")
  const wanted = { name: "ci", capability: "read", scope: { type: "organization" }, expires_in_days: 1 } as const
  const { api_key, secret } = yield* (yield* ApiKeys).create(caller, wanted)
  const key = yield* callerOf(secret)
  if (key.kind !== "api_key") return yield* Effect.die(new Error("A session is not a key."))
  const session = bySession(caller)
  const principal = { ...session.principal, session_id: null, api_key_id: api_key.id, secret: key.secret }
  const byKey: StreamAccess = { ...session, principal }
  assert.deepStrictEqual([yield* permits(session), yield* permits(byKey)], [true, true])
  return { api_key, byKey, caller, session }
})

const changeUser = ({ user }: SessionCaller, changes: Partial<User>) =>
  Effect.gen(function* () {
    const accounts = yield* AccountStore
    const stored = Option.getOrThrow(yield* accounts.findUser(user.id))
    yield* accounts.putUser(new User({ ...stored, ...changes }))
  })

describe("The end of a live stream's authority", () => {
  it.effect("a live stream loses its authority when its key is revoked", () =>
    Effect.gen(function* () {
      const { api_key, byKey, caller, session } = yield* ada
      yield* (yield* ApiKeys).revoke(caller, api_key.id)
      assert.deepStrictEqual([yield* permits(byKey), yield* permits(session)], [false, true])
    }).pipe(Effect.provide(World))
  )

  it.effect("a live stream loses its authority when its key expires or its sign-in window ends", () =>
    Effect.gen(function* () {
      const { byKey, session } = yield* ada
      yield* TestClock.adjust(43_200_000 - 1)
      assert.isTrue(yield* permits(session))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* permits(session))
      yield* TestClock.adjust(43_200_000 - 1)
      assert.isTrue(yield* permits(byKey))
      yield* TestClock.adjust(1)
      assert.isFalse(yield* permits(byKey))
    }).pipe(Effect.provide(World))
  )

  it.effect("a live stream loses its authority when its session ends", () =>
    Effect.gen(function* () {
      const { byKey, caller, session } = yield* ada
      yield* (yield* Sessions).end(caller.user.id, caller.session_id)
      assert.deepStrictEqual([yield* permits(byKey), yield* permits(session)], [true, false])
    }).pipe(Effect.provide(World))
  )

  it.effect("a live stream loses its authority when its account is disabled", () =>
    Effect.gen(function* () {
      const { byKey, caller, session } = yield* ada
      yield* changeUser(caller, { disabled_at: yield* DateTime.now })
      assert.deepStrictEqual([yield* permits(byKey), yield* permits(session)], [false, false])
    }).pipe(Effect.provide(World))
  )

  it.effect("a live stream has no authority while its account is pending", () => {
    const closed = { open_signup: false, sign_in_allowlist: [], invitations_bypass_gate: false }
    return Effect.gen(function* () {
      const caller = yield* Effect.provideService(signedIn("bob"), AccessPolicy, closed)
      const access = bySession(caller)
      assert.isFalse(yield* Effect.provideService(permits(access), AccessPolicy, closed))
      assert.isTrue(yield* permits(access))
    }).pipe(Effect.provide(World))
  })

  it.effect("a live stream loses its authority when the membership ends or the role may not read", () =>
    Effect.gen(function* () {
      const { byKey, caller } = yield* ada
      const accounts = yield* AccountStore
      const joined_at = yield* DateTime.now
      const role = "a role of a later version"
      yield* accounts.putMembership(new Membership({ org_id: caller.org_id, user_id: caller.user.id, role, joined_at }))
      assert.isFalse(yield* permits(byKey))
    }).pipe(Effect.provide(World))
  )

  it.effect("a live stream loses its authority when its project is deleted", () =>
    Effect.gen(function* () {
      const { byKey, caller } = yield* ada
      const project = aProject({ org_id: caller.org_id })
      yield* (yield* ProjectStore).insert(project)
      assert.isTrue(yield* permits({ ...byKey, project_id: project.id }))
      assert.isFalse(yield* permits({ ...byKey, project_id: aProjectId() }))
    }).pipe(Effect.provide(World))
  )
})
