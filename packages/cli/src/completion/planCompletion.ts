/**
 * Completions at the cursor of a command line that is being typed (docs/design/cli.md C34): words of the grammar, or
 * names of a kind, which are looked up. Pure.
 */
import type { Completions } from "effect/cli"

export interface Candidate {
  readonly value: string
  readonly description: string
}

const nameKinds = ["project", "branch", "endpoint", "region", "size", "context"] as const
export type NameKind = (typeof nameKinds)[number]

export type Plan =
  | { readonly _tag: "Words"; readonly candidates: ReadonlyArray<Candidate> }
  | {
      readonly _tag: "Names"
      readonly kind: NameKind
      /** The typed part of the name. */
      readonly typed: string
      /** The text before the name in the same word: `--project=`. */
      readonly before: string
      /** `--project` and `--context` of the line. */
      readonly project: string | undefined
      readonly context: string | undefined
    }

type Descriptor = Completions.CommandDescriptor
type FlagDescriptor = Completions.FlagDescriptor

const nothing: Plan = { _tag: "Words", candidates: [] }

/** `words` are those after `narthex`, the last one at the cursor. `globals` are the flags of every command. */
export const planCompletion = (
  root: Descriptor,
  globals: ReadonlyArray<FlagDescriptor>,
  words: ReadonlyArray<string>
): Plan => {
  // The scripts of earlier versions pass bash's own words, which are three for `--project=shop`.
  const [typed = "", ...reversed] = words.toReversed()
  const before = reversed.toReversed().filter((word) => word !== "=")
  const line = read(root, globals, before)
  if (line.ended) return nothing
  const value = typed === "=" ? "" : typed
  if (line.awaiting !== undefined) return valuesOf(line.awaiting, value, "", line)
  const [, attached, rest = ""] = /^(--[^=]+)=(.*)$/s.exec(value) ?? []
  if (attached !== undefined) {
    const flag = flagNamed(line.flags, attached)
    return flag === undefined ? nothing : valuesOf(flag, rest, `${attached}=`, line)
  }
  if (value.startsWith("-")) return wordsOf(line.flags.flatMap(flagWords), value)
  if (line.command.subcommands.length > 0) return wordsOf(line.command.subcommands.map(wordOf), value)
  const argument =
    line.command.arguments[line.positional] ?? line.command.arguments.findLast(({ variadic }) => variadic)
  if (argument === undefined) return nothing
  if (argument.type._tag === "Choice") return wordsOf(argument.type.values.map(plain), value)
  const kind = kindOf(argument.name, line.path)
  return kind === undefined ? nothing : names(kind, value, "", line)
}

interface Line {
  readonly command: Descriptor
  readonly path: ReadonlyArray<string>
  readonly flags: ReadonlyArray<FlagDescriptor>
  readonly positional: number
  /** The flag whose value is at the cursor. */
  readonly awaiting: FlagDescriptor | undefined
  /** After `--` there are no flags, and the words are not narthex's. */
  readonly ended: boolean
  readonly given: ReadonlyMap<string, string>
}

const read = (root: Descriptor, globals: ReadonlyArray<FlagDescriptor>, words: ReadonlyArray<string>): Line => {
  const given = new Map<string, string>()
  let [command, positional, ended]: [Descriptor, number, boolean] = [root, 0, false]
  let awaiting: FlagDescriptor | undefined
  const path: Array<string> = []
  for (const word of words) {
    if (ended) continue
    const flags = [...command.flags, ...globals]
    if (awaiting !== undefined) {
      given.set(awaiting.name, word)
      awaiting = undefined
    } else if (word === "--") ended = true
    else if (word.startsWith("-")) {
      const [name = "", value] = word.split(/=(.*)/s)
      const flag = flagNamed(flags, name)
      if (flag !== undefined && value !== undefined) given.set(flag.name, value)
      else if (flag !== undefined && takesValue(flag)) awaiting = flag
    } else {
      const child: Descriptor | undefined = command.subcommands.find(({ name }) => name === word)
      if (child === undefined) positional += 1
      else {
        command = child
        path.push(word)
      }
    }
  }
  return { command, path, flags: [...command.flags, ...globals], positional, awaiting, ended, given }
}

const takesValue = ({ type }: FlagDescriptor) => type._tag !== "Boolean"

const flagNamed = (flags: ReadonlyArray<FlagDescriptor>, word: string) =>
  flags.find(({ aliases, name }) => word === `--${name}` || aliases.some((alias) => word === dashed(alias)))

const dashed = (alias: string) => (alias.length === 1 ? `-${alias}` : `--${alias}`)

const valuesOf = (flag: FlagDescriptor, typed: string, before: string, line: Line): Plan => {
  if (flag.type._tag === "Choice")
    return wordsOf(
      flag.type.values.map((value) => plain(before + value)),
      before + typed
    )
  const kind = kindOf(flag.name, line.path)
  return kind === undefined ? nothing : names(kind, typed, before, line)
}

const names = (kind: NameKind, typed: string, before: string, { given }: Line): Plan => ({
  _tag: "Names",
  kind,
  typed,
  before,
  project: given.get("project"),
  context: given.get("context")
})

/** Flags and arguments are named after their kind. `context use` takes the `name` of a context. */
const kindOf = (name: string, [noun]: ReadonlyArray<string>): NameKind | undefined =>
  noun === "context" && name === "name" ? "context" : nameKinds.find((kind) => kind === name)

const plain = (value: string): Candidate => ({ value, description: "" })

const wordOf = ({ description = "", name }: Descriptor): Candidate => ({ value: name, description })

const flagWords = ({ description = "", name }: FlagDescriptor): ReadonlyArray<Candidate> => [
  { value: `--${name}`, description }
]

const wordsOf = (candidates: ReadonlyArray<Candidate>, typed: string): Plan => ({
  _tag: "Words",
  candidates: candidates.filter(({ value }) => value.startsWith(typed))
})
