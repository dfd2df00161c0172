import { assert, describe, it } from "@effect/vitest"
import { Effect, Option } from "effect"
import { TestClock } from "effect/testing"
import { ApiKeyStore } from "../../src/records/keys/ApiKeyStore.ts"
import type { KeyCaller } from "../../src/rules/authorization/Principal.ts"
import type { StreamAccess } from "../../src/services/events/streams/StreamAccess.ts"
import { StreamAuthority } from "../../src/services/events/streams/StreamAuthority.ts"
import { ApiKeys } from "../../src/services/keys/ApiKeys.ts"
import { Core, callerOf, keyCallerOf, signedIn } from "../memory/core.ts"

const accessOf = ({ api_key_id, org_id, secret, user }: KeyCaller): StreamAccess => ({
  org_id,
  project_id: null,
  principal: { session_id: null, api_key_id, secret, user_id: user.id, project_id: null, branch_id: null }
})

const rotated = Effect.fnUntraced(function* (grace: number) {
  const ada = yield* signedIn("ada")
  const key = yield* keyCallerOf(ada, "read")
  const keys = yield* ApiKeys
  const store = yield* ApiKeyStore
  const { permits } = yield* StreamAuthority
  const before = accessOf(key)
  assert.isTrue(yield* permits(before))
  const row = Option.getOrThrow(yield* store.find(ada.org_id, key.api_key_id))
  const { secret } = yield* keys.rotate(ada, row, grace)
  const fresh = yield* callerOf(secret)
  if (fresh.kind !== "api_key") return yield* Effect.die(new Error("A session is not a key."))
  const { secrets } = Option.getOrThrow(yield* store.find(ada.org_id, key.api_key_id))
  return { before, fresh: accessOf(fresh), former: secrets.find(({ digest }) => digest === key.secret.digest) }
})

describe("The authority of a live stream after a key rotation", () => {
  it.effect("a rotation without grace ends the authority of streams of the old secret, not of the new one", () =>
    Effect.gen(function* () {
      const { before, fresh, former } = yield* rotated(0)
      const { permits } = yield* StreamAuthority
      assert.isUndefined(former)
      assert.isFalse(yield* permits(before))
      assert.isTrue(yield* permits(fresh))
    }).pipe(Effect.provide(Core))
  )

  it.effect(
    "after a rotation with grace a stream keeps its authority only if it carries the grace's end, and only until then",
    () =>
      Effect.gen(function* () {
        const { before, fresh, former } = yield* rotated(60)
        const { permits } = yield* StreamAuthority
        if (former === undefined) return assert.fail("the old secret is in its grace")
        const within = { ...before, principal: { ...before.principal, secret: former } }
        yield* TestClock.adjust(59_999)
        assert.isFalse(yield* permits(before))
        assert.isTrue(yield* permits(within))
        yield* TestClock.adjust(1)
        assert.isFalse(yield* permits(within))
        assert.isTrue(yield* permits(fresh))
      }).pipe(Effect.provide(Core))
  )
})
