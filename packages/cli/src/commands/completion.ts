/** `narthex completion <shell>`: the script that completes commands, flags and names (docs/design/cli.md C34). */
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { scripts, shells } from "../completion/scripts.ts"
import { Output } from "../output/Output.ts"

export const completion = Command.make(
  "completion",
  { shell: Argument.Literals("shell", shells).pipe(Argument.withDescription("bash, zsh, fish or powershell")) },
  ({ shell }) => Effect.flatMap(Output, (output) => output.text(scripts[shell]))
).pipe(
  Command.withDescription("Print the script that completes commands, flags and names in your shell"),
  Command.withExamples([
    { command: "source <(narthex completion bash)", description: "In ~/.bashrc; for zsh in ~/.zshrc, after compinit" },
    { command: "narthex completion fish > ~/.config/fish/completions/narthex.fish" }
  ])
)
