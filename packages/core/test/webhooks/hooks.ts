/** The core with webhooks over memory ports, and a receiver that a test controls. Deliveries run when a test calls them. */
import { Context, DateTime, Effect, Layer, Option, Redacted } from "effect"
import type { OrgId, ProjectId } from "../../src/Ids.ts"
import type { LoggedEvent } from "../../src/records/events/Envelope.ts"
import { layerSecretSealer } from "../../src/records/webhooks/SecretSealer.ts"
import { StoredWebhook } from "../../src/records/webhooks/Webhook.ts"
import {
  type WebhookAnswer,
  type WebhookRequest,
  WebhookSender,
  type WebhookUnreached
} from "../../src/records/webhooks/WebhookSender.ts"
import { WebhookStore } from "../../src/records/webhooks/WebhookStore.ts"
import type { AnyCaller } from "../../src/rules/authorization/Principal.ts"
import { defaultWebhookSettings, WebhookPolicy, type WebhookSettings } from "../../src/runner/webhooks/WebhookPolicy.ts"
import { WebhookWorker } from "../../src/runner/webhooks/WebhookWorker.ts"
import { type NewWebhook, Webhooks } from "../../src/services/webhooks/Webhooks.ts"
import { Transaction } from "../../src/Transaction.ts"
import { logged, MortalCore } from "../memory/core.ts"

export interface Received extends WebhookRequest {
  readonly id: string
  readonly data: Readonly<Record<string, unknown>>
  readonly type: string
}

interface Receiving {
  /** Every message, in the order of their arrival. */
  readonly messages: Array<Received>
  /** The answers of the receiver. */
  answer: (message: Received) => Effect.Effect<WebhookAnswer, WebhookUnreached>
}

export class Receiver extends Context.Service<Receiver, Receiving>()("test/Receiver") {}

export const answered = (status: number, rest: Partial<WebhookAnswer> = {}) =>
  Effect.succeed({ status, retry_after: null, excerpt: "", ...rest })

const Receives = Layer.effect(
  WebhookSender,
  Effect.map(Receiver, (receiver) => ({
    post: (request) =>
      Effect.suspend(() => {
        const { data, type } = JSON.parse(request.body)
        const message = { ...request, id: request.headers["webhook-id"] ?? "", data, type }
        receiver.messages.push(message)
        return receiver.answer(message)
      })
  }))
).pipe(Layer.provideMerge(Layer.sync(Receiver, (): Receiving => ({ messages: [], answer: () => answered(204) }))))

const references = (policy: Partial<WebhookSettings>) =>
  Layer.mergeAll(
    Receives,
    layerSecretSealer(Redacted.make(new Uint8Array(32).fill(9))),
    Layer.succeed(WebhookPolicy, { ...defaultWebhookSettings, ...policy })
  )

/** A test calls the worker (`runOne`), which may die at every boundary. */
export const Hooks = WebhookWorker.layerManual.pipe(Layer.provideMerge(MortalCore), Layer.provideMerge(references({})))

/** The worker delivers by itself. */
export const loopingHooks = (policy: Partial<WebhookSettings>) =>
  WebhookWorker.layerLoop.pipe(Layer.provideMerge(MortalCore), Layer.provideMerge(references(policy)))

/** Another worker on the same storage, as on another instance. */
export const anotherWorker = Effect.map(
  Layer.build(Layer.fresh(WebhookWorker.layerManual)),
  (context) => Context.get(context, WebhookWorker).runOne
)

export const url = "https://hooks.example.com/ada"

export const hook = (caller: AnyCaller, rest: Partial<NewWebhook> = {}) =>
  Effect.flatMap(Webhooks, ({ create }) => create(caller, { url, label: "", types: [], project_id: null, ...rest }))

/** Commits an event of the organization. Its data is `{ n }`. */
export const emitted = Effect.fnUntraced(function* (
  org_id: OrgId,
  n: number,
  {
    project_id = null,
    type = "test.happened.v1"
  }: { readonly project_id?: ProjectId | null; readonly type?: string } = {}
) {
  const { emit, run } = yield* Transaction
  yield* run(emit({ org_id, project_id, type, source: "host", internal: false, data: { n } }))
})

/** Wakes the webhooks of all organizations with events, as the feed does, and delivers until none is due. */
export const delivered = Effect.gen(function* () {
  const { runOne } = yield* WebhookWorker
  const orgs = new Set((yield* logged).map((event: LoggedEvent) => event.org_id))
  yield* (yield* WebhookStore).wake([...orgs], yield* DateTime.now)
  while (yield* runOne);
})

/** The `n` of the messages of this type, in the order of their arrival. */
export const numbers = Effect.map(Receiver, ({ messages }) => messages.map(({ data }) => data["n"]))

export const stored = ({ id, org_id }: { readonly id: string; readonly org_id: OrgId }) =>
  Effect.flatMap(WebhookStore, ({ list }) =>
    Effect.map(list(org_id, { limit: 100, after: null }), ({ items }) =>
      Option.getOrThrow(Option.fromUndefinedOr(items.find((row) => row.id === id)))
    )
  )

/**
 * The webhook is due, as if its pause or its lease had passed. Pitfall: moving the clock by days instead. Everything else
 * that polls would wake a million times.
 */
export const dueNow = (webhook: Parameters<typeof stored>[0]) =>
  Effect.gen(function* () {
    const row = yield* stored(webhook)
    yield* (yield* WebhookStore).update(new StoredWebhook({ ...row, due_at: yield* DateTime.now }))
  })
