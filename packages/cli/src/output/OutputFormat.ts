/**
 * `-o table|json|yaml` and `--json <fields>`, before or after the subcommand.
 *
 * Pitfall: reading them from the parsed command alone. A usage error has none, so `formatOf` also reads arguments.
 */
import { Flag, GlobalFlag } from "effect/cli"

const formats = ["table", "json", "yaml"] as const
export type Format = (typeof formats)[number]

export const OutputFormat = GlobalFlag.Setting("output")({
  flag: Flag.Literals("output", formats).pipe(
    Flag.withAlias("o"),
    Flag.withDescription("Output format; the default is table"),
    Flag.withMetavar("table|json|yaml"),
    Flag.withDefault("table")
  )
})

/** The fields of `--json id,name`. Empty: all of them. */
export const JsonFields = GlobalFlag.Setting("json")({
  flag: Flag.String("json").pipe(
    Flag.withMetavar("fields"),
    Flag.withDescription("Print only these fields as JSON, for example id,name; without a value, a list of them"),
    Flag.map((text) =>
      text
        .split(",")
        .map((field) => field.trim())
        .filter((field) => field !== "")
    ),
    Flag.filter(
      (fields) => fields.length > 0,
      () => "Expected the names of fields, separated by commas"
    ),
    Flag.withDefault([])
  )
})

/** The requirement of an effect that prints an answer or a failure. */
export type NeedsFormat = GlobalFlag.Setting.Identifier<"output" | "json" | "jq">

/** The format of arguments that the parser refused, as far as it can be read from them. */
export const formatOf = (args: ReadonlyArray<string>): Format => {
  const operands = args.indexOf("--")
  const flags = operands === -1 ? args : args.slice(0, operands)
  const chosen = flags.flatMap((arg, index) => {
    const [, attached] = /^(?:-o|--output)=(.+)$/.exec(arg) ?? []
    if (attached !== undefined) return [attached]
    return arg === "-o" || arg === "--output" ? [flags[index + 1] ?? ""] : []
  })
  const format = formats.find((known) => known === chosen.at(-1))
  if (format !== undefined && format !== "table") return format
  // A person who types --json alone reads which fields there are.
  const alone = flags.some((arg, index) => arg === "--json" && /^(?:-|$)/.test(flags[index + 1] ?? ""))
  return !alone && flags.some((arg) => /^--(?:json|jq)(?:=|$)/.test(arg)) ? "json" : "table"
}
