/**
 * `narthex help environment|exit-codes|formatting`: topics. `helpArguments` turns help about a command into `--help`.
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { environmentTable } from "../environment/environmentTable.ts"
import { exitCodes } from "../failures/exitCodes.ts"
import { Output } from "../output/Output.ts"
import { renderTable } from "../output/renderTable.ts"
import { rows } from "../output/table.ts"

const environment = () => `${renderTable(
  rows(
    ["variable", "default", "meaning"],
    ...environmentTable.map(({ fallback, meaning, name }) => [name, fallback, meaning])
  )
)}

An empty variable counts as unset.
A command uses the first of: --context, NARTHEX_API_KEY (or its _FILE), NARTHEX_CONTEXT, the current context.`

const exitCodesTopic = () =>
  `${renderTable(rows(["code", "meaning"], ...Object.values(exitCodes).map(({ code, meaning }) => [code, meaning])))}

narthex psql ends with the code of psql itself: 2 is a connection that failed,
3 an error of a script. A program that a signal ended has 128 and its number.`

const formatting = () => `-o, --output table|json|yaml, before or after the subcommand.

table  for people: columns, or one line per member. The layout may change.
json   the response of the API, with the same members. events tail prints one
       document per line.
yaml   the same as YAML. events tail prints each document after a line of ---.

--json id,name prints only these fields as JSON: of a list an array. A path such
as project.id leads into an object.

On a terminal, tables have relative times and are cut to its width. Pipes and
formats have full values.

Standard output contains only the result; notes, warnings, questions and errors go
to standard error. With -o json, an error is the problem object of the API, on one
line of standard error. As a table, an empty list prints nothing on standard output.
NO_COLOR disables colour. Colour never carries a meaning on its own.`

const topic = (name: string, description: string, text: () => string) =>
  Command.make(name, {}, () => Effect.flatMap(Output, (output) => output.text(text()))).pipe(
    Command.withDescription(description)
  )

export const help = Command.make("help").pipe(
  Command.withDescription("Help about a command, or a topic: environment, exit-codes, formatting"),
  Command.withSubcommands([
    topic("environment", "Environment variables that narthex reads", environment),
    topic("exit-codes", "Exit codes and their meaning", exitCodesTopic),
    topic("formatting", "Output formats", formatting)
  ])
)
