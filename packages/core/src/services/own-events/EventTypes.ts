/**
 * The types of events that the host of an embedded control plane publishes itself (docs/design/events.md E47 to E51):
 * each has a name and a schema, declared once where the program is composed.
 */
import { Context, Data, Duration, Effect, Layer, Predicate, Schema } from "effect"
import { EventData } from "../../records/events/Envelope.ts"

/**
 * A schema of Effect, or of any library that follows Standard Schema 1 (standardschema.dev). The schema describes the
 * data as JSON. Its output is published, so members that it does not name are left out.
 */
export type EventSchema = Schema.Codec<unknown, unknown> | StandardSchema

/** The part of Standard Schema 1 that is used. */
export interface StandardSchema {
  readonly "~standard": {
    readonly version: 1
    readonly validate: (value: unknown) => StandardResult | Promise<StandardResult>
  }
}

type StandardResult =
  | { readonly value: unknown; readonly issues?: undefined }
  | { readonly issues: ReadonlyArray<StandardIssue> }

interface StandardIssue {
  readonly message: string
  readonly path?: ReadonlyArray<PropertyKey | { readonly key: PropertyKey }> | undefined
}

/** A host may not publish under a declared name, or the name has no schema. The program does not start. */
export class MalformedEventType extends Data.TaggedError("MalformedEventType")<{ readonly message: string }> {}

/** The first words of the control plane's own types, of this version and of later ones. */
export const reservedWords: ReadonlySet<string> = new Set([
  ...["operation", "project", "branch", "endpoint", "compute", "region", "timeline"],
  ...["organization", "membership", "invitation", "session", "api_key", "credential", "ip_allowlist", "quota"],
  ...["audit", "billing", "internal", "resume", "overflow", "error", "webhook", "narthex"]
])

const form = /^[a-z][a-z0-9_]*(?:\.[a-z][a-z0-9_]*)+\.v[1-9][0-9]{0,3}$/

/** Characters of a type's name, at most. */
const longestType = 100

/** The mistake in the name, as a sentence; `undefined`: none. */
export const problemOfType = (type: string): string | undefined => {
  if (type.length > longestType || !form.test(type))
    return `The event type "${type.slice(0, longestType)}" is malformed. It has at least two words of lower-case letters, digits and underscores, then a version, separated by dots, such as "invoice.paid.v1", and ${longestType} characters at most.`
  const [first = ""] = type.split(".", 1)
  return reservedWords.has(first)
    ? `The event type "${type}" begins with "${first}", which is reserved for events of the control plane.`
    : undefined
}

/** Returns the data as the schema decodes it, or fails with the reason why the schema refuses it. */
export type Validation = (data: unknown) => Effect.Effect<EventData, string>

const path = ({ message, path = [] }: StandardIssue) => {
  const at = path.map((part) => String(Predicate.isObject(part) && "key" in part ? part.key : part)).join(".")
  return at === "" ? message : `${at}: ${message}`
}

/** How long a validation may take. */
const patience = Duration.seconds(5)

const byStandard =
  (schema: StandardSchema) =>
  (data: unknown): Effect.Effect<unknown, string> =>
    Effect.flatMap(
      Effect.promise(async () => schema["~standard"].validate(data)),
      (result) =>
        result.issues === undefined ? Effect.succeed(result.value) : Effect.fail(result.issues.map(path).join("; "))
    ).pipe(
      Effect.timeoutOrElse({ duration: patience, orElse: () => Effect.fail("The schema did not answer in time.") })
    )

const byEffect = (schema: Schema.Codec<unknown, unknown>) => {
  const [decode, encode] = [Schema.decodeUnknownEffect(schema), Schema.encodeEffect(schema)]
  return (data: unknown): Effect.Effect<unknown, string> =>
    Effect.mapError(Effect.flatMap(decode(data), encode), ({ message }) => message)
}

const isData = Schema.is(EventData)

/** Checks the declaration, because a program without types may have declared something else. */
const isSchema = (declared: unknown): declared is EventSchema =>
  Schema.isSchema(declared) ||
  (Predicate.hasProperty(declared, "~standard") &&
    Predicate.hasProperty(declared["~standard"], "validate") &&
    Predicate.isFunction(declared["~standard"].validate))

const validation = (schema: EventSchema): Validation => {
  const check = Schema.isSchema(schema) ? byEffect(schema) : byStandard(schema as StandardSchema)
  return (data) =>
    Effect.filterOrFail(check(data), isData, () => "The data of an event is an object, and all its values are JSON.")
}

export const EventTypes = Context.Reference<ReadonlyMap<string, Validation>>(
  "@narthex/core/services/own-events/EventTypes",
  {
    defaultValue: () => new Map()
  }
)

/** Declares the types that this program publishes, by name. */
export const layerEventTypes = (
  declared: Readonly<Record<string, EventSchema>>
): Layer.Layer<never, MalformedEventType> =>
  Layer.effect(
    EventTypes,
    Effect.forEach(Object.entries(declared), ([type, schema]) => {
      const message =
        problemOfType(type) ??
        (isSchema(schema)
          ? undefined
          : `The event type "${type}" has no schema. Declare it with one of Effect or of a library with Standard Schema, such as Zod.`)
      return message === undefined
        ? Effect.succeed([type, validation(schema)] as const)
        : Effect.fail(new MalformedEventType({ message }))
    }).pipe(Effect.map((entries) => new Map(entries)))
  )
