/**
 * Webhooks of an organization: created, changed, tested, replayed and deleted (docs/design/webhooks.md). Workers deliver
 * (`runner/webhooks`).
 *
 * A change of a webhook locks its row, so it and the worker's record of an attempt come one after the other.
 */
import { Context, DateTime, Duration, Effect, Layer, Option, type Redacted } from "effect"
import { makeWebhookId, ProjectId, requestedId, WebhookId } from "../../Ids.ts"
import type { Page, PageRequest } from "../../Page.ts"
import { Conflict, InvalidMember, type NotFound, orNotFound, type Refused } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import { actsOn } from "../../records/audit/RunningAct.ts"
import { parseLastEventId } from "../../records/events/EventId.ts"
import { EventLog } from "../../records/events/EventLog.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { QuotaExceeded } from "../../records/quotas/Quota.ts"
import { WebhookNetworks, whyNoReceiver } from "../../records/webhooks/receiverUrl.ts"
import { SecretSealer } from "../../records/webhooks/SecretSealer.ts"
import { makeSigningSecret } from "../../records/webhooks/signing.ts"
import { StoredWebhook, type Webhook, type WebhookDelivery, webhookTested } from "../../records/webhooks/Webhook.ts"
import { WebhookStore } from "../../records/webhooks/WebhookStore.ts"
import type { AnyCaller } from "../../rules/authorization/Principal.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { lockedOrganization } from "../organizations/lockedOrganization.ts"
import { Quotas } from "../quotas/Quotas.ts"

export interface NewWebhook {
  readonly url: string
  readonly label: string
  /** Empty: all types. */
  readonly types: ReadonlyArray<string>
  /** As the request names it; `null`: the whole organization. */
  readonly project_id: string | null
}

export interface WebhookWithSecret {
  readonly webhook: Webhook
  readonly secret: Redacted.Redacted
}

type Changing = InvalidMember | NotFound | Refused | StorageError

export class Webhooks extends Context.Service<
  Webhooks,
  {
    /** Delivers the events from now on. The secret is shown this once. */
    readonly create: (
      caller: AnyCaller,
      wanted: NewWebhook
    ) => Effect.Effect<WebhookWithSecret, Conflict | InvalidMember | NotFound | QuotaExceeded | Refused | StorageError>
    /** Newest first. */
    readonly list: (caller: AnyCaller, page: PageRequest) => Effect.Effect<Page<Webhook>, StorageError>
    readonly read: (caller: AnyCaller, id: WebhookId) => Effect.Effect<Webhook, NotFound | StorageError>
    /** Members that are left out stay. A webhook with another URL is tried at once. */
    readonly change: (
      caller: AnyCaller,
      id: WebhookId,
      changes: Partial<Omit<NewWebhook, "project_id">>
    ) => Effect.Effect<Webhook, Changing>
    readonly remove: (caller: AnyCaller, id: WebhookId) => Effect.Effect<void, NotFound | Refused | StorageError>
    /** A new secret. Deliveries have a signature of the former one, too, for so many seconds. */
    readonly rotate: (
      caller: AnyCaller,
      id: WebhookId,
      graceSeconds: number
    ) => Effect.Effect<WebhookWithSecret, Conflict | NotFound | Refused | StorageError>
    /** Emits an event that this webhook alone delivers. `Conflict`: the webhook is paused. */
    readonly test: (
      caller: AnyCaller,
      id: WebhookId
    ) => Effect.Effect<Webhook, Conflict | NotFound | Refused | StorageError>
    /** Goes on at once, also if it was paused: behind the event `after`, or where the webhook is (`null`). */
    readonly replay: (caller: AnyCaller, id: WebhookId, after: string | null) => Effect.Effect<Webhook, Changing>
    /** The attempts, newest first. */
    readonly deliveries: (
      caller: AnyCaller,
      id: WebhookId,
      page: PageRequest
    ) => Effect.Effect<Page<WebhookDelivery>, NotFound | StorageError>
  }
>()("@narthex/core/services/webhooks/Webhooks") {
  static readonly layer: Layer.Layer<
    Webhooks,
    never,
    AccountStore | EventLog | ProjectStore | Quotas | Transaction | WebhookStore
  > = Layer.effect(
    Webhooks,
    Effect.gen(function* () {
      const log = yield* EventLog
      const projects = yield* ProjectStore
      const quotas = yield* Quotas
      const { seal } = yield* SecretSealer
      const sealed = (secret: Redacted.Redacted, id: WebhookId) => Effect.mapError(seal(secret, id), () => unkeyed)
      const store = yield* WebhookStore
      const { emit, run } = yield* Transaction
      const locked = lockedOrganization(yield* AccountStore)

      const checkUrl = Effect.fnUntraced(function* (url: string) {
        const reason = whyNoReceiver(url, yield* WebhookNetworks)
        if (reason !== undefined) return yield* new InvalidMember({ path: ["url"], reason })
      })

      /** The project of the caller's organization, held until the commit. */
      const projectOf = Effect.fnUntraced(function* (caller: AnyCaller, project: string | null) {
        if (project === null) return null
        const found = yield* projects.hold(caller.org_id, requestedId(ProjectId, project))
        if (Option.isNone(found))
          return yield* new InvalidMember({ path: ["project_id"], reason: "The organization has no such project." })
        return found.value.id
      })

      const find = ({ org_id }: AnyCaller, id: WebhookId) => orNotFound(store.find(org_id, requestedId(WebhookId, id)))

      /** Changes the webhook under its lock, as one commit. */
      const changing = <A, E>(
        admitted: AnyCaller,
        id: WebhookId,
        change: (webhook: StoredWebhook, now: DateTime.Utc) => Effect.Effect<readonly [StoredWebhook, A], E>
      ) =>
        run(
          Effect.gen(function* () {
            const { caller } = yield* locked(admitted, "manage_webhooks")
            const before = yield* orNotFound(store.lock(caller.org_id, requestedId(WebhookId, id)))
            const now = yield* DateTime.now
            const [after, answer] = yield* change(before, now)
            const stored = new StoredWebhook({ ...after, updated_at: now })
            yield* store.update(stored)
            yield* actsOn(stored.id, stored.label)
            return { webhook: stored.view, answer }
          })
        )

      const create = Effect.fn("Webhooks.create")(function* (admitted: AnyCaller, wanted: NewWebhook) {
        yield* checkUrl(wanted.url)
        const step = Effect.gen(function* () {
          const { caller } = yield* locked(admitted, "manage_webhooks")
          yield* quotas.take(caller.org_id, { webhooks: 1 })
          const project_id = yield* projectOf(caller, wanted.project_id)
          const now = yield* DateTime.now
          const id = yield* makeWebhookId
          const secret = yield* makeSigningSecret
          const { label, types, url } = wanted
          const stored = new StoredWebhook({
            ...{ id, org_id: caller.org_id, project_id, url, label, types, status: "active", paused_reason: null },
            position: yield* log.headOf(caller.org_id),
            failures_count: 0,
            secret: yield* sealed(secret, id),
            previous_secret: null,
            previous_secret_expires_at: null,
            created_at: now,
            created_by: caller.user.ref,
            updated_at: now,
            woken: true,
            due_at: now,
            lease_owner: null,
            fence: 0
          })
          yield* store.insert(stored)
          return { webhook: stored.view, secret }
        })
        return yield* run(step)
      })

      const change: Webhooks["Service"]["change"] = Effect.fn("Webhooks.change")(function* (caller, id, changes) {
        const { label, types, url } = changes
        if (url !== undefined) yield* checkUrl(url)
        const { webhook } = yield* changing(caller, id, (before, now) => {
          const after = { ...before, label: label ?? before.label, types: types ?? before.types }
          if (url === undefined || url === before.url) return Effect.succeed([new StoredWebhook(after), null])
          const tried = before.failures_count > 0 ? atOnce(before, now) : {}
          return Effect.succeed([new StoredWebhook({ ...after, url, ...tried }), null])
        })
        return webhook
      })

      const remove = Effect.fn("Webhooks.remove")(function* (admitted: AnyCaller, id: WebhookId) {
        const step = Effect.gen(function* () {
          const { caller } = yield* locked(admitted, "manage_webhooks")
          const webhook = yield* orNotFound(store.lock(caller.org_id, requestedId(WebhookId, id)))
          yield* actsOn(webhook.id, webhook.label)
          yield* store.remove(caller.org_id, webhook.id)
        })
        yield* run(step)
      })

      const rotate: Webhooks["Service"]["rotate"] = Effect.fn("Webhooks.rotate")(function* (caller, id, graceSeconds) {
        const { answer, webhook } = yield* changing(
          caller,
          id,
          Effect.fnUntraced(function* (before, now) {
            const secret = yield* makeSigningSecret
            const after = new StoredWebhook({
              ...before,
              secret: yield* sealed(secret, before.id),
              previous_secret: graceSeconds > 0 ? before.secret : null,
              previous_secret_expires_at:
                graceSeconds > 0 ? DateTime.addDuration(now, Duration.seconds(graceSeconds)) : null
            })
            return [after, secret] as const
          })
        )
        return { webhook, secret: answer }
      })

      const test: Webhooks["Service"]["test"] = Effect.fn("Webhooks.test")(function* (caller, id) {
        const { webhook } = yield* changing(
          caller,
          id,
          Effect.fnUntraced(function* (before) {
            if (before.status === "paused")
              return yield* new Conflict({
                reason: "The webhook is paused. Replay it: the first delivery is the test."
              })
            yield* emit(webhookTested(before))
            return [before, null] as const
          })
        )
        return webhook
      })

      /** The position that a request names. A position that the log has dropped is accepted: the receiver gets a gap. */
      const positionOf = Effect.fnUntraced(function* ({ org_id }: StoredWebhook, after: string) {
        const id = parseLastEventId(after)
        const malformed = new InvalidMember({ path: ["after"], reason: "The organization has no event with this id." })
        if (id._tag !== "After" || id.position > (yield* log.headOf(org_id, id.position))) return yield* malformed
        return id.position
      })

      const replay: Webhooks["Service"]["replay"] = Effect.fn("Webhooks.replay")(function* (caller, id, after) {
        const { webhook } = yield* changing(
          caller,
          id,
          Effect.fnUntraced(function* (before, now) {
            const position = after === null ? before.position : yield* positionOf(before, after)
            const active = { status: "active", paused_reason: null } as const
            return [new StoredWebhook({ ...before, ...active, ...atOnce(before, now), position }), null] as const
          })
        )
        return webhook
      })

      return Webhooks.of({
        create,
        list: Effect.fn("Webhooks.list")(function* ({ org_id }, page) {
          const { items, next_cursor } = yield* store.list(org_id, page)
          return { items: items.map(({ view }) => view), next_cursor }
        }),
        read: Effect.fn("Webhooks.read")((caller, id) => Effect.map(find(caller, id), ({ view }) => view)),
        change,
        remove,
        rotate,
        test,
        replay,
        deliveries: Effect.fn("Webhooks.deliveries")(function* (caller, id, page) {
          return yield* store.deliveries((yield* find(caller, id)).id, page)
        })
      })
    })
  )
}

const unkeyed = new Conflict({ reason: "This control plane has no key to keep secrets with, so it has no webhooks." })

/** Due now, as if nothing had failed. A worker that holds the webhook looks again when its attempt has ended. */
const atOnce = ({ due_at, lease_owner }: StoredWebhook, now: DateTime.Utc) => ({
  failures_count: 0,
  woken: true,
  due_at: lease_owner === null ? now : due_at
})
