import { assert, describe, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { sha256 } from "../../src/Digest.ts"
import { AccessPolicy } from "../../src/records/accounts/AccessPolicy.ts"
import { AccountStore } from "../../src/records/accounts/AccountStore.ts"
import { CliGrantStore } from "../../src/records/cli-login/CliGrantStore.ts"
import type { SessionCaller } from "../../src/rules/authorization/Principal.ts"
import { CliLogin } from "../../src/services/cli-login/CliLogin.ts"
import { ApiKeys, KeyLimit } from "../../src/services/keys/ApiKeys.ts"
import { OperatorAccounts } from "../../src/services/organizations/OperatorAccounts.ts"
import { Sessions } from "../../src/services/sign-in/Sessions.ts"
import { firstPage } from "../../testing/records.ts"
import { callerOf, People, sessionCallerOf, signedIn, signIn, tagOf } from "../memory/core.ts"

const redirect_uri = "http://127.0.0.1:43210/callback"
const verifier = Redacted.make("v".repeat(43))

const authorize = Effect.fnUntraced(function* (caller: SessionCaller, state = "s".repeat(22)) {
  const login = yield* CliLogin
  return yield* login.authorize(caller, {
    name: " laptop ",
    capability: "read_write",
    scope: { type: "organization" },
    expires_in_days: 90,
    redirect_uri,
    state,
    code_challenge: yield* sha256(Redacted.value(verifier))
  })
})

const exchange = (code: Redacted.Redacted, rest: { code_verifier?: Redacted.Redacted; redirect_uri?: string } = {}) =>
  Effect.flatMap(CliLogin, (login) => login.exchange({ code, code_verifier: verifier, redirect_uri, ...rest }))

const keyCount = (of: SessionCaller) =>
  Effect.flatMap(ApiKeys, (keys) => Effect.map(keys.list(of, firstPage), ({ items }) => items.length))

describe("A login of the command line", () => {
  it.effect("an exchange creates the authorized key for the user who authorized it", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { code, expires_at } = yield* authorize(ada)
      assert.strictEqual(expires_at.epochMilliseconds, 60_000)
      assert.match(Redacted.value(code), /^[\w-]{43}$/)
      const { api_key, secret } = yield* exchange(code)
      assert.deepInclude({ ...api_key }, { name: "laptop", capability: "read_write" })
      assert.strictEqual(api_key.expires_at?.epochMilliseconds, 90 * 86_400_000)
      assert.strictEqual((yield* callerOf(secret)).user.id, ada.user.id)
    }).pipe(Effect.provide(People))
  )

  it.effect("two hundred simultaneous exchanges of a code create one key", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { code } = yield* authorize(ada)
      const attempts = yield* Effect.forEach(Array.from({ length: 200 }), () => Effect.exit(exchange(code)), {
        concurrency: "unbounded"
      })
      assert.strictEqual(attempts.filter(({ _tag }) => _tag === "Success").length, 1)
      assert.strictEqual(yield* keyCount(ada), 1)
    }).pipe(Effect.provide(People))
  )

  it.effect("a second exchange of a code is refused and keeps the key of the first", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { code } = yield* authorize(ada)
      const { secret } = yield* exchange(code)
      assert.strictEqual(yield* tagOf(exchange(code)), "InvalidCode")
      assert.strictEqual(yield* tagOf(exchange(code, { code_verifier: Redacted.make("wrong") })), "InvalidCode")
      yield* callerOf(secret)
      assert.strictEqual(yield* keyCount(ada), 1)
    }).pipe(Effect.provide(People))
  )

  it.effect("a code is valid after four wrong verifiers and void after the fifth", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      for (const wrong of [4, 5]) {
        const { code } = yield* authorize(ada, `state with ${wrong} wrong`.padEnd(22, "x"))
        for (let n = 0; n < wrong; n++)
          assert.strictEqual(
            yield* tagOf(exchange(code, { code_verifier: Redacted.make(`wrong ${n}`) })),
            "InvalidCode"
          )
        if (wrong === 4) yield* exchange(code)
        else assert.strictEqual(yield* tagOf(exchange(code)), "InvalidCode")
      }
    }).pipe(Effect.provide(People))
  )

  it.effect("five simultaneous wrong verifiers void a code", () =>
    Effect.gen(function* () {
      const { code } = yield* authorize(yield* signedIn("ada"))
      const wrong = Redacted.make("wrong")
      yield* Effect.forEach(Array.from({ length: 5 }), () => Effect.exit(exchange(code, { code_verifier: wrong })), {
        concurrency: "unbounded"
      })
      assert.strictEqual(yield* tagOf(exchange(code)), "InvalidCode")
    }).pipe(Effect.provide(People))
  )

  it.effect("a code is bound to its exact redirect URI", () =>
    Effect.gen(function* () {
      const { code } = yield* authorize(yield* signedIn("ada"))
      for (const other of ["http://127.0.0.1:43211/callback", `${redirect_uri}/`, "http://[::1]:43210/callback", ""])
        assert.strictEqual(yield* tagOf(exchange(code, { redirect_uri: other })), "InvalidCode")
      yield* exchange(code)
    }).pipe(Effect.provide(People))
  )

  it.effect("a code is valid for 60 seconds, exclusive", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const { code } = yield* authorize(ada)
      yield* TestClock.adjust(59_999)
      yield* exchange(code)
      const late = yield* authorize(ada, "t".repeat(22))
      yield* TestClock.adjust("60 seconds")
      assert.strictEqual(yield* tagOf(exchange(late.code)), "InvalidCode")
    }).pipe(Effect.provide(People))
  )

  it.effect("missing, unknown and mismatched codes fail alike", () =>
    Effect.gen(function* () {
      const { code } = yield* authorize(yield* signedIn("ada"))
      const errors = yield* Effect.forEach(
        [exchange(Redacted.make("")), exchange(Redacted.make("unknown")), exchange(code, { redirect_uri: "x" })],
        Effect.flip
      )
      for (const error of errors) assert.deepStrictEqual(error, errors[0])
    }).pipe(Effect.provide(People))
  )

  it.effect("a state is authorized once, also simultaneously, and neither state nor code is stored in plain text", () =>
    Effect.gen(function* () {
      const ada = yield* signedIn("ada")
      const state = "a state that is used twice"
      const attempts = yield* Effect.forEach([1, 2], () => Effect.result(authorize(ada, state)), {
        concurrency: "unbounded"
      })
      assert.deepStrictEqual(attempts.map(({ _tag }) => _tag).toSorted(), ["Failure", "Success"])
      assert.strictEqual(yield* tagOf(authorize(ada, state)), "Conflict")
      for (const made of attempts) {
        if (made._tag === "Failure") continue
        const code = Redacted.value(made.success.code)
        const grants = yield* CliGrantStore
        const stored = JSON.stringify(yield* grants.find(yield* sha256(code)))
        assert.notInclude(stored, code)
        assert.notInclude(stored, state)
      }
    }).pipe(Effect.provide(People))
  )

  it.effect("a redirect URI that is not a loopback address is refused", () =>
    Effect.gen(function* () {
      const login = yield* CliLogin
      const refused = login.authorize(yield* signedIn("ada"), {
        name: "laptop",
        capability: "read",
        scope: { type: "organization" },
        expires_in_days: null,
        redirect_uri: "https://evil.example/callback",
        state: "s".repeat(22),
        code_challenge: "c".repeat(43)
      })
      assert.strictEqual(yield* tagOf(refused), "InvalidMember")
    }).pipe(Effect.provide(People))
  )
})

describe("Between Authorize and the exchange", () => {
  const closed = { open_signup: false, sign_in_allowlist: [], invitations_bypass_gate: false }

  it.effect("an exchange is refused if the user lost the right to a key since authorizing it", () =>
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const operator = yield* OperatorAccounts
      const sessions = yield* Sessions
      const changes = {
        "signed out": (_: SessionCaller, token: Redacted.Redacted) => sessions.logout(token),
        disabled: ({ user }: SessionCaller) => operator.disable(user.id),
        removed: ({ org_id, user }: SessionCaller) => accounts.removeMembership(org_id, user.id)
      }
      for (const [change, apply] of Object.entries(changes)) {
        const { access_token } = yield* signIn(change)
        const caller = yield* sessionCallerOf(access_token)
        const { code } = yield* authorize(caller, change.padEnd(22, "x"))
        yield* apply(caller, access_token)
        assert.strictEqual(yield* tagOf(exchange(code)), "InvalidCode", change)
        assert.strictEqual(yield* keyCount(caller), 0, change)
      }
    }).pipe(Effect.provide(People))
  )

  it.effect("an exchange is refused while the account is pending, and succeeds once it is enabled", () =>
    Effect.gen(function* () {
      const operator = yield* OperatorAccounts
      const ada = yield* signedIn("ada").pipe(Effect.provideService(AccessPolicy, closed))
      const { code } = yield* authorize(ada)
      const gated = exchange(code).pipe(Effect.provideService(AccessPolicy, closed))
      assert.strictEqual(yield* tagOf(gated), "InvalidCode")
      yield* operator.enable(ada.user.id)
      yield* gated
    }).pipe(Effect.provide(People))
  )

  it.effect("an exchange over the key limit is refused and does not consume the code", () =>
    Effect.gen(function* () {
      const { code } = yield* authorize(yield* signedIn("ada"))
      assert.strictEqual(yield* tagOf(exchange(code).pipe(Effect.provideService(KeyLimit, 0))), "Conflict")
      yield* exchange(code)
    }).pipe(Effect.provide(People))
  )
})
