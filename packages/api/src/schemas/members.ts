/**
 * The rules that members of requests share (docs/design/api.md, Requests): `null` is left out, text is trimmed before
 * it is counted, and it is counted in code points.
 *
 * Ids in bodies get no rule at all: malformed, foreign and invented ones are one answer, so all of them must reach the
 * look-up.
 */
import { Option, Predicate, Redacted, Schema, SchemaGetter, SchemaTransformation } from "effect"
import type { BranchId, OrgId, ProjectId } from "@narthex/core"

/** An optional member: an explicit `null` means that it was left out. */
export const optionalNullable = <S extends Schema.Top>(schema: S) =>
  Schema.optionalKey(Schema.NullOr(schema)).pipe(
    Schema.decodeTo(Schema.optionalKey(Schema.toType(schema)), {
      decode: SchemaGetter.transformOptional<S["Type"], S["Type"] | null>((given) =>
        Option.filter(given, Predicate.isNotNull)
      ),
      encode: SchemaGetter.transformOptional<S["Type"] | null, S["Type"]>((given) => given)
    })
  )

/** A body of which every member is optional may be missing altogether. */
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

const codePoints = (text: string) => [...text].length

/** Text without white space around it, of `minimum` to `maximum` code points. */
export const trimmed = (minimum: number, maximum: number) =>
  Schema.String.pipe(Schema.decodeTo(Schema.String, SchemaTransformation.trim())).check(
    Schema.makeFilter((text) => {
      const length = codePoints(text)
      if (!text.isWellFormed()) return "Expected well-formed Unicode"
      return (length >= minimum && length <= maximum) || `Expected ${minimum} to ${maximum} characters`
    })
  )

const printable = Schema.makeFilter((text: string) => !/\p{Cc}/u.test(text) || "Expected no control characters")

/** Names of projects and organizations; not unique. */
export const Name = trimmed(1, 128).check(printable)
/** Names of API keys; not unique. */
export const KeyName = trimmed(1, 64).check(printable)
/** Names of branches; unique in their project. */
export const BranchName = trimmed(1, 63).check(Schema.isPattern(/^[A-Za-z][A-Za-z0-9_./-]*$/u))
/** Why a network is listed. A NUL is refused, because Postgres cannot hold one. */
export const Label = trimmed(0, 256).check(
  Schema.makeFilter((text) => !text.includes("\u0000") || "Expected no NUL character")
)

const wholeNumber = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

export const ExpiresInDays = wholeNumber(1, 3650)
export const GraceSeconds = wholeNumber(0, 86_400)
/** Of rules, branches and credentials: up to ten years. */
export const TtlSeconds = wholeNumber(1, 315_360_000)
/** Of sandboxes: up to a day. */
export const SandboxTtlSeconds = wholeNumber(1, 86_400)

export const AnyOrgId: Schema.Codec<OrgId, string> = Schema.String.pipe(Schema.brand("OrgId"))
export const AnyProjectId: Schema.Codec<ProjectId, string> = Schema.String.pipe(Schema.brand("ProjectId"))
export const AnyBranchId: Schema.Codec<BranchId, string> = Schema.String.pipe(Schema.brand("BranchId"))

/** A secret in a body: text on the wire, never in a log. */
export const Secret = Schema.RedactedFromValue(Schema.String)

/** Text, of which anything else is none: for calls that answer every wrong input alike and do not say what is missing. */
export const AnyText = Schema.optionalKey(Schema.Unknown).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.String), {
    decode: SchemaGetter.transformOptional<string, unknown>((given) => Option.filter(given, Predicate.isString)),
    encode: SchemaGetter.transformOptional<unknown, string>((given) => given)
  })
)

/** The same for a secret. */
export const AnySecret = Schema.optionalKey(Schema.Unknown).pipe(
  Schema.decodeTo(Schema.optionalKey(Schema.Redacted(Schema.String)), {
    decode: SchemaGetter.transformOptional<Redacted.Redacted, unknown>((given) =>
      Option.map(Option.filter(given, Predicate.isString), (text) => Redacted.make(text))
    ),
    encode: SchemaGetter.transformOptional<unknown, Redacted.Redacted>((given) => Option.map(given, Redacted.value))
  })
)
