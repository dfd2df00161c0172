/**
 * Port: the entries of the audit log. An entry is added in the transaction of its act and never changed.
 *
 * Pitfall: adding an entry before a change that may be refused, or after the commit. An entry without its change, or a
 * change without its entry, would stay.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import type { OrgId } from "../../Ids.ts"
import { type Page, type PageRequest, pageOfAll } from "../../Page.ts"
import type { StorageError } from "../../StorageError.ts"
import { MemoryStorage } from "../memory/MemoryStorage.ts"
import type { AuditEntry } from "./AuditEntry.ts"
import { type AuditFilter, fitsAudit } from "./AuditFilter.ts"

export class AuditLog extends Context.Service<
  AuditLog,
  {
    /** Adds an entry to the running transaction; outside of one it commits alone. */
    readonly append: (entry: AuditEntry) => Effect.Effect<void, StorageError>
    /** The entries of an organization, or those that belong to none (`null`), newest first. */
    readonly list: (
      org: OrgId | null,
      filter: AuditFilter,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEntry>, StorageError>
    /** Purges at most `limit` entries from before the instant, and returns how many. */
    readonly purge: (before: DateTime.Utc, limit: number) => Effect.Effect<number, StorageError>
  }
>()("@narthex/core/records/audit/AuditLog") {
  static readonly layerMemory: Layer.Layer<AuditLog, never, MemoryStorage> = Layer.effect(
    AuditLog,
    Effect.gen(function* () {
      const entries = (yield* MemoryStorage).table<AuditEntry>("audit_entry")
      return AuditLog.of({
        append: (entry) => entries.put(entry.id, entry),
        list: (org, filter, page) =>
          Effect.map(entries.all, (all) =>
            pageOfAll(
              all.filter((entry) => entry.org_id === org && fitsAudit(entry, filter)),
              page
            )
          ),
        purge: (before, limit) =>
          entries.modify((rows) => {
            const past = rows.filter(({ occurred_at }) => DateTime.isLessThan(occurred_at, before)).slice(0, limit)
            return [past.length, past.map(({ id }) => [id, undefined])]
          })
      })
    })
  )
}
