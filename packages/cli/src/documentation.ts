/** Help topics, and the tables of the README, from the tables that the code itself uses. */
import { environmentTable } from "./environmentTable.ts"
import { exitCodes } from "./exitCodes.ts"
import { renderTable, rows } from "./output/table.ts"

const exits = Object.values(exitCodes)

const plain = (heads: ReadonlyArray<string>, cells: ReadonlyArray<ReadonlyArray<string>>) =>
  renderTable(rows(heads, ...cells)) ?? ""

const environmentTopic = () =>
  `${plain(
    ["variable", "default", "meaning"],
    environmentTable.map(({ fallback, meaning, name }) => [name, fallback, meaning])
  )}

An empty variable counts as unset.
A command uses the first of: --context, NARTHEX_API_KEY (or its _FILE), NARTHEX_CONTEXT, the current context.`

const exitCodesTopic = () =>
  plain(
    ["code", "meaning"],
    exits.map(({ code, meaning }) => [String(code), meaning])
  )

const formattingTopic = () => `-o, --output table|json|yaml, before or after the subcommand.

table  for people: columns, or a line for each fact. Its form may change.
json   what the API answered, with its member names. events tail prints one document a line.
yaml   the same as YAML. events tail prints one document each, after a line of ---.

Standard output holds the answer and nothing else; notes, warnings, questions and errors go to standard error.
With -o json, an error is the API's problem object on one line of standard error.
An empty list prints nothing on standard output in a table.
NO_COLOR turns colour off; colour never carries a meaning alone.`

export const topics = {
  environment: { description: "Environment variables that narthex reads", text: environmentTopic },
  "exit-codes": { description: "What exit codes mean", text: exitCodesTopic },
  formatting: { description: "How answers are written", text: formattingTopic }
} as const

const markdown = (heads: ReadonlyArray<string>, cells: ReadonlyArray<ReadonlyArray<string>>) =>
  [heads, heads.map(() => "---"), ...cells].map((row) => `| ${row.join(" | ")} |`).join("\n")

/** What stands between `<!-- name -->` and `<!-- /name -->` in the README. */
export const readmeTables: Readonly<Record<string, string>> = {
  environment: markdown(
    ["Variable", "Default", "Meaning"],
    environmentTable.map(({ fallback, meaning, name }) => [`\`${name}\``, fallback, meaning])
  ),
  "exit-codes": markdown(
    ["Code", "Meaning"],
    exits.map(({ code, meaning }) => [String(code), meaning])
  )
}

export const withTables = (readme: string): string =>
  Object.entries(readmeTables).reduce(
    (text, [name, table]) =>
      text.replace(
        new RegExp(`<!-- ${name} -->[\\s\\S]*?<!-- /${name} -->`),
        () => `<!-- ${name} -->\n${table}\n<!-- /${name} -->`
      ),
    readme
  )
