/** The root of the command line without its subcommands, and the flags that every command accepts. */
import { Command } from "effect/cli"
import { ownFlags } from "./completion/flagsOfEveryCommand.ts"

export const root = Command.make("narthex").pipe(
  Command.withDescription("Narthex: Postgres projects, from the command line"),
  Command.withExamples([
    { command: "narthex login" },
    { command: "narthex project create shop" },
    { command: "narthex ip-allow add --current --project prj-… --ttl 8h" }
  ])
)

export const withGlobalFlags = Command.withGlobalFlags(ownFlags)
