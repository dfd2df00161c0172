/** The flags of every command, for completion: the tree of commands does not list them. */
import { Command, Completions } from "effect/cli"
import { builtInFlags, ownFlags } from "./flagsOfEveryCommand.ts"

const flags = Object.fromEntries([...ownFlags, ...builtInFlags].map(({ flag }, at) => [`flag${at}`, flag]))

export const globalFlags: ReadonlyArray<Completions.FlagDescriptor> = Completions.fromCommand(
  Command.make("narthex", flags)
).flags
