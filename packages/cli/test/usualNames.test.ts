/** Names of other command lines (docs/design/cli.md C30). */
import { assert, describe, it } from "@effect/vitest"
import { narthex } from "@narthex/cli"
import { Effect } from "effect"
import { Completions } from "effect/cli"
import { usualNames } from "../src/input/usualNames.ts"
import { withShop } from "./support/signedIn.ts"

/** Each group that has a list, with the names of its commands. */
const lists = Completions.fromCommand(narthex)
  .subcommands.map(({ name, subcommands }) => ({ name, commands: subcommands.map((command) => command.name) }))
  .filter(({ commands }) => commands.includes("list"))

describe("names of other command lines", () => {
  it("the plural of every group, with ls, is its list", () => {
    for (const { name } of lists) {
      const plural = name === "branch" ? "branches" : `${name}s`
      assert.deepStrictEqual(usualNames([plural, "ls", "-o", "json"]), [name, "list", "-o", "json"])
      assert.deepStrictEqual(usualNames(["help", plural]), ["help", name])
    }
  })

  it("rm is the command of the group that ends an object", () => {
    const ends = ["delete", "remove", "revoke", "end"]
    for (const { commands, name } of lists) {
      const found = ends.filter((end) => commands.includes(end))
      assert.deepStrictEqual(usualNames([name, "rm", "it"]), [name, found[0] ?? "rm", "it"])
      assert.isAtMost(found.length, 1, name)
    }
  })

  it("arguments that are names stay as they are", () => {
    for (const args of [
      ["events", "tail"],
      ["psql", "ls"],
      ["project", "get", "ls"],
      ["api", "rm"],
      ["orgs-of-mine"],
      []
    ])
      assert.deepStrictEqual(usualNames(args), args)
  })

  it.live("a list runs under its other name, and help does not show it", () =>
    Effect.gen(function* () {
      const { run } = yield* withShop()
      const { code, stdout } = yield* run(["projects", "ls"])
      assert.deepStrictEqual([code, (yield* run(["project", "list"])).stdout], [0, stdout])
      assert.notMatch((yield* run(["project", "--help"])).stdout, /\bls\b/)
    }).pipe(Effect.scoped)
  )
})
