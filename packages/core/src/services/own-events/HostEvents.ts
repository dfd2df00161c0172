/**
 * Events of the host (docs/design/events.md E47 to E51): published through the one log, in order with all others, to the
 * streams and the history of their organization and project.
 *
 * Publishing ends at the log. Whether a caller may read an event is decided where it is read.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { isStorable, OrgId, ProjectId, requestedId } from "../../Ids.ts"
import { type NotFound, orNotFound } from "../../Refusals.ts"
import { AccountStore } from "../../records/accounts/AccountStore.ts"
import type { EventData } from "../../records/events/Envelope.ts"
import { EventSettings } from "../../records/events/EventSettings.ts"
import { ProjectStore } from "../../records/projects/ProjectStore.ts"
import type { StorageError } from "../../StorageError.ts"
import { Transaction } from "../../Transaction.ts"
import { EventTypes } from "./EventTypes.ts"

/** An event as the host states it. */
export interface HostEvent {
  readonly org_id: string
  /** Left out, or `null`: an event of the whole organization, which streams of a project do not have. */
  readonly project_id?: string | null | undefined
  /** A declared type, such as `invoice.paid.v1`. */
  readonly type: string
  /** By the schema of the type. */
  readonly data: unknown
}

export class EventRefused extends Schema.TaggedError<EventRefused>()("EventRefused", {
  code: Schema.Literals(["event_type_undeclared", "event_data_invalid", "event_data_too_large"]),
  reason: Schema.String,
  /** The exception of the host's schema, or of reading the data. */
  cause: Schema.optionalKey(Schema.Defect())
}) {
  override get message() {
    return this.reason
  }
}

export class HostEvents extends Context.Service<
  HostEvents,
  {
    /**
     * Commits the event; inside `Transaction.run` or `Transaction.within` as a part of that transaction. An organization
     * or project that does not exist, or a project of another organization, is `NotFound`. An event has no id before it
     * is committed.
     */
    readonly publish: (event: HostEvent) => Effect.Effect<void, EventRefused | NotFound | StorageError>
  }
>()("@narthex/core/services/own-events/HostEvents") {
  static readonly layer: Layer.Layer<HostEvents, never, AccountStore | ProjectStore | Transaction> = Layer.effect(
    HostEvents,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const projects = yield* ProjectStore
      const { emit, run } = yield* Transaction

      const valid = Effect.fnUntraced(function* ({ data, type }: HostEvent) {
        const validate = (yield* EventTypes).get(type)
        if (validate === undefined) {
          const reason = `The event type "${type.slice(0, 100)}" is not declared. Declare it with its schema where the control plane is composed.`
          return yield* new EventRefused({ code: "event_type_undeclared", reason })
        }
        yield* readable(data)
        const checked = yield* Effect.suspend(() => validate(data)).pipe(
          Effect.mapError((reason) => new EventRefused({ code: "event_data_invalid", reason })),
          Effect.catchDefect((cause) => {
            const reason = `The schema of the event type "${type}" failed instead of answering. The cause says why; correct the schema.`
            return Effect.fail(new EventRefused({ code: "event_data_invalid", reason, cause }))
          })
        )
        const unstorable = pathOfUnstorable(checked)
        if (unstorable !== undefined) {
          const reason = `The data of the event has text that cannot be stored at ${unstorable}: a NUL character, or half of a surrogate pair. Encode it, for example as base64.`
          return yield* new EventRefused({ code: "event_data_invalid", reason })
        }
        const most = (yield* EventSettings).event_bytes - envelopeBytes
        if (bytesOf(checked) > most) {
          const reason = `The data of the event is larger than ${most} bytes of JSON. Publish a reference to it instead.`
          return yield* new EventRefused({ code: "event_data_too_large", reason })
        }
        return checked
      })

      return HostEvents.of({
        publish: Effect.fn("HostEvents.publish")(function* (event) {
          const data = yield* valid(event)
          const org_id = requestedId(OrgId, event.org_id)
          const { project_id = null } = event
          const step = Effect.gen(function* () {
            yield* orNotFound(accounts.holdOrganization(org_id))
            const project =
              project_id === null ? null : yield* orNotFound(projects.hold(org_id, requestedId(ProjectId, project_id)))
            yield* emit({ org_id, project_id: project?.id ?? null, type: event.type, source, internal: false, data })
          })
          yield* run(step)
        })
      })
    })
  )
}

/** The source of every event of the host: the control plane has none of this name. */
const source = "host"

/** Room for everything of a frame but the data (E34): ids, two times the type, region, time, names of members. */
const envelopeBytes = 2_048

const deepest = 64

/** How many values data may have before its schema has seen it. One object that is named often counts each time. */
const mostValues = 1_000_000

/** Why the data cannot be read to its end. */
const unreadable = (data: unknown): EventRefused | undefined => {
  let values = 0
  const exceeds = (value: unknown, levels: number): boolean =>
    typeof value === "object" &&
    value !== null &&
    (levels === 0 || Object.values(value).some((part) => ++values > mostValues || exceeds(part, levels - 1)))
  try {
    if (!exceeds(data, deepest)) return undefined
  } catch (cause) {
    const reason = "The data of the event cannot be read. The cause says why; publish plain values."
    return new EventRefused({ code: "event_data_invalid", reason, cause })
  }
  return values > mostValues
    ? new EventRefused({
        code: "event_data_too_large",
        reason: `The data of the event has more than ${mostValues} values.`
      })
    : new EventRefused({
        code: "event_data_invalid",
        reason: `The data of the event is nested more than ${deepest} levels deep.`
      })
}

/** Before the schema: its library may read the data without a bound. */
const readable = (data: unknown) =>
  Effect.suspend(() => {
    const refused = unreadable(data)
    return refused === undefined ? Effect.void : Effect.fail(refused)
  })

/** Where the first text is, a name or a value, that storage cannot hold. */
const pathOfUnstorable = (value: unknown, path = "data"): string | undefined => {
  if (typeof value === "string") return isStorable(value) ? undefined : path
  if (typeof value !== "object" || value === null) return undefined
  for (const [name, part] of Object.entries(value)) {
    if (!isStorable(name)) return `a name in ${path}`
    const found = pathOfUnstorable(part, `${path}.${name}`)
    if (found !== undefined) return found
  }
  return undefined
}

const bytesOf = (data: EventData): number => new TextEncoder().encode(JSON.stringify(data)).length
