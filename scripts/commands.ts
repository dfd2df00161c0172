/**
 * Every command of the command line, with its arguments and flags: the page `docs/commands.md`. It reads the whole tree,
 * as completion does, so a command or a flag that is added is on the page.
 */
import { environmentTable, exitCodes, globalFlags, narthex } from "@narthex/cli"
import { Completions } from "effect/cli"
import { markdownTable } from "./pages/markdownTable.ts"

type Argument = Completions.ArgumentDescriptor
type CommandOfTree = Completions.CommandDescriptor
type Flag = Completions.FlagDescriptor

/** The text between `<!-- name -->` and `<!-- /name -->` in the README of the command line, and on the page. */
export const commandLineTables = {
  environment: markdownTable(
    ["Variable", "Default", "Meaning"],
    environmentTable.map(({ fallback, meaning, name }) => [`\`${name}\``, fallback, meaning])
  ),
  "exit-codes": markdownTable(
    ["Code", "Meaning"],
    Object.values(exitCodes).map(({ code, meaning }) => [code, meaning])
  )
}

/** `Default: …` is the end of a description, because help has one column for both. */
const described = (description = ""): readonly [meaning: string, fallback: string] => {
  const [, meaning = description, fallback = ""] =
    /^(.*?)[.;] (?:Default:|the default is) (.*)$/s.exec(description) ?? []
  return [inCell(meaning), inCell(fallback)]
}

/** `<name or id>` in a sentence is not a tag of HTML. */
const inCell = (text: string) => text.replaceAll("<", "&lt;")

const placeholders: Readonly<Record<Exclude<Flag["type"]["_tag"], "Boolean" | "Choice">, string>> = {
  String: "text",
  Int: "number",
  Finite: "number",
  Date: "date",
  Path: "path"
}

const valueOf = ({ type }: Flag) => {
  if (type._tag === "Boolean") return ""
  return ` <${type._tag === "Choice" ? type.values.join("|") : placeholders[type._tag]}>`
}

const flagTerm = (flag: Flag) => {
  const negatable = flag.type._tag === "Boolean" && flag.negation !== false
  const long = `--${negatable ? "[no-]" : ""}${flag.name}${valueOf(flag)}`
  const short = flag.aliases.filter((alias) => alias.length === 1).map((alias) => `-${alias}, `)
  return `\`${short.join("")}${long}\``
}

const argumentTerm = ({ name, required, variadic }: Argument) => {
  const term = `<${name}${variadic ? "..." : ""}>`
  return required ? term : `[${term}]`
}

const flagTable = (flags: ReadonlyArray<Flag>) =>
  markdownTable(
    ["Flag", "Meaning", "Default"],
    // Help and version are switches without a counterpart, although the parser takes one.
    flags.map((flag) => [flagTerm({ ...flag, negation: false }), ...described(flag.description)])
  )

/** The commands of a tree that do something, each with the words that lead to it. */
const leavesOf = (
  command: CommandOfTree,
  path: ReadonlyArray<string>
): ReadonlyArray<{ readonly command: CommandOfTree; readonly path: ReadonlyArray<string> }> =>
  command.subcommands.length === 0
    ? [{ command, path }]
    : command.subcommands.flatMap((child) => leavesOf(child, [...path, child.name]))

/** An argument or a flag in the cell of its command. */
const entry = (term: string, description: string | undefined) => {
  const [meaning, fallback] = described(description)
  return `${term}: ${meaning}${fallback === "" ? "" : ` (default: ${fallback})`}`
}

const row = ({ command, path }: ReturnType<typeof leavesOf>[number]) => [
  `\`narthex ${[...path, ...command.arguments.map(argumentTerm)].join(" ")}\``,
  inCell(command.description ?? ""),
  [
    ...command.arguments.map((it) => entry(`\`<${it.name}>\``, it.description)),
    ...command.flags.map((it) => entry(flagTerm(it), it.description))
  ].join("<br>")
]

const sections = () => {
  const trees = new Map(Completions.fromCommand(narthex).subcommands.map((tree) => [tree.name, tree]))
  return narthex.subcommands.flatMap(({ commands, group = "Commands" }) => [
    `## ${group}`,
    "",
    ...commands.flatMap(({ name }) => {
      const tree = trees.get(name)
      if (tree === undefined) return []
      return [
        `### narthex ${name}`,
        "",
        // The sentence of a command without others is in its row.
        ...(tree.subcommands.length === 0 ? [] : [`${inCell(tree.description ?? "")}.`, ""]),
        markdownTable(["Command", "Does", "Arguments and flags"], leavesOf(tree, [name]).map(row)),
        ""
      ]
    })
  ])
}

export const commandsPage = (): string =>
  [
    "<!-- Generated from the commands of packages/cli/src by scripts/docs.ts: change them there. -->",
    "# Commands",
    "",
    "Every command of `narthex`, as `narthex <command> --help` describes it. [The command line](../packages/cli/README.md)",
    "explains names and default projects, waiting, signing in, output and completion. An argument in brackets may be left out.",
    "`--[no-]endpoint` is `--endpoint` or `--no-endpoint`.",
    "",
    ...sections(),
    "## Flags of every command",
    "",
    flagTable(globalFlags),
    "",
    "## Environment",
    "",
    "A command uses the first of `--context`, `NARTHEX_API_KEY` (or its `_FILE`), `NARTHEX_CONTEXT` and the current context. An",
    "empty variable counts as unset.",
    "",
    commandLineTables.environment,
    "",
    "## Exit codes",
    "",
    commandLineTables["exit-codes"],
    ""
  ].join("\n")
