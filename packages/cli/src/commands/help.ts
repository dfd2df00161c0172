/** `narthex help environment|exit-codes|formatting`. Help about a command is `--help`. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { topics } from "../documentation.ts"
import { Output } from "../output/Output.ts"

const topic = <const Name extends keyof typeof topics>(name: Name) =>
  Command.make(name, {}, () => Effect.flatMap(Output, (output) => output.text(topics[name].text()))).pipe(
    Command.withDescription(topics[name].description)
  )

export const help = Command.make("help").pipe(
  Command.withDescription("Topics: environment, exit-codes, formatting"),
  Command.withSubcommands([topic("environment"), topic("exit-codes"), topic("formatting")])
)
