/**
 * The audit log of an organization: acts of callers in their own transactions, refused ones, and the list of both
 * (docs/design/audit.md).
 *
 * `during` is how the API writes: whatever the call, its change and its entry are one commit. A program that calls the
 * services without the API uses it in the same way.
 */
import { Context, DateTime, Effect, Layer } from "effect"
import { becauseOf } from "../../becauseOf.ts"
import { isStorable } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { AuditActor, type AuditEntry } from "../../records/audit/AuditEntry.ts"
import type { AuditFilter } from "../../records/audit/AuditFilter.ts"
import { AuditLog } from "../../records/audit/AuditLog.ts"
import type { AuditAction } from "../../records/audit/auditActions.ts"
import { type Act, actorOfUser, noteAct } from "../../records/audit/noteAct.ts"
import { type ActFacts, RunningAct } from "../../records/audit/RunningAct.ts"
import { RateLimiter } from "../../records/limits/RateLimiter.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"

/** The parts of an entry that the result of the work tells. */
export type ActParts = Pick<Act, "targets" | "metadata">

/** How many refusals of one person an organization's log takes in so many seconds (U8). */
export const auditedRefusals = { limit: 60, window_seconds: 3600 } as const

export const actorOf = (caller: AnyCaller): AuditActor =>
  caller.kind === "session"
    ? actorOfUser(caller.user)
    : new AuditActor({
        type: "api_key",
        id: caller.api_key_id,
        name: caller.api_key_name,
        user: caller.user.ref
      })

export class Audit extends Context.Service<
  Audit,
  {
    /**
     * Runs `work` and adds the entry of its act, as one commit. Work that fails leaves no entry, and neither does a
     * result without parts.
     */
    readonly during: <A, E, R>(
      caller: AnyCaller,
      action: AuditAction,
      work: Effect.Effect<A, E, R>,
      parts: (result: A) => ActParts | undefined
    ) => Effect.Effect<A, E | StorageError, R>
    /**
     * Adds the entry of a refused act of a member, unless the person has left as many as the log takes. It never
     * fails: the refusal is the answer, whatever becomes of its entry.
     */
    readonly refused: (caller: AnyCaller, action: AuditAction, parts: ActParts) => Effect.Effect<void>
    /** The entries of the caller's organization, newest first. Callers authorize first. */
    readonly list: (
      caller: AnyCaller,
      filter: AuditFilter,
      page: PageRequest
    ) => Effect.Effect<Page<AuditEntry>, StorageError>
  }
>()("@narthex/core/services/audit/Audit") {
  static readonly layer: Layer.Layer<Audit, never, AuditLog | RateLimiter | Transaction> = Layer.effect(
    Audit,
    Effect.gen(function* () {
      const log = yield* AuditLog
      const { take } = yield* RateLimiter
      const { apart, run } = yield* Transaction
      const note = noteAct(log)

      const during: Audit["Service"]["during"] = (caller, action, work, parts) =>
        run(
          Effect.suspend(() => {
            const facts: ActFacts = { org_id: caller.org_id, names: new Map() }
            return Effect.tap(Effect.provideService(work, RunningAct, facts), (result) => {
              const told = parts(result)
              if (told === undefined) return Effect.void
              const { metadata = {}, targets = [] } = told
              const named = targets.map((it) => ({ ...it, name: it.name ?? facts.names.get(it.id) ?? null }))
              return note({ org_id: facts.org_id, action, actor: actorOf(caller), targets: named, metadata })
            })
          })
        )

      const refused: Audit["Service"]["refused"] = (caller, action, parts) =>
        Effect.gen(function* () {
          const subject = `${caller.org_id} ${caller.user.id}`
          const now = yield* DateTime.now
          const counted = { limit_name: "audit_refusals", subject, ...auditedRefusals, now, cost: 1 }
          if (!(yield* take(counted)).allowed) return
          yield* note({ org_id: caller.org_id, action, actor: actorOf(caller), outcome: "refused", ...parts })
        }).pipe(
          apart,
          Effect.catch((error) =>
            Effect.logWarning("A refusal could not be added to the audit log.").pipe(becauseOf(error))
          )
        )

      return Audit.of({
        during,
        refused,
        list: Effect.fn("Audit.list")(({ org_id }, filter, page) => log.list(org_id, storable(filter), page))
      })
    })
  )
}

/** The filter of a request. Text that cannot be stored becomes one that no entry has. */
const storable = ({ action, actor_id, target_id, ...rest }: AuditFilter): AuditFilter => {
  const known = (text: string) => (isStorable(text) ? text : "-")
  return {
    ...rest,
    ...(action === undefined ? {} : { action: known(action) }),
    ...(actor_id === undefined ? {} : { actor_id: known(actor_id) }),
    ...(target_id === undefined ? {} : { target_id: known(target_id) })
  }
}
