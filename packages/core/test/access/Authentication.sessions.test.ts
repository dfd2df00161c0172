/**
 * Authentication by a session's token: its lifetime, its user and its rights; and what a key's use records.
 * Holds docs/design/authorization.md Z16.
 */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Option, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { Membership } from "../../src/records/accounts/Membership.ts"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import { TokenSigner } from "../../src/records/sessions/TokenSigner.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { Authentication } from "../../src/services/access/Authentication.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { aUserId } from "../../testing/records.ts"
import { callerOf, People, sessionCallerOf, signIn, tagOf } from "../memory/core.ts"

/** Ada as a caller, with her first token. */
const ada = Effect.gen(function* () {
  const { access_token } = yield* signIn("ada")
  return { token: access_token, caller: yield* sessionCallerOf(access_token) }
})

const setRole = ({ org_id, user }: SessionCaller, role: string) =>
  Effect.flatMap(AccountStore, (accounts) =>
    accounts.putMembership(new Membership({ org_id, user_id: user.id, role, joined_at: DateTime.makeUnsafe(0) }))
  )

const aKey = (creator: SessionCaller) =>
  Effect.flatMap(ApiKeys, (keys) =>
    keys.create(creator, {
      name: "ci",
      capability: "read_write",
      scope: { type: "organization" },
      expires_in_days: null
    })
  )

describe("A session's token", () => {
  it.effect("a session token expires after fifteen minutes, and requires a new sign-in after twelve hours", () =>
    Effect.gen(function* () {
      const { token } = yield* ada
      yield* TestClock.adjust("899 seconds")
      yield* callerOf(token)
      yield* TestClock.adjust("1 second")
      assert.strictEqual(yield* tagOf(callerOf(token)), "TokenExpired")
      yield* TestClock.adjust("12 hours")
      assert.strictEqual(yield* tagOf(callerOf(token)), "SignInRequired")
    }).pipe(Effect.provide(People))
  )

  it.effect("a session token is refused after sign-out", () =>
    Effect.gen(function* () {
      const { caller, token } = yield* ada
      yield* (yield* Sessions).end(caller.user.id, caller.session_id)
      assert.strictEqual(yield* tagOf(callerOf(token)), "SignInRequired")
    }).pipe(Effect.provide(People))
  )

  it.effect("a session token of a disabled account is refused", () =>
    Effect.gen(function* () {
      const { caller, token } = yield* ada
      const accounts = yield* AccountStore
      yield* (yield* OperatorAccounts).disable(caller.user.id)
      assert.isDefined(Option.getOrThrow(yield* accounts.findUser(caller.user.id)).disabled_at)
      assert.include(["InvalidCredential", "SignInRequired"], yield* tagOf(callerOf(token)))
    }).pipe(Effect.provide(People))
  )

  it.effect("a session token whose subject is not its session's user is refused", () =>
    Effect.gen(function* () {
      const { token } = yield* ada
      const signer = yield* TokenSigner
      const claims = yield* signer.verify(token)
      yield* callerOf(yield* signer.sign(claims))
      assert.strictEqual(yield* tagOf(callerOf(yield* signer.sign({ ...claims, sub: aUserId() }))), "InvalidCredential")
    }).pipe(Effect.provide(People))
  )

  it.effect("a session token loses rights at once on demotion, and gains rights only at the next refresh", () =>
    Effect.gen(function* () {
      const { caller, token } = yield* ada
      yield* setRole(caller, "viewer")
      const demoted = yield* callerOf(token)
      assert.strictEqual(demoted.organization.role, "viewer")
      assert.isFalse(demoted.permissions.has("create_projects"))
      const { access_token } = yield* (yield* Sessions).refresh(token)
      yield* setRole(caller, "owner")
      const promoted = yield* callerOf(access_token)
      assert.strictEqual(promoted.organization.role, "viewer")
      assert.isFalse(promoted.permissions.has("create_projects"))
    }).pipe(Effect.provide(People))
  )
})

describe("A key's secret", () => {
  it.effect("authentication with a key records the time and the address of the use", () =>
    Effect.gen(function* () {
      const { caller } = yield* ada
      const { api_key, secret } = yield* aKey(caller)
      yield* (yield* Authentication).authenticate(secret, "203.0.113.9")
      const { key } = Option.getOrThrow(yield* (yield* ApiKeyStore).find(caller.org_id, api_key.id))
      assert.deepInclude({ ...key }, { last_used_at: yield* DateTime.now, last_used_from: "203.0.113.9" })
    }).pipe(Effect.provide(People))
  )

  it.effect("a rotated secret is refused from the end of its grace", () =>
    Effect.gen(function* () {
      const { caller } = yield* ada
      const { api_key, secret } = yield* aKey(caller)
      const row = Option.getOrThrow(yield* (yield* ApiKeyStore).find(caller.org_id, api_key.id))
      const rotated = yield* (yield* ApiKeys).rotate(caller, row, 60)
      yield* TestClock.adjust(59_999)
      yield* callerOf(secret)
      yield* TestClock.adjust(1)
      assert.strictEqual(yield* tagOf(callerOf(secret)), "InvalidCredential")
      yield* callerOf(rotated.secret)
    }).pipe(Effect.provide(People))
  )

  it.effect("a secret with a wrong checksum is refused without a lookup", () =>
    Effect.gen(function* () {
      const { caller } = yield* ada
      const { secret } = yield* aKey(caller)
      const text = Redacted.value(secret)
      const longer = Redacted.make(`${text} `)
      assert.strictEqual(yield* tagOf(callerOf(longer)), "InvalidCredential")
    }).pipe(Effect.provide(People))
  )
})
