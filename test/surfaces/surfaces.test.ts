/** Every operation of the API can be reached with a command and on a page, or the table says why not. */
import { assert, describe, it } from "@effect/vitest"
import { openApiDocument } from "@narthex/api"
import { narthex } from "../../packages/cli/src/narthex.ts"
import { routes } from "../../packages/console/src/Console.ts"
import { type None, operations } from "./operations.ts"

interface AnyCommand {
  readonly name: string
  readonly subcommands: ReadonlyArray<{ readonly commands: ReadonlyArray<AnyCommand> }>
}

/** The commands that do something, as the words after `narthex`. */
const commandsOf = (command: AnyCommand, words: ReadonlyArray<string> = []): ReadonlyArray<string> => {
  const inner = command.subcommands.flatMap(({ commands }) => commands)
  return inner.length === 0
    ? [words.join(" ")]
    : inner.flatMap((subcommand) => commandsOf(subcommand, [...words, subcommand.name]))
}

const served = Object.values(openApiDocument().paths).flatMap((item) =>
  Object.values(item).flatMap((operation: unknown) =>
    typeof operation === "object" && operation !== null && "operationId" in operation
      ? [String(operation.operationId)]
      : []
  )
)

const isNone = (place: string | None): place is None => typeof place !== "string"

/** The rows whose place is not among these. */
const missing = (of: "command" | "page", places: ReadonlyArray<string>) =>
  Object.entries(operations).flatMap(([id, surface]) => {
    const place = surface[of]
    return isNone(place) || places.includes(place) ? [] : [`${id}: ${place}`]
  })

describe("where people reach the operations of the API", () => {
  it("every operation has a row, and every row has an operation", () => {
    assert.isAbove(served.length, 80)
    assert.sameMembers(Object.keys(operations), served)
  })

  it("every command of the table exists", () => {
    const commands = commandsOf(narthex)
    assert.includeMembers([...commands], ["project list", "whoami"])
    assert.deepStrictEqual(missing("command", commands), [])
  })

  it("every page of the table is a route of the console", () => {
    const pages = routes.map(({ method, path }) => `${method} ${path}`)
    assert.includeMembers(pages, ["GET /sign-in"])
    assert.deepStrictEqual(missing("page", pages), [])
  })

  it("an operation without a command or page says why, in a sentence", () => {
    for (const [id, { command, page }] of Object.entries(operations))
      for (const place of [command, page]) if (isNone(place)) assert.match(place.because, /^[A-Z].{12,}\.$/, id)
  })

  it("only programs, other spellings and the end of sessions have no command", () => {
    const without = Object.entries(operations)
      .filter(([, { command }]) => isNone(command))
      .map(([id]) => id)
    assert.isAtMost(without.length, 20)
    assert.isEmpty(without.filter((id) => /^(projects|branches|endpoints|operations|orgs|sandboxes|events)\./.test(id)))
  })
})
