/** The line of progress on a real terminal, with an operation that ends when the test says so. */
import { assert, beforeAll, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { until } from "../../../test/harness/eventually.ts"
import { resource } from "../../../test/harness/resource.ts"
import { programs } from "../../../test/support/surroundings.ts"
import { keys, Terminal } from "../../../test/support/Terminal.ts"
import { inOneRow } from "../src/output/inOneRow.ts"
import { textWidth } from "../src/output/textWidth.ts"
import { heldOperation } from "./support/heldOperation.ts"

const spinner = /[⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏]/

/** `narthex operation watch` on a terminal. */
const watching = (columns: number, error: string | null) =>
  Effect.gen(function* () {
    const world = yield* heldOperation(error)
    const terminal = yield* Effect.acquireRelease(
      Effect.promise(() =>
        Terminal.run([process.execPath, programs.cli, "operation", "watch", world.id, "--project", world.shop], {
          columns,
          environment: { HOME: world.setting.home, ...world.setting.variables }
        })
      ),
      (terminal) => Effect.promise(() => terminal.close())
    )
    const frames = () => terminal.written.split("\r\u001b[K").length
    const redrawn = Effect.promise(async () => {
      await terminal.shows(spinner)
      const seen = frames()
      await until("five more frames", () => frames() > seen + 5)
    })
    return { ...world, terminal, redrawn }
  })

describe("progress on a terminal", { tags: ["terminal"] }, () => {
  beforeAll(() => resource("build"))

  /** The platform's sentence about the last attempt, in characters of two columns. */
  const wide = "ディスクに空きがありません。管理者に連絡してください。再試行します。"

  for (const columns of [40, 80])
    for (const error of [null, wide])
      it.live(
        `progress ${error === null ? "" : "with wide characters "}is one row of ${columns} columns, and nothing of it stays`,
        () =>
          Effect.gen(function* () {
            const { finish, redrawn, terminal } = yield* watching(columns, error)
            yield* redrawn
            assert.strictEqual(terminal.rows.length, 1, terminal.text)
            assert.match(terminal.text, / · \d+\.\d s$/)
            assert.isBelow(textWidth(terminal.text), columns)
            yield* finish
            assert.strictEqual(yield* Effect.promise(() => terminal.ends()), 0)
            assert.match(terminal.text, /^Done after \d+\.\d s\.\n[A-Z… ]+\n\S.+$/)
            assert.notMatch(terminal.text, spinner)
          }).pipe(Effect.scoped)
      )

  it("a line of progress leaves room for its frame, and its elapsed time is never cut", () => {
    const line = inOneRow({ what: wide, more: " · 1.2 s" }, 40)
    assert.isBelow(textWidth(line), 38)
    assert.match(line, /^ディスク.+… · 1\.2 s$/)
  })

  it.live("Ctrl-C during the waiting says how to follow, exits with 130, and leaves no progress behind", () =>
    Effect.gen(function* () {
      const { id, redrawn, shop, terminal } = yield* watching(200, null)
      yield* redrawn
      terminal.type(keys.ctrlC)
      assert.strictEqual(yield* Effect.promise(() => terminal.ends()), 130)
      assert.strictEqual(
        terminal.text,
        `The work continues on the server. To follow: narthex operation watch ${id} --project ${shop}`
      )
    }).pipe(Effect.scoped)
  )
})
