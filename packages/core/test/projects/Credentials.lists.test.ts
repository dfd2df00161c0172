/** How long database credentials may live, and who sees them (docs/design/authorization.md Z39 to Z41). */
import { assert, describe, it } from "@effect/vitest"
import { DateTime, Duration, Effect, Result } from "effect"
import { TestClock } from "effect/testing"
import { decodeCursor } from "../../src/Page.ts"
import { Branch } from "../../src/records/projects/Branch.ts"
import { BranchStore } from "../../src/records/projects/BranchStore.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { Branches } from "../../src/services/projects/Branches.ts"
import { Credentials } from "../../src/services/projects/Credentials.ts"
import { Sandboxes } from "../../src/services/projects/Sandboxes.ts"
import { Core, callerOf, keyCallerOf, settle, tagOf } from "../memory/core.ts"
import { mint, minted, roleOf, type Setting, setting } from "./team.ts"

describe("The lifetime of a credential", () => {
  it.effect("an agent's credential lives a day at most on main and on branches that people made", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const day = 86_400
      const onMain = { child: at.main, project: at.project }
      for (const where of [at, onMain]) {
        const refused = yield* Effect.flip(mint(where, at.agent, "read_only", day + 1))
        assert.deepInclude(refused, { _tag: "InvalidMember", path: ["ttl_seconds"] })
        const { created_at, expires_at } = yield* mint(where, at.agent, "read_only", day)
        assert.strictEqual((expires_at?.epochMilliseconds ?? 0) - created_at.epochMilliseconds, day * 1000)
      }
      assert.isNotNull((yield* mint(at, at.bob, "read_only", day + 1)).expires_at, "a person may ask for more")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an agent's credential on a branch that its key made lives as long as the branch", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const sandbox = { name: null, parent_id: null, ttl_seconds: 7200 }
      const made = yield* (yield* Sandboxes).create(at.agent, at.project, sandbox)
      assert.deepStrictEqual(made.credential.expires_at, made.branch.expires_at)
      yield* settle
      yield* TestClock.adjust("30 minutes")
      const there = { child: made.branch, project: at.project }
      const refused = yield* Effect.flip(mint(there, at.agent, "read_write", 5401))
      assert.deepInclude(refused, { _tag: "InvalidMember", path: ["ttl_seconds"] })
      assert.include(String(refused), "5400 seconds")
      assert.deepStrictEqual((yield* mint(there, at.agent, "read_write", 5400)).expires_at, made.branch.expires_at)
      yield* TestClock.adjust("70 minutes")
      assert.deepStrictEqual((yield* mint(there, at.agent)).expires_at, made.branch.expires_at, "less than the default")
    }).pipe(Effect.provide(Core))
  )

  it.effect("an agent's credential lives a day at most where its key did not make the branch", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const wanted = { name: null, parent_id: null, protected: false, ttl_seconds: 30 * 86_400, endpoint: true }
      const { branch } = yield* (yield* Branches).create(at.agent, at.project, wanted)
      yield* settle
      const there = { child: branch, project: at.project }
      const [week, other] = [7 * 86_400, yield* keyCallerOf(at.bob, "agent")]
      const refused = (caller: AnyCaller) =>
        Effect.map(Effect.flip(mint(there, caller, "read_write", week)), (refusal) =>
          assert.deepInclude(refusal, { _tag: "InvalidMember", path: ["ttl_seconds"] })
        )
      const { created_at, expires_at } = yield* mint(there, at.agent, "read_write", week)
      assert.strictEqual((expires_at?.epochMilliseconds ?? 0) - created_at.epochMilliseconds, week * 1000)
      yield* refused(other)
      yield* (yield* BranchStore).put(new Branch({ ...branch, made_by_key_id: null }))
      yield* refused(at.agent)
    }).pipe(Effect.provide(Core))
  )

  it.effect("a credential expires with the key that minted it", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const wanted = {
        name: "day",
        capability: "read_write",
        scope: { type: "organization" },
        expires_in_days: 1
      } as const
      const { api_key, secret } = yield* (yield* ApiKeys).create(at.bob, wanted)
      const caller = yield* callerOf(secret)
      assert.deepStrictEqual((yield* mint(at, caller)).expires_at, api_key.expires_at)
      assert.deepStrictEqual((yield* mint(at, caller, "read_only", 7 * 86_400)).expires_at, api_key.expires_at)
      const hour = DateTime.addDuration(yield* DateTime.now, Duration.hours(1))
      assert.deepStrictEqual((yield* mint(at, caller, "read_only", 3600)).expires_at, hour)
    }).pipe(Effect.provide(Core))
  )
})

describe("Listing and revoking credentials", () => {
  const listed = (at: Setting, caller: AnyCaller, limit = 100) =>
    Effect.flatMap(Credentials, ({ list }) => list(caller, at.child, { limit, after: null }))

  it.effect("owners see all credentials of a branch, members their own and their keys', agents what they minted", () =>
    Effect.gen(function* () {
      const at = yield* setting
      const roles = yield* minted(at)
      const seen = (caller: AnyCaller) =>
        Effect.map(listed(at, caller), ({ items }) => items.map(({ role }) => role).toSorted())
      assert.deepStrictEqual(yield* seen(at.ada), Object.values(roles).toSorted())
      for (const caller of [at.bob, at.key])
        assert.deepStrictEqual(yield* seen(caller), [roles.reader, roles.writer, roles.key, roles.agent].toSorted())
      assert.deepStrictEqual(yield* seen(at.agent), [roles.agent])
    }).pipe(Effect.provide(Core))
  )

  it.effect("pages of credentials hold each of them once, newest first, and no secret", () =>
    Effect.gen(function* () {
      const { list } = yield* Credentials
      const at = yield* setting
      const roles: Array<string> = []
      for (let n = 0; n < 5; n++) {
        roles.push(yield* roleOf(at, at.bob, "read_only"))
        yield* TestClock.adjust("1 second")
      }
      const seen: Array<string> = []
      let after: string | null = null
      do {
        const page: Effect.Success<ReturnType<typeof list>> = yield* list(at.bob, at.child, { limit: 2, after })
        assert.isAtMost(page.items.length, 2)
        assert.notInclude(JSON.stringify(page.items), "SCRAM")
        seen.push(...page.items.map(({ role }) => role))
        const cursor = page.next_cursor
        after = cursor === null ? null : Result.getOrThrow(decodeCursor(cursor))
      } while (after !== null)
      assert.deepStrictEqual(seen, roles.toReversed())
      const strange = { limit: 2, after: "br-01k3p5q7r9s1t3v5w7x9z0000a" }
      assert.strictEqual(yield* tagOf(list(at.bob, at.child, strange)), "MalformedCursor")
    }).pipe(Effect.provide(Core))
  )
})
