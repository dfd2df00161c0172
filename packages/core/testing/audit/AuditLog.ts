/** The contract of `AuditLog`. Run it against every adapter. */
import { DateTime, Effect } from "effect"
import { makeAuditEntryId, type OrgId, UserId } from "../../src/Ids.ts"
import { AuditActor, AuditContext, AuditEntry, AuditTarget } from "../../src/records/audit/AuditEntry.ts"
import type { AuditFilter } from "../../src/records/audit/AuditFilter.ts"
import { AuditLog } from "../../src/records/audit/AuditLog.ts"
import type { Transaction } from "../../src/Transaction.ts"
import { assert } from "../assert.ts"
import { contract } from "../contract.ts"
import { anOrgId, aProjectId, aStoredKey, at, aUser, firstPage } from "../records.ts"
import { undone } from "../together.ts"

/** An entry of this organization, so many seconds after the start. */
const anEntry = Effect.fnUntraced(function* (org_id: OrgId | null, seconds: number, rest: Partial<AuditEntry> = {}) {
  const occurred_at = at(seconds)
  const user = aUser()
  return new AuditEntry({
    id: yield* makeAuditEntryId(occurred_at),
    org_id,
    occurred_at,
    action: "project.created",
    outcome: "done",
    actor: new AuditActor({ type: "user", id: user.id, name: user.email, user: user.ref }),
    targets: [new AuditTarget({ type: "project", id: aProjectId(), name: "shop 🦆" })],
    context: new AuditContext({ location: "192.0.2.7", user_agent: "psql", request_id: "r-1" }),
    metadata: { role: "admin" },
    version: 1,
    ...rest
  })
})

const added = Effect.fnUntraced(function* (org: OrgId | null, seconds: number, rest: Partial<AuditEntry> = {}) {
  const entry = yield* anEntry(org, seconds, rest)
  yield* (yield* AuditLog).append(entry)
  return entry
})

const listed = (org: OrgId | null, filter: AuditFilter = {}) =>
  Effect.flatMap(AuditLog, ({ list }) => Effect.map(list(org, filter, firstPage), ({ items }) => items))

const idsOf = (entries: ReadonlyArray<AuditEntry>) => entries.map(({ id }) => id)

export const auditLogContract = contract<AuditLog | Transaction>("AuditLog", (it) => {
  it("an entry is read as it was written", () =>
    Effect.gen(function* () {
      const org = anOrgId()
      const bare = {
        actor: new AuditActor({ type: "operator", id: null, name: null, user: null }),
        targets: [],
        context: new AuditContext({ location: null, user_agent: null, request_id: null }),
        metadata: {}
      }
      const [first, second] = [yield* added(org, 1), yield* added(org, 2, bare)]
      assert.deepStrictEqual(yield* listed(org), [second, first])
    }))

  it("an entry of an undone transaction is not kept", () =>
    Effect.gen(function* () {
      const org = anOrgId()
      yield* undone(added(org, 1))
      assert.deepStrictEqual(yield* listed(org), [])
    }))

  it("entries are listed newest first in pages, without those of other organizations", () =>
    Effect.gen(function* () {
      const { list } = yield* AuditLog
      const org = anOrgId()
      const first = yield* added(org, 1)
      yield* added(anOrgId(), 2)
      const [second, third] = [yield* added(org, 3), yield* added(org, 4)]
      const page = yield* list(org, {}, { limit: 2, after: null })
      assert.deepStrictEqual(idsOf(page.items), idsOf([third, second]))
      assert.isNotNull(page.next_cursor)
      const rest = yield* list(org, {}, { limit: 2, after: second.id })
      assert.deepStrictEqual(idsOf(rest.items), idsOf([first]))
      assert.isNull(rest.next_cursor)
    }))

  it("entries that belong to no organization are a list of their own", () =>
    Effect.gen(function* () {
      const before = idsOf(yield* listed(null))
      const entry = yield* added(null, 1)
      yield* added(anOrgId(), 2)
      assert.sameMembers(idsOf(yield* listed(null)), [entry.id, ...before])
    }))

  it("an entry fits a list whose filters all fit", () =>
    Effect.gen(function* () {
      const org = anOrgId()
      const entry = yield* added(org, 10)
      const [actor_id, target_id] = [entry.actor.id ?? "", entry.targets[0]?.id ?? ""]
      const fitting: ReadonlyArray<AuditFilter> = [
        { action: "project.created" },
        { outcome: "done" },
        { actor_id },
        { target_id },
        { from: at(10) },
        { until: at(10.001) },
        { action: "project.created", outcome: "done", actor_id, target_id, from: at(9), until: at(11) }
      ]
      const others: ReadonlyArray<AuditFilter> = [
        { action: "project.deleted" },
        { outcome: "refused" },
        { actor_id: aUser().id },
        { target_id: actor_id },
        { from: at(10.001) },
        { until: at(10) },
        { action: "project.created", outcome: "refused" }
      ]
      for (const filter of fitting) assert.deepStrictEqual(idsOf(yield* listed(org, filter)), [entry.id])
      for (const filter of others) assert.deepStrictEqual(idsOf(yield* listed(org, filter)), [])
    }))

  it("the filter by actor fits a key by its id and by its person", () =>
    Effect.gen(function* () {
      const org = anOrgId()
      const { ref } = aUser()
      const key = aStoredKey().key.id
      const entry = yield* added(org, 1, { actor: new AuditActor({ type: "api_key", id: key, name: "ci", user: ref }) })
      for (const actor_id of [key, ref.id]) assert.deepStrictEqual(idsOf(yield* listed(org, { actor_id })), [entry.id])
      assert.deepStrictEqual(yield* listed(org, { actor_id: UserId.make("-") }), [])
    }))

  it("pages of one filter join without a gap", () =>
    Effect.gen(function* () {
      const { list } = yield* AuditLog
      const org = anOrgId()
      const wanted: Array<string> = []
      for (let n = 0; n < 9; n++) {
        const { id } = yield* added(org, n, { outcome: n % 2 === 0 ? "done" : "refused" })
        if (n % 2 === 0) wanted.unshift(id)
      }
      const read: Array<string> = []
      let after: string | null = null
      do {
        const page: Effect.Success<ReturnType<typeof list>> = yield* list(org, { outcome: "done" }, { limit: 2, after })
        read.push(...idsOf(page.items))
        after = page.next_cursor === null ? null : (page.items.at(-1)?.id ?? null)
      } while (after !== null)
      assert.deepStrictEqual(read, wanted)
    }))

  it("a purge removes as many entries as it may from before the instant, and no others", () =>
    Effect.gen(function* () {
      const { purge } = yield* AuditLog
      const org = anOrgId()
      // Before everything that other cases have written.
      const long = (seconds: number) => seconds - 1_000_000
      for (const n of [1, 2, 3]) yield* added(org, long(n))
      const kept = [yield* added(org, long(4)), yield* added(null, long(5))]
      assert.strictEqual(yield* purge(at(long(4)), 2), 2)
      assert.strictEqual(yield* purge(at(long(4)), 2), 1)
      assert.strictEqual(yield* purge(at(long(4)), 2), 0)
      assert.deepStrictEqual(idsOf(yield* listed(org)), idsOf(kept.slice(0, 1)))
      assert.strictEqual(yield* purge(DateTime.makeUnsafe(at(long(5)).epochMilliseconds + 1), 9), 2)
    }))
})
