/** Event streams in a simulation, whose reader a test makes slow (docs/how-to/simulate.md). For `narthex/testing` alone. */
import type { SessionJson } from "@narthex/api"
import {
  Authentication,
  Authorization,
  EventStreams,
  ProjectId,
  requestedId,
  requirement,
  streamRightOf
} from "@narthex/core"
import { type ReceivedEvent, SimulatedConnection, type Subscriber } from "@narthex/core/testing"
import { Effect, Redacted, Scheduler } from "effect"
import { leftOut, objectOf, optional, text, texts, wholeFrom1 } from "../failures/forms.ts"
import { aCredential } from "./clientForms.ts"
import { requireForm } from "./inputs.ts"
import type { Run } from "./Run.ts"

export interface SimulatedFollowing {
  /** Only events of this project; left out: of the whole organization. */
  readonly project_id?: string
  /** Only these types; left out: all. */
  readonly types?: ReadonlyArray<string>
  /** The position to resume behind, as in the header `Last-Event-ID`. */
  readonly last_event_id?: string
  /** Bytes that the connection holds while its reader is paused. Default: 16 KiB. */
  readonly buffer?: number
}

/** A reader of an event stream, which reads as soon as something arrives, unless it is paused. */
export interface SimulatedSubscriber {
  /** Every event that it has read, in order; a gap is `resume.gap.v1`, an overflow `overflow.v1`. */
  readonly received: ReadonlyArray<ReceivedEvent>
  /** The reason that the server gave for the end of the stream; `undefined` while it gave none. */
  readonly closing: string | undefined
  /** Stops reading. Bytes that the server sends fill the connection's buffer. */
  readonly pause: () => void
  /** Reads what has arrived, and goes on reading. */
  readonly resume: () => void
  /** Resolves with the reason, such as `overflow`, when the connection is gone. */
  readonly ended: Promise<Effect.Success<Subscriber["ended"]>>
  /** Ends the stream from the reader's side. */
  readonly close: () => void
}

export type SimulatedFollow = (
  credential: string | Pick<SessionJson, "access_token">,
  options?: SimulatedFollowing
) => Promise<SimulatedSubscriber>

const followForm = objectOf<SimulatedFollowing>({
  project_id: leftOut(text),
  types: optional(texts),
  last_event_id: optional(text),
  buffer: optional(wholeFrom1)
})

const defaultBuffer = 16 * 1024

/** The stream, as the API opens it for this credential. */
const opened = Effect.fnUntraced(function* (token: string, options: SimulatedFollowing) {
  const { buffer = defaultBuffer, last_event_id, types = [] } = options
  const project_id = options.project_id === undefined ? null : requestedId(ProjectId, options.project_id)
  const caller = yield* (yield* Authentication).authenticate(Redacted.make(token, { label: "credential" }), null)
  const { admit, find } = yield* Authorization
  const ids = project_id === null ? {} : { project_id }
  const policy = requirement("read", ids)
  yield* Effect.andThen(admit(policy, caller, ids), find(policy, caller, ids))
  const dispatcher = (yield* Scheduler.Scheduler).makeDispatcher()
  const connection = new SimulatedConnection(buffer, (task) => dispatcher.scheduleTask(task, 0))
  const { close, ended } = yield* (yield* EventStreams).subscribe({
    ...streamRightOf(caller, project_id),
    types,
    bookmarks: false,
    last_event_id,
    open: () => connection
  })
  return { connection, close, ended }
})

export const makeSimulatedFollow =
  (run: Run): SimulatedFollow =>
  async (credential, options = {}) => {
    requireForm("credential", credential, aCredential)
    requireForm("options", options, followForm)
    const token = typeof credential === "string" ? credential : credential.access_token
    const { close, connection, ended } = await run(opened(token, options))
    return {
      received: connection.received,
      get closing() {
        return connection.closing
      },
      pause: () => connection.pause(),
      resume: () => connection.resume(),
      ended: run(ended),
      close: () => Effect.runFork(close)
    }
  }
