/**
 * Sessions against a model: random commands in any order, at any time. After each command, every token ever issued must
 * give exactly the result that the model predicts.
 *
 * The model is the specification's state machine, written without a store: a session is its sign-in time, its active
 * organization, a generation and whether it ended. Sequences are numbered and a number always yields the same one; a
 * failure names it.
 */
import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Duration, Effect, Layer, type Redacted } from "effect"
import { TestClock } from "effect/testing"
import { times } from "../../../../test/harness/long.ts"
import { OrgId, type SessionId, type UserId } from "../../src/Ids.ts"
import { AccessPolicy } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import { Organization } from "../../src/records/accounts/Organization.ts"
import { type SessionClaims, SessionPolicy, type SessionSettings } from "../../src/records/sessions/Session.ts"
import { TokenSigner } from "../../src/records/sessions/TokenSigner.ts"
import { permissionsOf } from "../../src/rules/authorization/Permission.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { callerOf, device, idTokenOf, People, sessionCallerOf } from "../memory/core.ts"

const sequences = times(60, 3_000)
const commandsEach = 25
const [minute, hour] = [60_000, 3_600_000]
const team = OrgId.make("0198f3d2-7c1a-7b44-9c55-2f1e6a0b7d10")

/** Numbers from a seed: mulberry32. */
const randomFrom = (seed: number) => {
  let state = seed >>> 0
  return (below: number) => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return Math.floor((((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32) * below)
  }
}

interface ModelSession {
  readonly signedInAt: number
  readonly idToken: string
  org: string
  gen: number
  refreshedAt: number
  ended: boolean
}

interface ModelToken {
  readonly text: Redacted.Redacted
  readonly claims: SessionClaims
  readonly session: ModelSession
}

const run = Effect.fnUntraced(function* (seed: number) {
  const next = randomFrom(seed)
  const pick = <A>(of: ReadonlyArray<A>): A | undefined => of[next(of.length)]
  const settings: SessionSettings = {
    jwt_lifetime: Duration.minutes(15),
    window: Duration.hours(12),
    reuse: pick(["observe", "grace60", "revoke"] as const) ?? "observe",
    id_token_replay: pick(["allow", "reject"] as const) ?? "allow"
  }
  const accounts = yield* AccountStore
  const operator = yield* OperatorAccounts
  const service = yield* Sessions
  const signer = yield* TokenSigner

  // The model's state.
  const tokens: Array<ModelToken> = []
  const sessions = new Map<SessionId, ModelSession>()
  const spent = new Set<string>()
  const used = new Map<string, number>()
  let user: UserId | undefined
  let personal = ""
  let disabled = false
  let listed = true
  let teamRole: string | null = null
  let now = (yield* DateTime.now).epochMilliseconds

  yield* accounts.putOrganization(
    new Organization({
      id: team,
      name: "Team",
      personal: false,
      created_at: DateTime.makeUnsafe(now),
      updated_at: DateTime.makeUnsafe(now)
    })
  )

  const tagOf = <A, E extends { readonly _tag: string }, R>(effect: Effect.Effect<A, E, R>) =>
    Effect.match(
      effect.pipe(
        Effect.provideService(SessionPolicy, settings),
        Effect.provideService(AccessPolicy, {
          open_signup: true,
          sign_in_allowlist: listed ? [] : ["@elsewhere.example"],
          invitations_bypass_gate: false
        })
      ),
      {
        onFailure: (error) => ({ tag: error._tag, value: undefined }),
        onSuccess: (value) => ({ tag: "ok", value })
      }
    )

  const overAt = (session: ModelSession) => session.ended || now >= session.signedInAt + 12 * hour
  const end = (session: ModelSession) => {
    session.ended = true
    spent.add(session.idToken)
  }
  const member = (org: string) => org === personal || teamRole !== null
  const roleIn = (org: string) => (org === personal ? "owner" : (teamRole ?? ""))

  /** Records a token just issued for a session of the model. */
  const issued = Effect.fnUntraced(function* (text: Redacted.Redacted, session: ModelSession) {
    const claims = yield* signer.verify(text)
    assert.strictEqual(claims.org_id as string, session.org)
    assert.strictEqual(claims.gen, session.gen)
    assert.strictEqual(claims.role, roleIn(session.org))
    assert.strictEqual(claims.auth_time, Math.floor(session.signedInAt / 1000))
    assert.strictEqual(claims.exp, Math.floor(Math.min(now + 15 * minute, session.signedInAt + 12 * hour) / 1000))
    tokens.push({ text, claims, session })
    return claims
  })

  const exchange = Effect.fnUntraced(function* () {
    const name = `token ${next(4)} of ${seed}`
    const token = yield* idTokenOf({ subject: "ada", token: name })
    const { tag, value } = yield* tagOf(service.exchange(token, device))
    const replayed = used.has(name) && settings.id_token_replay === "reject"
    const expected = !listed ? "EmailNotAllowed" : disabled || spent.has(name) || replayed ? "InvalidIdToken" : "ok"
    assert.strictEqual(tag, expected, "exchange")
    if (value === undefined) return
    used.set(name, now)
    user = value.user.id
    if (personal === "") personal = value.organization.id
    const session = { signedInAt: now, idToken: name, org: personal, gen: 1, refreshedAt: now, ended: false }
    sessions.set((yield* issued(value.access_token, session)).sid, session)
  })

  const refresh = Effect.fnUntraced(function* ({ claims, session, text }: ModelToken) {
    const { tag, value } = yield* tagOf(service.refresh(text))
    const superseded = claims.gen !== session.gen
    const reused =
      superseded &&
      (settings.reuse === "revoke" || (settings.reuse === "grace60" && now - session.refreshedAt > minute))
    const expected = overAt(session)
      ? "SignInRequired"
      : disabled
        ? "InvalidCredential"
        : !listed
          ? "EmailNotAllowed"
          : reused
            ? "SignInRequired"
            : "ok"
    assert.strictEqual(tag, expected, "refresh")
    if (!overAt(session) && !disabled && (!listed || reused)) end(session)
    if (value === undefined) return
    session.gen++
    session.refreshedAt = now
    if (!member(session.org)) session.org = personal
    yield* issued(value.access_token, session)
  })

  const switchOrg = Effect.fnUntraced(function* ({ session, text }: ModelToken) {
    const caller = yield* tagOf(sessionCallerOf(text))
    if (caller.value === undefined) return
    const target = pick([personal, team, "0198f3d2-0000-7000-8000-000000000000"]) ?? personal
    const { tag, value } = yield* tagOf(service.switchOrg(caller.value, target))
    const allowed = target === personal || (target === team && teamRole !== null)
    assert.strictEqual(tag, allowed ? "ok" : "NotAMember", "switch")
    if (value === undefined) return
    Object.assign(session, { org: target, gen: session.gen + 1, refreshedAt: now })
    yield* issued(value.access_token, session)
  })

  const logout = Effect.fnUntraced(function* ({ session, text }: ModelToken) {
    const { tag } = yield* tagOf(service.logout(text))
    assert.strictEqual(tag, overAt(session) ? "SignInRequired" : disabled ? "InvalidCredential" : "ok", "logout")
    if (tag === "ok") end(session)
  })

  const endById = Effect.fnUntraced(function* ({ claims, session }: ModelToken) {
    const { tag } = yield* tagOf(service.end(claims.sub, claims.sid))
    assert.strictEqual(tag, session.ended ? "NotFound" : "ok", "end")
    if (tag === "ok") end(session)
  })

  const changeRole = Effect.fnUntraced(function* () {
    if (user === undefined) return
    teamRole = pick([null, "viewer", "member", "admin", "owner"]) ?? null
    yield* teamRole === null
      ? accounts.removeMembership(team, user)
      : accounts.putMembership(
          new Membership({ org_id: team, user_id: user, role: teamRole, joined_at: DateTime.makeUnsafe(now) })
        )
  })

  const disable = Effect.fnUntraced(function* () {
    if (user === undefined) return
    disabled = !disabled
    yield* disabled ? operator.disable(user) : operator.enable(user)
  })

  const wait = Effect.fnUntraced(function* () {
    now += pick([1, 999, 30_000, minute + 1, 14 * minute, 15 * minute, hour, 5 * hour]) ?? 1
    yield* TestClock.setTime(now)
  })

  const onToken = (command: (token: ModelToken) => Effect.Effect<void, unknown, Layer.Success<typeof People>>) =>
    Effect.suspend(() => {
      const token = next(3) === 0 ? pick(tokens) : tokens.at(-1)
      return token === undefined ? Effect.void : command(token)
    })

  /** Asserts that every token gives the result that the model predicts. */
  const judge = Effect.gen(function* () {
    for (const { claims, session, text } of tokens) {
      const { tag, value } = yield* tagOf(callerOf(text))
      const expected = disabled
        ? "InvalidCredential"
        : overAt(session)
          ? "SignInRequired"
          : now >= claims.exp * 1000
            ? "TokenExpired"
            : "ok"
      assert.strictEqual(tag, expected, "authenticate")
      if (value === undefined) continue
      const stored = permissionsOf(roleIn(claims.org_id))
      const both = [...permissionsOf(claims.role)].filter((permission) => stored.has(permission))
      assert.sameMembers([...value.permissions], member(claims.org_id) ? both : [])
      assert.strictEqual(value.organization.role === null, !member(claims.org_id))
    }
    if (user === undefined) return
    const living = [...sessions].filter(([, session]) => !overAt(session)).map(([id]) => id)
    assert.sameMembers(
      (yield* service.list(user)).map(({ id }) => id),
      living
    )
  })

  const commands = [
    ...Array.from({ length: 3 }, () => exchange()),
    ...Array.from({ length: 6 }, () => onToken(refresh)),
    ...Array.from({ length: 3 }, () => onToken(switchOrg)),
    onToken(logout),
    onToken(endById),
    changeRole(),
    changeRole(),
    disable(),
    Effect.sync(() => {
      listed = next(4) !== 0
    }),
    ...Array.from({ length: 5 }, () => wait())
  ]
  yield* exchange()
  for (let step = 0; step < commandsEach; step++) {
    yield* pick(commands) ?? Effect.void
    yield* judge
  }
  return tokens.length
})

describe("Sessions, in any order of commands", () => {
  it.effect(
    `sessions behave as the model in ${sequences} random sequences`,
    () =>
      Effect.gen(function* () {
        let issued = 0
        for (let sequence = 1; sequence <= sequences; sequence++)
          issued += yield* run(sequence).pipe(
            Effect.provide(Layer.fresh(People)),
            Effect.scoped,
            Effect.catchCause((cause) =>
              Effect.die(new Error(`Sequence ${sequence}: ${Cause.pretty(cause)}`, { cause: Cause.squash(cause) }))
            )
          )
        assert.isAbove(issued, sequences * 3, "the sequences issue tokens")
      }),
    3_600_000
  )
})
