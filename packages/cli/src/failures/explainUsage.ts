/** Turns what the parser of arguments refuses into the form of every other failure (docs/design/cli.md C13). */
import type { CliError } from "effect/cli"
import { type Explanation, local } from "./explain.ts"

/**
 * `path`: the words of the command, `narthex` first. `errors` are not empty. `fields`: what `--json` of the command chooses
 * from, as far as it is known.
 */
export const explainUsage = (
  path: ReadonlyArray<string>,
  errors: ReadonlyArray<CliError.NonShowHelpErrors>,
  fields: ReadonlyArray<string>
): Explanation => {
  const command = path.join(" ")
  const near = [...new Set(errors.flatMap(suggestionsOf))]
  const help = `${command} --help shows the usage`
  return local(
    "usage",
    [...new Set(errors.map((error) => sentenceOf(error, command, fields)))].join(" "),
    near.length === 0 ? help : `did you mean ${near.join(" or ")}? ${help}`
  )
}

const suggestionsOf = (error: CliError.NonShowHelpErrors): ReadonlyArray<string> =>
  error._tag === "UnrecognizedOption" || error._tag === "UnknownSubcommand" ? error.suggestions : []

const sentenceOf = (error: CliError.NonShowHelpErrors, command: string, fields: ReadonlyArray<string>): string => {
  switch (error._tag) {
    case "UnrecognizedOption":
      return `${command} has no flag ${error.option}.`
    case "UnknownSubcommand":
      return `${command} has no command "${error.subcommand}".`
    case "MissingOption":
      return `--${error.option} is missing.`
    case "MissingArgument":
      return `<${error.argument}> is missing.`
    case "UnexpectedArgument":
      return `Unexpected ${error.arguments.length === 1 ? "argument" : "arguments"}: ${error.arguments
        .map((value) => JSON.stringify(value))
        .join(", ")}.`
    case "InvalidValue": {
      if (error.option === "json" && fields.length > 0)
        return `--json needs the names of fields, separated by commas. ${command} has ${fields.join(", ")}.`
      const name = error.kind === "argument" ? `<${error.option}>` : `--${error.option}`
      const found = error.value === "" ? `${name} has no value.` : `${name} cannot be ${JSON.stringify(error.value)}.`
      return `${found} ${ended(expectation(error.expected))}`
    }
    default:
      return ended(error.message)
  }
}

const expectation = (expected: string) => {
  if (/^Expected\b/.test(expected)) return expected
  return `Expected ${expected.includes(" | ") ? `one of ${expected.replaceAll(" | ", ", ")}` : expected}`
}

const ended = (sentence: string) => (/[.?!]$/.test(sentence) ? sentence : `${sentence}.`)
