/** The contract of `ApiKeyStore`. Run it against every adapter. */
import { Effect, Option } from "effect"
import type { UserId } from "../../src/Ids.ts"
import { encodeCursor, type PageRequest } from "../../src/Page.ts"
import type { ApiKey, StoredApiKey } from "../../src/records/keys/ApiKey.ts"
import { ApiKeyStore, type KeysToEnd } from "../../src/records/keys/ApiKeyStore.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { aBranchId, anOrgId, aProjectId, aStoredKey, aText, at, aUser, firstPage } from "../records.ts"
import { atOnce, inTransactionsAtOnce, undone } from "../together.ts"

/** Reads a key from the store. */
const again = ({ key, org_id }: StoredApiKey) => Effect.flatMap(ApiKeyStore, (store) => store.find(org_id, key.id))

const inserted = (key: Partial<ApiKey> = {}, around: Partial<StoredApiKey> = {}) =>
  Effect.gen(function* () {
    const row = aStoredKey(key, around)
    yield* (yield* ApiKeyStore).insert(row)
    return row
  })

export const apiKeyStoreContract = contract<ApiKeyStore | Transaction>("ApiKeyStore", (it) => {
  it("a key is stored as it was inserted, and found in its own organization only", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const scope = { type: "branch", project_id: aProjectId(), branch_id: aBranchId() } as const
      const secrets = ["b", "a"].map((it) => ({ digest: aText(it), pepper_id: it, dies_at: at(9) }))
      const row = yield* inserted({ scope, capability: "agent", expires_at: at(1) }, { secrets })
      assert.deepStrictEqual(yield* store.find(row.org_id, row.key.id), Option.some(row))
      assert.deepStrictEqual(yield* store.lock(row.org_id, row.key.id), Option.some(row))
      assert.isTrue(Option.isNone(yield* store.find(anOrgId(), row.key.id)))
    }))

  it("a key is found by any of several digests", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const row = yield* inserted()
      yield* inserted()
      const digests = [aText("unknown"), row.secrets[0]?.digest ?? ""]
      assert.deepStrictEqual(yield* store.findByDigest(digests), Option.some(row))
      assert.isTrue(Option.isNone(yield* store.findByDigest([aText("unknown")])))
      assert.isTrue(Option.isNone(yield* store.findByDigest([])))
    }))

  it("the secrets of a key are replaced, and some of them may be kept", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const row = yield* inserted()
      const [old] = row.secrets
      const secrets = [
        { digest: aText("new"), pepper_id: "p2", dies_at: null },
        { digest: old?.digest ?? "", pepper_id: "p1", dies_at: at(60) }
      ]
      yield* store.putSecrets(row.key.id, "…wxyz", secrets)
      const found = yield* store.findByDigest([old?.digest ?? ""])
      assert.deepStrictEqual(
        Option.map(found, (it) => [it.key.hint, it.secrets]),
        Option.some(["…wxyz", secrets])
      )
      yield* store.putSecrets(row.key.id, "…wxyz", secrets.slice(0, 1))
      assert.isTrue(Option.isNone(yield* store.findByDigest([old?.digest ?? ""])))
    }))

  it("rotations of one key run one after another", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const row = yield* inserted({ hint: "" })
      yield* inTransactionsAtOnce(8, () =>
        Effect.gen(function* () {
          const { key, secrets } = yield* Effect.fromOption(yield* store.lock(row.org_id, row.key.id))
          yield* store.putSecrets(key.id, `${key.hint}x`, secrets)
        })
      )
      assert.deepStrictEqual(
        Option.map(yield* again(row), (it) => it.key.hint),
        Option.some("x".repeat(8))
      )
    }))

  it("unrevoked keys are listed newest first, of one creator or of all, page by page", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const org_id = anOrgId()
      const ada = aUser().ref
      const lapsed = yield* inserted({ expires_at: at(11), created_by: ada }, { org_id })
      const older = yield* inserted({ created_by: ada }, { org_id })
      const newer = yield* inserted({}, { org_id })
      yield* inserted({ expires_at: at(10) }, { org_id })
      const revoked = yield* inserted({}, { org_id })
      yield* store.revoke(org_id, revoked.key.id, "revoked", at(3))
      yield* inserted()
      const listed = (creator: UserId | null, page: PageRequest) => store.list(org_id, creator, at(10), page)
      const all = [newer.key, older.key, lapsed.key]
      assert.deepStrictEqual(yield* listed(null, firstPage), { items: all, next_cursor: null })
      const next_cursor = encodeCursor(older.key.id)
      assert.deepStrictEqual(yield* listed(null, { limit: 2, after: null }), { items: all.slice(0, 2), next_cursor })
      const rest = { items: [lapsed.key], next_cursor: null }
      assert.deepStrictEqual(yield* listed(null, { limit: 2, after: older.key.id }), rest)
      assert.deepStrictEqual(yield* listed(ada.id, { limit: 2, after: null }), {
        items: [older.key, lapsed.key],
        next_cursor: null
      })
      assert.deepStrictEqual(yield* listed(ada.id, { limit: 1, after: older.key.id }), rest)
    }))

  it("a person's live keys are counted", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const org_id = anOrgId()
      const created_by = aUser().ref
      yield* inserted({ created_by }, { org_id })
      yield* inserted({ created_by, expires_at: at(10) }, { org_id })
      yield* inserted({}, { org_id })
      const revoked = yield* inserted({ created_by }, { org_id })
      yield* store.revoke(org_id, revoked.key.id, "revoked", at(3))
      assert.strictEqual(yield* store.countLive(org_id, created_by.id, at(9)), 2)
      assert.strictEqual(yield* store.countLive(org_id, created_by.id, at(10)), 1)
    }))

  it("a key is revoked once, with its reason", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const row = yield* inserted()
      assert.isFalse(yield* store.revoke(anOrgId(), row.key.id, "revoked", at(1)))
      const ended = yield* atOnce(4, () => store.revoke(row.org_id, row.key.id, "reported", at(1)))
      assert.strictEqual(ended.filter((it) => it).length, 1)
      assert.isFalse(yield* store.revoke(row.org_id, row.key.id, "revoked", at(2)))
      const { key, revoked_reason } = yield* Effect.fromOption(yield* again(row))
      assert.deepStrictEqual(key.revoked_at, at(1))
      assert.strictEqual(revoked_reason, "reported")
    }))

  it("all keys of an organization, a person, a project with its branches, or a branch are revoked", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const [org_id, project_id, branch_id, created_by] = [anOrgId(), aProjectId(), aBranchId(), aUser().ref]
      const wide = yield* inserted({ created_by }, { org_id })
      const project = yield* inserted({ scope: { type: "project", project_id } }, { org_id })
      const branch = yield* inserted({ scope: { type: "branch", project_id, branch_id } }, { org_id })
      const elsewhere = yield* inserted({ created_by, scope: { type: "project", project_id: aProjectId() } })
      const end = (which: KeysToEnd) =>
        Effect.map(store.revokeAll(which, "scope_deleted", at(1)), (ids) => ids.toSorted())
      assert.deepStrictEqual(yield* end({ branch_id }), [branch.key.id])
      assert.deepStrictEqual(yield* end({ branch_id }), [])
      assert.deepStrictEqual(yield* end({ project_id }), [project.key.id])
      assert.deepStrictEqual(yield* end({ org_id, user_id: created_by.id }), [wide.key.id])
      const rest = yield* inserted({}, { org_id })
      assert.deepStrictEqual(yield* end({ org_id }), [rest.key.id])
      assert.deepStrictEqual(
        Option.map(yield* again(elsewhere), (it) => it.key.revoked_at),
        Option.some(null)
      )
    }))

  it("revoking the keys of a project includes its branch keys", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const [project_id, branch_id] = [aProjectId(), aBranchId()]
      const { key } = yield* inserted({ scope: { type: "branch", project_id, branch_id } })
      assert.deepStrictEqual(yield* store.revokeAll({ project_id }, "scope_deleted", at(1)), [key.id])
    }))

  it("the latest use of a key is stored, whatever the order of reports", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const [one, two] = [yield* inserted(), yield* inserted()]
      const use = (row: StoredApiKey, seconds: number) => ({
        id: row.key.id,
        at: at(seconds),
        from: `from ${seconds}`
      })
      const last = (row: StoredApiKey) =>
        Effect.map(
          again(row),
          Option.map(({ key }) => [key.last_used_at, key.last_used_from])
        )
      yield* store.touch([use(one, 7), use(two, 1), use(one, 3)])
      yield* store.touch([use(one, 5), use(two, 2), { ...use(aStoredKey(), 9), from: null }])
      yield* store.touch([])
      assert.deepStrictEqual(yield* last(one), Option.some([at(7), "from 7"]))
      assert.deepStrictEqual(yield* last(two), Option.some([at(2), "from 2"]))
      yield* atOnce(8, (n) => {
        const uses = [use(one, 10 + n), use(two, 10 + n)]
        return store.touch(n % 2 === 0 ? uses : uses.toReversed())
      })
      assert.deepStrictEqual(yield* last(one), Option.some([at(17), "from 17"]))
      assert.deepStrictEqual(yield* last(two), Option.some([at(17), "from 17"]))
    }))

  it("writes to keys are undone with their transaction", () =>
    Effect.gen(function* () {
      const store = yield* ApiKeyStore
      const row = yield* inserted()
      const fresh = aStoredKey()
      yield* undone(
        Effect.gen(function* () {
          yield* store.insert(fresh)
          yield* store.putSecrets(row.key.id, "…gone", [])
          yield* store.revokeAll({ org_id: row.org_id }, "revoked", at(1))
        })
      )
      assert.isTrue(Option.isNone(yield* again(fresh)))
      assert.deepStrictEqual(yield* again(row), Option.some(row))
    }))
})
