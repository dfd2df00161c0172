/** The events of an organization as an async iterable (docs/design/library.md N29–N32). */
import { type ClientEvent, type NarthexError, place, siteOf } from "@narthex/api"
import {
  AccountStore,
  Envelope,
  EventFollowing,
  type Followed,
  OrgId,
  orNotFound,
  ProjectId,
  ProjectStore,
  requestedId
} from "@narthex/core"
import { type Context, Deferred, Effect, Exit, Schema, Scope, Stream } from "effect"
import type { Services } from "../composition/layerControlPlane.ts"
import { toFailure } from "../failures/failures.ts"
import { leftOut, objectOf, optional, signal as signalForm, text, texts } from "../failures/forms.ts"
import { invalidInput, requireForm } from "./inputs.ts"

export interface Subscription {
  readonly org_id: string
  /** Left out: the whole organization. */
  readonly project_id?: string
  /** Left out: events of every type. */
  readonly types?: ReadonlyArray<string>
  /** Starts after the event with this id; left out: with the events from now on. */
  readonly after?: string
  /** Ends the loop. */
  readonly signal?: AbortSignal
}

/** An item of a subscription, in the words of the client's (`ClientItem`). Pass `event.id` as `after` to resume. */
export type HostItem =
  | { readonly kind: "event"; readonly event: ClientEvent }
  /** Events are missing here: read the state again. */
  | { readonly kind: "gap"; readonly reason: string }

export interface Events {
  /**
   * Follows events from the moment of this call. The loop reads at its own pace: nothing is lost that the log retains,
   * and what it does not is a `gap`. It ends with `signal`, with `break`, and when the control plane closes. The loop
   * throws `not_found` for an organization or a project that does not exist or was deleted, and `invalid_input` for a
   * wrong argument.
   */
  readonly subscribe: (subscription: Subscription) => AsyncIterable<HostItem>
}

const encode = Schema.encodeSync(Envelope)

const itemOf = (followed: Followed): HostItem =>
  followed._tag === "Gap"
    ? { kind: "gap", reason: followed.reason }
    : { kind: "event", event: encode(followed.envelope) }

const subscriptionForm = objectOf<Subscription>({
  org_id: text,
  // `undefined` is more likely a forgotten id, and would deliver what happens in every project.
  project_id: leftOut(text),
  types: optional(texts),
  after: optional(text),
  signal: optional(signalForm)
})

/** A loop whose first step rejects. */
const failing = (error: unknown): AsyncIterable<HostItem> => ({
  [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(error) })
})

/** Fails with `NotFound` unless the organization, and the project in it, exist: nothing would ever be delivered. */
const found = (org_id: OrgId, project_id: ProjectId | null) =>
  Effect.gen(function* () {
    yield* orNotFound((yield* AccountStore).findOrganization(org_id))
    if (project_id !== null) yield* orNotFound((yield* ProjectStore).find(org_id, project_id))
  })

/** Ends of a loop from outside: the host's signal, which may be of another realm, and the end of the control plane. */
const endings = (signal: AbortSignal | undefined, closed: AbortSignal) => {
  const signals = signal === undefined ? [closed] : [closed, signal]
  const leave = (listener: () => void) => {
    for (const it of signals) it.removeEventListener("abort", listener)
  }
  return {
    over: () => signals.some(({ aborted }) => aborted),
    leave,
    /** Throws, having kept no listener, for a signal that takes none. */
    listen: (listener: () => void) => {
      try {
        for (const it of signals) it.addEventListener("abort", listener, { once: true })
      } catch {
        leave(listener)
        throw invalidInput("subscription.signal: it took no listener. Pass an AbortSignal.")
      }
    }
  }
}

export const makeEvents = (context: Context.Context<Services>, closed: AbortSignal): Events => {
  const follow = (subscription: Subscription, toPlaced: (error: unknown) => NarthexError): AsyncIterable<HostItem> => {
    requireForm("subscription", subscription, subscriptionForm)
    const { after = null, org_id, project_id, signal, types = [] } = subscription
    const scope = Scope.makeUnsafe()
    const request = {
      org_id: requestedId(OrgId, org_id),
      project_id: project_id === undefined ? null : requestedId(ProjectId, project_id),
      types,
      after
    }
    const ended = Deferred.makeUnsafe<void>()
    const release = () => Effect.runFork(Scope.close(scope, Exit.void))
    const end = () => {
      Deferred.doneUnsafe(ended, Exit.void)
      release()
    }
    const { leave, listen, over } = endings(signal, closed)
    listen(end)
    // Synchronous, so that an event of the caller's next statement is not missed.
    const followed = Effect.runSyncWith(context)(
      EventFollowing.use((following) => Scope.provide(following.follow(request), scope))
    )
    if (over()) end()

    const items = Stream.fromEffectDrain(found(request.org_id, request.project_id))
      .pipe(
        Stream.concat(followed),
        Stream.map(itemOf),
        Stream.mapError(toPlaced),
        Stream.interruptWhen(Deferred.await(ended)),
        Stream.ensuring(
          Effect.sync(() => {
            leave(end)
            release()
          })
        ),
        Stream.toAsyncIterableWith(context)
      )
      [Symbol.asyncIterator]()
    const finish = async (): Promise<IteratorResult<HostItem>> => {
      await items.return?.()
      return { done: true, value: undefined }
    }
    // Events are read ahead in batches. Events that the loop has not had at its end are not delivered.
    const iterator: AsyncIterator<HostItem> = {
      next: () => (over() ? finish() : items.next()),
      return: finish
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }
  const subscribe: Events["subscribe"] = (subscription) => {
    const site = siteOf(subscribe)
    const toPlaced = (error: unknown) => place(toFailure(error), "events.subscribe", site)
    try {
      return follow(subscription, toPlaced)
    } catch (error) {
      return failing(toPlaced(error))
    }
  }
  return { subscribe }
}
