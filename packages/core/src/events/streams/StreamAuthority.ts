/**
 * Port: may this principal still follow this stream? Looked up when a stream opens and again and again while it
 * lives: the backstop behind revocations, which end streams at once (docs/design/events.md E28–E33).
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../../StorageError.ts"
import type { StreamAccess } from "./StreamAccess.ts"

export class StreamAuthority extends Context.Service<
  StreamAuthority,
  {
    /** Answers from the store, not from a cache: what was committed before the call counts. */
    readonly permits: (access: StreamAccess) => Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/events/StreamAuthority") {}
