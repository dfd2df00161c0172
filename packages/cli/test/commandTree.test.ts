import { assert, describe, it } from "@effect/vitest"
import { narthex } from "@narthex/cli"
import type { Command } from "effect/cli"
import { commandLoaders, commandTree } from "../src/commandTree.ts"

const namesOf = (root: Command.Command.Any) =>
  root.subcommands.flatMap(({ commands }) => commands.map(({ name }) => name)).toSorted()

const all = namesOf(narthex)

describe("the commands of a run", () => {
  it("each command but help can be loaded alone, by its own name", async () => {
    assert.deepStrictEqual([...Object.keys(commandLoaders), "help"].toSorted(), all)
    for (const name of Object.keys(commandLoaders)) assert.deepStrictEqual(namesOf(await commandTree([name])), [name])
  })

  it("help, a flag, a mistyped name and no argument have all commands", async () => {
    for (const args of [["help"], ["--help"], ["-o", "json", "whoami"], ["projct"], ["toString"], []])
      assert.deepStrictEqual(namesOf(await commandTree(args)), all, args.join(" "))
  })

  it("a command that is loaded alone accepts the flags of every command", async () => {
    const flags = (root: Command.Command.Any) => Reflect.get(root, "globalFlags")
    assert.deepStrictEqual(flags(await commandTree(["whoami"])), flags(narthex))
    assert.isNotEmpty(flags(narthex))
  })
})
