/**
 * `narthex help <command>` is `narthex <command> --help`, and `narthex help` alone is `narthex --help`. The topics are
 * commands of `help` themselves.
 */
import type { Command } from "effect/cli"

export const helpArguments = (root: Command.Command.Any, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const [first, ...others] = args
  if (first !== "help") return args
  const names = others.filter((word) => !word.startsWith("-"))
  const [topic] = names
  if (topic === undefined) return others.length === 0 ? ["--help"] : args
  const help = subcommand(root, "help")
  if (help !== undefined && subcommand(help, topic) !== undefined) return args
  // An unknown name goes to the parser without --help, which would accept it: the parser suggests others.
  return isCommand(root, names) ? [...others, "--help"] : others
}

const isCommand = (root: Command.Command.Any, names: ReadonlyArray<string>): boolean => {
  const [name, ...others] = names
  if (name === undefined) return true
  const found = subcommand(root, name)
  return found !== undefined && isCommand(found, others)
}

const subcommand = (command: Command.Command.Any, name: string): Command.Command.Any | undefined =>
  command.subcommands
    .flatMap((group): ReadonlyArray<Command.Command.Any> => group.commands)
    .find((found) => found.name === name || found.alias === name)
