/**
 * Flags and arguments of commands. Values that the API would refuse are refused here with the API's own sentence, before
 * anything is sent (docs/design/cli.md C24).
 */
import { optionalNullable, SuspendTimeout, TtlSeconds } from "@narthex/api"
import { Effect, Option, Result, Schema, SchemaIssue } from "effect"
import { Argument, CliError, Flag } from "effect/cli"
import { mayBeUuid } from "./shortId.ts"

const format = SchemaIssue.makeFormatterStandardSchemaV1()

/** The sentence with which the API refuses the value; success for a value that it accepts. */
const judge = <A, I>(schema: Schema.Codec<A, I>) => {
  const decode = Schema.decodeUnknownResult(schema)
  return (value: I): Result.Result<A, string> =>
    Result.mapError(decode(value), (error) => format(error.issue).issues[0]?.message ?? "Expected another value")
}

/** A flag whose text becomes a member of a request that has this schema. */
export const fittingFlag = <A>(name: string, schema: Schema.Codec<A, string>): Flag.Flag<A> => {
  const judged = judge(schema)
  return Flag.mapEffect(Flag.String(name), (value) =>
    Effect.fromResult(Result.mapError(judged(value), (expected) => invalid(name, "flag", value, expected)))
  )
}

/** The same for an argument. */
export const fittingArgument = <A>(name: string, schema: Schema.Codec<A, string>): Argument.Argument<A> => {
  const judged = judge(schema)
  return Argument.mapEffect(Argument.String(name), (value) =>
    Effect.fromResult(Result.mapError(judged(value), (expected) => invalid(name, "argument", value, expected)))
  )
}

const invalid = (option: string, kind: "flag" | "argument", value: string, expected: string) =>
  new CliError.InvalidValue({ option, kind, value, expected })

/**
 * An argument that names something: its id, name or address. White space around it is removed, because pasted text often
 * has some.
 */
export const pastedArgument = (name: string): Argument.Argument<string> =>
  Argument.map(Argument.String(name), (text) => text.trim())

/** The same for a flag. */
export const pastedFlag = (name: string): Flag.Flag<string> => Flag.map(Flag.String(name), (text) => text.trim())

/** The id of something that has no name: a UUID, its beginning, or the form of a narrow table. */
export const idArgument = (name: string, what: string, list: string): Argument.Argument<string> =>
  pastedArgument(name).pipe(
    Argument.withDescription(`The id of the ${what}, or its beginning`),
    Argument.filter(mayBeUuid, () => `Expected the id of the ${what}, a UUID; ${list} shows the ids`)
  )

const aProjectFlag = (description: string) =>
  pastedFlag("project").pipe(
    Flag.withAlias("p"),
    Flag.withMetavar("project"),
    Flag.withDescription(description),
    Flag.optional
  )

/** `--project <name or id>`; left out: the default project. */
export const projectFlag = aProjectFlag(
  "The name or id of the project. Default: NARTHEX_PROJECT, .narthex, the context's project"
)

/** `--project <name or id>`; left out: the whole organization. */
export const onlyProjectFlag = aProjectFlag(
  "Only of this project, by its name or id. Default: of the whole organization"
)

/** `--branch <name or id>`. */
export const branchFlag = pastedFlag("branch").pipe(
  Flag.withAlias("b"),
  Flag.withMetavar("branch"),
  Flag.withDescription("The name or id of the branch. Default: the branch of .narthex, else the default branch"),
  Flag.optional
)

/** `--branch <name or id>` of a list; left out: every branch. */
export const onlyBranchFlag = pastedFlag("branch").pipe(
  Flag.withAlias("b"),
  Flag.withMetavar("branch"),
  Flag.withDescription("Only of this branch, by its name or id; a deleted branch by its id"),
  Flag.optional
)

/** `--endpoint <id, host or branch>` of a list; left out: every endpoint. */
export const onlyEndpointFlag = pastedFlag("endpoint").pipe(
  Flag.withMetavar("endpoint"),
  Flag.withDescription("Only of this endpoint: its id or host, or the name of the branch that has only this one"),
  Flag.optional
)

export const projectArgument = pastedArgument("project").pipe(Argument.withDescription("The name or id of the project"))

export const branchArgument = pastedArgument("branch").pipe(Argument.withDescription("The name or id of the branch"))

export const endpointArgument = pastedArgument("endpoint").pipe(
  Argument.withDescription("The endpoint: its id or host, or the name of the branch that has only this one")
)

/** The access of a new Postgres role. */
export const accessFlag = Flag.Literals("access", ["read_write", "read_only"]).pipe(
  Flag.withDescription("What the new Postgres role may do. Default: read_write"),
  Flag.withDefault("read_write")
)

const units: Readonly<Record<string, number>> = { "": 1, s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 }

/** A duration in seconds: `90`, `30m`, `8h`, `7d`, `2w`. A number without a unit is seconds. `NaN`: no duration. */
const parseDuration = (text: string): number => {
  const [, count, unit] = /^(\d{1,9})([smhdw]?)$/.exec(text.trim()) ?? []
  return Number(count) * (units[unit ?? ""] ?? Number.NaN)
}

const judgeSuspension = judge(optionalNullable(SuspendTimeout))

const durationForm = "Expected a duration such as 90 (seconds), 30m, 8h or 7d"

/** A flag that takes a duration and has seconds. The API's member has this schema. */
export const durationFlag = (name: string, seconds: Schema.Codec<number, number>): Flag.Flag<number> => {
  const judged = judge(seconds)
  return Flag.String(name).pipe(
    Flag.withMetavar("duration"),
    Flag.mapEffect((text) => {
      const parsed = parseDuration(text)
      const found = Number.isNaN(parsed)
        ? Result.fail(durationForm)
        : Result.mapError(judged(parsed), (expected) => `${durationForm}. In seconds: ${expected}`)
      return Effect.fromResult(Result.mapError(found, (expected) => invalid(name, "flag", text, expected)))
    })
  )
}

/** `--suspend-after <duration|never>`, in seconds; -1: never. */
export const suspendFlag = Flag.String("suspend-after").pipe(
  Flag.withMetavar("duration|never"),
  Flag.withDescription("Suspend the compute after this time without a connection: 90 (seconds), 5m, 1h, never"),
  Flag.mapEffect((text) => {
    const parsed = text.trim() === "never" ? -1 : parseDuration(text)
    const found = Number.isNaN(parsed)
      ? Result.fail(`${durationForm}, or never`)
      : Result.mapError(judgeSuspension(parsed), (expected) => `In seconds: ${expected}`)
    return Effect.fromResult(Result.mapError(found, (expected) => invalid("suspend-after", "flag", text, expected)))
  })
)

/** `--size <name>` */
export const sizeFlag = pastedFlag("size").pipe(
  Flag.withMetavar("name"),
  Flag.withDescription("The size of the endpoint: narthex size list"),
  Flag.optional
)

/** `--ttl <duration>`, in seconds: up to ten years. */
export const ttlFlag = (description: string) =>
  durationFlag("ttl", TtlSeconds).pipe(Flag.withDescription(description), Flag.optional)

/** `--yes`: confirms without a question. */
export const yesFlag = Flag.Boolean("yes").pipe(
  Flag.withAlias("y"),
  Flag.withoutNegation,
  Flag.withDescription("Confirm without being asked"),
  Flag.withDefault(false)
)

/** `--limit` and `--cursor` of a long list. */
export const partFlags = (limit: number) => ({
  limit: Flag.Int("limit").pipe(
    Flag.withDescription(`How many to list. Default: ${limit}`),
    Flag.filter(
      (count) => count >= 1,
      () => "Expected 1 or more"
    ),
    Flag.withDefault(limit)
  ),
  cursor: pastedFlag("cursor").pipe(
    Flag.withDescription("Continue after an earlier answer: its pagination.next_cursor (-o json)"),
    Flag.optional
  )
})

/** The members of an optional value, for a request that leaves out what was not given. */
export const given = <Name extends string, A>(name: Name, value: Option.Option<A>): { readonly [K in Name]?: A } =>
  Option.match(value, {
    onNone: () => ({}),
    // A computed name is widened to `string`.
    onSome: (some) => ({ [name]: some }) as { readonly [K in Name]?: A }
  })
