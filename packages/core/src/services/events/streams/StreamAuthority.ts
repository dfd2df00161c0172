/**
 * Port: may this principal still follow this stream? Checked when a stream opens and from time to time while it is open
 * (docs/design/events.md E29): the backstop behind revocations, which end streams at once.
 */
import { Context, type Effect } from "effect"
import type { StorageError } from "../../../StorageError.ts"
import type { StreamAccess } from "./StreamAccess.ts"

export class StreamAuthority extends Context.Service<
  StreamAuthority,
  {
    /** Reads the store, not a cache: changes committed before the call count. */
    readonly permits: (access: StreamAccess) => Effect.Effect<boolean, StorageError>
  }
>()("@narthex/core/events/StreamAuthority") {}
