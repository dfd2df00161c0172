/** The root of the command line without its subcommands, and the flags that every command accepts. */
import { Command } from "effect/cli"
import { ContextFlag } from "./contexts/ContextFlag.ts"
import { NoInput } from "./input/confirm.ts"
import { JsonFields, OutputFormat } from "./output/OutputFormat.ts"

export const root = Command.make("narthex").pipe(
  Command.withDescription("Narthex: Postgres projects, from the command line"),
  Command.withExamples([
    { command: "narthex login" },
    { command: "narthex project create shop" },
    { command: "narthex ip-allow add --current --project prj-… --ttl 8h" }
  ])
)

export const withGlobalFlags = Command.withGlobalFlags([OutputFormat, JsonFields, ContextFlag, NoInput])
