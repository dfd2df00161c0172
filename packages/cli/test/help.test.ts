import { assert, describe, it } from "@effect/vitest"
import { narthex } from "@narthex/cli"
import { Effect } from "effect"
import type { Command } from "effect/cli"
import { textWidth } from "../src/output/textWidth.ts"
import { freshHome, runNarthex, type Setting } from "./support/runNarthex.ts"

const run = (args: ReadonlyArray<string>, setting: Partial<Setting> = {}) =>
  Effect.scoped(Effect.flatMap(freshHome, (home) => runNarthex(args, { home, ...setting })))

interface Found {
  readonly path: ReadonlyArray<string>
  readonly command: Command.Command.Any
}

const below = (command: Command.Command.Any, path: ReadonlyArray<string>): ReadonlyArray<Found> =>
  command.subcommands
    .flatMap((group): ReadonlyArray<Command.Command.Any> => group.commands)
    .flatMap((child) => [{ path: [...path, child.name], command: child }, ...below(child, [...path, child.name])])

const commands = below(narthex, [])
const topics = (path: ReadonlyArray<string>) => path[0] === "help"

const sections = (help: string) => [...help.matchAll(/^[A-Z][A-Z ]+$/gm)].map(([head]) => head)

describe("help", () => {
  it.live("the help of every command fits 80 columns without a pipe's width", () =>
    Effect.gen(function* () {
      assert.isAbove(commands.length, 25)
      for (const path of [[], ...commands.map(({ path }) => path)]) {
        const { stdout } = yield* run([...path, "--help"])
        const long = stdout.split("\n").filter((line) => textWidth(line) > 80)
        assert.deepStrictEqual(long, [], path.join(" "))
      }
    })
  )

  it.live("the help of every command fits a narrow terminal and never splits a word", () =>
    Effect.gen(function* () {
      const wide = (text: string) => new Set(text.split(/\s+/))
      for (const path of [[], ...commands.map(({ path }) => path)]) {
        const whole = wide((yield* run([...path, "--help"], { columns: 100 })).stdout)
        const { stdout } = yield* run([...path, "--help"], { columns: 60 })
        const split = [...wide(stdout)].filter((word) => word !== "\\" && !whole.has(word))
        assert.deepStrictEqual(split, [], path.join(" "))
      }
    })
  )

  it.live("every command has a description and, unless it is a group, an example that begins with its name", () =>
    Effect.gen(function* () {
      for (const { command, path } of commands.filter(({ path }) => !topics(path))) {
        const { stdout } = yield* run([...path, "--help"])
        assert.match(stdout, /^[A-Z]/, path.join(" "))
        if (command.subcommands.length === 0)
          assert.include(stdout.slice(stdout.indexOf("EXAMPLES")), `narthex ${path.join(" ")}`)
      }
    })
  )

  it.live("examples stand before flags, and the flags of every command are last and short", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["project", "create", "--help"])
      assert.deepStrictEqual(sections(stdout), ["USAGE", "EXAMPLES", "ARGUMENTS", "FLAGS", "GLOBAL FLAGS"])
      assert.match(stdout, /USAGE\n {2}narthex project create <name> \[flags\]\n/)
      const [, global = ""] = stdout.split("GLOBAL FLAGS\n")
      assert.isAtMost(global.trimEnd().split("\n").length, 4)
      assert.include(global, "-o, --output <table|json|yaml>")
      assert.match(global, /narthex --help describes them\.\n$/)
    })
  )

  it.live("the help of narthex lists its commands in groups and describes the flags of every command", () =>
    Effect.gen(function* () {
      const { stdout } = yield* run(["--help"])
      assert.deepStrictEqual(sections(stdout).slice(0, 3), ["USAGE", "EXAMPLES", "GET STARTED"])
      assert.strictEqual(sections(stdout).at(-1), "GLOBAL FLAGS")
      for (const child of narthex.subcommands.flatMap((group): ReadonlyArray<Command.Command.Any> => group.commands))
        assert.match(stdout, new RegExp(`^ {2}${child.name} +\\S`, "m"))
      assert.match(stdout, / {6}--log-level <level> +\S/)
      assert.match(stdout, /--output <table\|json\|yaml> +Output format; the default is table\n/)
    })
  )

  it.live("help about a command is the same as --help", () =>
    Effect.gen(function* () {
      for (const path of [[], ["login"], ["project", "create"], ["help"]])
        assert.deepStrictEqual(yield* run(["help", ...path]), yield* run([...path, "--help"]), path.join(" "))
    })
  )

  it.live("help about an unknown command suggests another one", () =>
    Effect.gen(function* () {
      const { code, stderr, stdout } = yield* run(["help", "projct"])
      assert.deepStrictEqual([code, stdout], [2, ""])
      assert.match(stderr, /narthex has no command "projct"\.\n {2}hint: did you mean project\?/)
    })
  )

  it.live("version is a word, too", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* run(["version"]), yield* run(["--version"]))
      const { stdout } = yield* run(["version", "-o", "json"])
      assert.match(JSON.parse(stdout).version, /^\d+\.\d+\.\d+$/)
    })
  )
})
