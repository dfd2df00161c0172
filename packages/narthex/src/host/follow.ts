/** The events of an organization as an async iterable (docs/design/library.md N29–N32). */
import type { ClientEvent } from "@narthex/api"
import { Envelope, EventFollowing, type Followed, OrgId, ProjectId, requestedId } from "@narthex/core"
import { type Context, Deferred, Effect, Exit, Schema, Scope, Stream } from "effect"
import type { Services } from "../composition/layerControlPlane.ts"
import { toFailure } from "../failures/failures.ts"

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
   * Follows events from the moment of this call. The loop reads at its own pace: nothing is lost that the log retains, and
   * what it does not is a `gap`. It ends with `signal`, with `break`, and when the control plane closes.
   */
  readonly subscribe: (subscription: Subscription) => AsyncIterable<HostItem>
}

const encode = Schema.encodeSync(Envelope)

const itemOf = (followed: Followed): HostItem =>
  followed._tag === "Gap"
    ? { kind: "gap", reason: followed.reason }
    : { kind: "event", event: encode(followed.envelope) }

export const makeEvents = (context: Context.Context<Services>, closed: AbortSignal): Events => ({
  subscribe: ({ after = null, org_id, project_id, signal, types = [] }) => {
    const scope = Scope.makeUnsafe()
    const request = {
      org_id: requestedId(OrgId, org_id),
      project_id: project_id === undefined ? null : requestedId(ProjectId, project_id),
      types,
      after
    }
    // Synchronous, so that an event of the caller's next statement is not missed.
    const followed = Effect.runSyncWith(context)(
      EventFollowing.use((following) => Scope.provide(following.follow(request), scope))
    )
    const ended = Deferred.makeUnsafe<void>()
    const ends = signal === undefined ? closed : AbortSignal.any([signal, closed])
    const release = () => Effect.runFork(Scope.close(scope, Exit.void))
    const end = () => {
      Deferred.doneUnsafe(ended, Exit.void)
      release()
    }
    if (ends.aborted) end()
    else ends.addEventListener("abort", end, { once: true })

    const items = followed
      .pipe(
        Stream.map(itemOf),
        Stream.mapError(toFailure),
        Stream.interruptWhen(Deferred.await(ended)),
        Stream.ensuring(
          Effect.sync(() => {
            ends.removeEventListener("abort", end)
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
    // Events are read ahead in batches. Those that the loop has not had when it is ended are not delivered.
    const iterator: AsyncIterator<HostItem> = {
      next: () => (ends.aborted ? finish() : items.next()),
      return: finish
    }
    return { [Symbol.asyncIterator]: () => iterator }
  }
})
