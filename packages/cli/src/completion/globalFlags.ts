/** The flags of every command, for completion: the tree of commands does not list them. A test compares them with the help. */
import type { Completions } from "effect/cli"

const flag = (
  name: string,
  aliases: ReadonlyArray<string>,
  type: Completions.FlagType,
  description: string
): Completions.FlagDescriptor => ({ name, aliases, type, description })

const text: Completions.FlagType = { _tag: "String" }
const onOff: Completions.FlagType = { _tag: "Boolean" }

export const globalFlags: ReadonlyArray<Completions.FlagDescriptor> = [
  flag("output", ["o"], { _tag: "Choice", values: ["table", "json", "yaml"] }, "Output format"),
  flag("json", [], text, "Print only these members as JSON"),
  flag("context", [], text, "The stored context to use"),
  flag("no-input", [], onOff, "Never ask questions"),
  flag(
    "log-level",
    [],
    { _tag: "Choice", values: ["debug", "info", "warn", "error", "none"] },
    "The least level of logs"
  ),
  flag("help", ["h"], onOff, "Show help")
]
