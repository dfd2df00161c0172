/**
 * The help of a command (docs/design/cli.md C30): its description, its usage, examples, subcommands in groups, its own
 * flags, and last the flags of every command, described in the help of `narthex` alone.
 */
import { Option } from "effect"
import type { HelpDoc } from "effect/cli"
import { padded, textWidth } from "./textWidth.ts"
import { words, wrapped, wrappedCommand } from "./wrapped.ts"

export interface HelpView {
  /** The columns of a line. */
  readonly width: number
  readonly bold: (text: string) => string
}

const margin = "  "

/** Longer terms have their description on the next line. */
const widestTerm = 30

export const renderHelp = (doc: HelpDoc.HelpDoc, { bold, width }: HelpView): string => {
  const section = (head: string, lines: ReadonlyArray<string>) =>
    lines.length === 0 ? [] : ["", bold(head), ...lines.map((line) => (line === "" ? "" : `${margin}${line}`))]
  const inner = width - margin.length
  const path = doc.commandPath ?? []
  const groups = doc.subcommands ?? []
  return [
    ...wrapped(words(doc.description), width),
    ...section("USAGE", wrapped(usage(doc), inner)),
    ...section(
      "EXAMPLES",
      (doc.examples ?? []).flatMap((example) => exampleLines(example, inner))
    ),
    ...groups.flatMap(({ commands, group }) =>
      section(
        group?.toUpperCase() ?? "COMMANDS",
        defined(
          commands.map(({ description, name, shortDescription }) => [name, shortDescription ?? description]),
          inner
        )
      )
    ),
    ...section(
      "ARGUMENTS",
      defined(
        (doc.args ?? []).map(({ description, name }) => [`<${name}>`, Option.getOrElse(description, () => "")]),
        inner
      )
    ),
    ...section("FLAGS", defined(flagLines([...doc.flags, ...(doc.inheritedFlags ?? [])]), inner)),
    ...section(
      "GLOBAL FLAGS",
      path.length <= 1
        ? defined(flagLines(doc.globalFlags ?? []), inner)
        : [
            ...wrapped((doc.globalFlags ?? []).filter(isShared).map(flagTerm), inner, margin),
            `${path[0]} --help describes them.`
          ]
    ),
    ...(groups.length === 0 ? [] : ["", ...wrapped(words(`Run ${path.join(" ")} <command> --help for more.`), width)])
  ].join("\n")
}

/** The version is that of the program, not of a command. */
const isShared = ({ name }: HelpDoc.FlagDoc) => name !== "version"

const usage = ({ args = [], commandPath = [], flags, subcommands = [] }: HelpDoc.HelpDoc): ReadonlyArray<string> => [
  ...commandPath,
  ...(subcommands.length === 0 ? [] : ["<command>"]),
  ...args.map(({ name, required, variadic }) => {
    const term = variadic ? `<${name}...>` : `<${name}>`
    return required ? term : `[${term}]`
  }),
  ...flags.filter(({ required }) => required).map((flag) => `--${flag.name}${valueOf(flag)}`),
  "[flags]"
]

const exampleLines = ({ command, description }: HelpDoc.ExampleDoc, width: number): ReadonlyArray<string> => [
  ...(description === undefined ? [] : wrapped(words(description), width - 2).map((line) => `# ${line}`)),
  ...wrappedCommand(command, width)
]

/** Angle brackets of a metavariable are put here, whether the flag's definition has them or not. */
const valueOf = ({ name, type }: HelpDoc.FlagDoc): string => {
  if (type === "boolean") return ""
  return ` <${name === "log-level" ? "level" : type.replace(/^<|>$/g, "")}>`
}

const flagTerm = (flag: HelpDoc.FlagDoc): string =>
  [...flag.aliases.filter((alias) => /^-[^-]$/.test(alias)), `--${flag.name}`].join(", ") + valueOf(flag)

const flagLines = (flags: ReadonlyArray<HelpDoc.FlagDoc>): ReadonlyArray<readonly [string, string]> => {
  const anyShort = flags.some(({ aliases }) => aliases.some((alias) => /^-[^-]$/.test(alias)))
  return flags.map((flag) => {
    const term = flagTerm(flag)
    const given = Option.getOrElse(flag.description, () => "")
    // The term lists them already: <table|json|yaml>.
    const description = term.includes("|") ? given.replace(/ \(choices: [^)]*\)$/, "") : given
    return [
      anyShort && term.startsWith("--") ? `    ${term}` : term,
      flag.required ? `${description} (required)` : description
    ]
  })
}

/** Terms and their descriptions in two columns. */
const defined = (
  entries: ReadonlyArray<readonly [term: string, description: string]>,
  width: number
): ReadonlyArray<string> => {
  const column = Math.max(0, ...entries.map(([term]) => textWidth(term)).filter((size) => size <= widestTerm)) + 3
  return entries.flatMap(([term, description]) => {
    const [first = "", ...rest] = wrapped(words(description), Math.max(20, width - column))
    const indent = " ".repeat(column)
    return textWidth(term) > widestTerm
      ? [term, ...[first, ...rest].map((line) => indent + line)]
      : [`${padded(term, column)}${first}`.trimEnd(), ...rest.map((line) => indent + line)]
  })
}
