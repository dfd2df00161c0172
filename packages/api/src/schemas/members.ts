/**
 * The schemas that members of requests share (docs/design/api.md, Requests): `null` counts as left out, and text is
 * trimmed and then counted in code points.
 *
 * Ids in bodies are not checked here. Malformed, foreign and unknown ids must get the same answer, so all of them reach
 * the look-up.
 */
import type { BranchId, OrgId, ProjectId } from "@narthex/core"
import { Option, Predicate, Redacted, Schema, SchemaGetter, SchemaTransformation } from "effect"

/** An optional member for which `null` means the same as leaving it out. */
export const optionalNullable = <S extends Schema.Top>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema)).pipe(
    Schema.decodeTo(Schema.optionalKey(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional<S["Type"], S["Type"] | null>((given) =>
        Option.filter(given, Predicate.isNotNull)
      ),
      encode: SchemaGetter.transformOptional<S["Type"] | null, S["Type"]>((given) => given)
    })
  )

/**
 * A member of an answer that servers of an older version leave out, which means `null`. The type says that it is there,
 * because every decoded answer has it.
 */
export const nullBefore = <S extends Schema.Top>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema)).pipe(
    Schema.decodeTo(Schema.NullOr(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional<S["Type"] | null, S["Type"] | null>(Option.orElseSome(() => null)),
      encode: SchemaGetter.passthrough<S["Type"] | null>()
    })
  ) as unknown as Schema.NullOr<S>

/** A body whose members are all optional, so that the body itself may be missing. */
export const optionalBody = <S extends Schema.Top & { readonly Type: object }>(body: S, empty: S["Type"]) =>
  [
    body,
    Schema.Null.pipe(
      Schema.decodeTo(
        Schema.toType(body),
        SchemaTransformation.transform<S["Type"], null>({ decode: () => empty, encode: () => null })
      )
    )
  ] as const

/** Text of a form of its own, an address or an id, that people paste: white space around it does not count. */
export const Pasted = Schema.String.pipe(Schema.decodeTo(Schema.String, SchemaTransformation.trim()))

const codePoints = (text: string) => [...text].length

/** Text without white space around it, of `minimum` to `maximum` code points. */
export const trimmed = (minimum: number, maximum: number) =>
  Pasted.check(
    Schema.makeFilter((text) => {
      const length = codePoints(text)
      if (!text.isWellFormed()) return "Expected well-formed Unicode"
      return (length >= minimum && length <= maximum) || `Expected ${minimum} to ${maximum} characters`
    })
  )

const unprintable = /[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u

/** Whether text has no control character, line separator, and mark or override of the direction of text. */
export const isPrintable = (text: string): boolean => !unprintable.test(text)

const printable = Schema.makeFilter((text: string) => isPrintable(text) || "Expected no control characters")

/** Names of projects and organizations; not unique. */
export const Name = trimmed(1, 128).check(printable)
/** Names of API keys; not unique. */
export const KeyName = trimmed(1, 64).check(printable)
/** Names of branches; unique in their project. */
export const BranchName = trimmed(1, 63).check(Schema.isPattern(/^[A-Za-z][A-Za-z0-9_./-]*$/u))
/** Why a network is listed. */
export const Label = trimmed(0, 256).check(printable)

const wholeNumber = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const ExpiresInDays = wholeNumber(1, 3650)
export const GraceSeconds = wholeNumber(0, 86_400)
/** The lifetime of rules, branches and credentials, in seconds: up to ten years. */
export const TtlSeconds = wholeNumber(1, 315_360_000)
/** The lifetime of sandboxes, in seconds: up to a day. */
export const SandboxTtlSeconds = wholeNumber(1, 86_400)

export const AnyOrgId: Schema.Codec<OrgId, string> = Schema.String.pipe(Schema.brand("OrgId"))
export const AnyProjectId: Schema.Codec<ProjectId, string> = Schema.String.pipe(Schema.brand("ProjectId"))
export const AnyBranchId: Schema.Codec<BranchId, string> = Schema.String.pipe(Schema.brand("BranchId"))

/** A secret in a body: text on the wire, never in a log. */
export const Secret = Schema.RedactedFromValue(Schema.String)

/**
 * Text; a value of another type counts as left out. For calls that answer every invalid input alike, so that the answer
 * does not say what was wrong.
 */
export const AnyText = Schema.optionalKey(Schema.Unknown).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.String), {
    decode: SchemaGetter.transformOptional<string, unknown>((given) => Option.filter(given, Predicate.isString)),
    encode: SchemaGetter.transformOptional<unknown, string>((given) => given)
  })
)

/** The same for secrets. */
export const AnySecret = Schema.optionalKey(Schema.Unknown).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Redacted(Schema.String)), {
    decode: SchemaGetter.transformOptional<Redacted.Redacted, unknown>((given) =>
      Option.map(Option.filter(given, Predicate.isString), (text) => Redacted.make(text))
    ),
    encode: SchemaGetter.transformOptional<unknown, Redacted.Redacted>((given) => Option.map(given, Redacted.value))
  })
)
