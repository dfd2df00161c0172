/** `narthex help environment|exit-codes|formatting`: topics. Help about a command is `--help`. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { environmentTable } from "../environment/environmentTable.ts"
import { exitCodes } from "../failures/exitCodes.ts"
import { Output } from "../output/Output.ts"
import { renderTable, rows } from "../output/table.ts"

const environment = () => `${renderTable(
  rows(
    ["variable", "default", "meaning"],
    ...environmentTable.map(({ fallback, meaning, name }) => [name, fallback, meaning])
  )
)}

An empty variable counts as unset.
A command uses the first of: --context, NARTHEX_API_KEY (or its _FILE), NARTHEX_CONTEXT, the current context.`

const exitCodesTopic = () =>
  renderTable(rows(["code", "meaning"], ...Object.values(exitCodes).map(({ code, meaning }) => [code, meaning]))) ?? ""

const formatting = () => `-o, --output table|json|yaml, before or after the subcommand.

table  for people: columns, or a line for each fact. Its form may change.
json   what the API answered, with its member names. events tail prints one document a line.
yaml   the same as YAML. events tail prints one document each, after a line of ---.

Standard output holds the answer and nothing else; notes, warnings, questions and errors go to standard error.
With -o json, an error is the API's problem object on one line of standard error.
An empty list prints nothing on standard output in a table.
NO_COLOR turns colour off; colour never carries a meaning alone.`

const topic = (name: string, description: string, text: () => string) =>
  Command.make(name, {}, () => Effect.flatMap(Output, (output) => output.text(text()))).pipe(
    Command.withDescription(description)
  )

export const help = Command.make("help").pipe(
  Command.withDescription("Topics: environment, exit-codes, formatting"),
  Command.withSubcommands([
    topic("environment", "Environment variables that narthex reads", environment),
    topic("exit-codes", "What exit codes mean", exitCodesTopic),
    topic("formatting", "How answers are written", formatting)
  ])
)
