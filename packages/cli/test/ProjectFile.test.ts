import { execFileSync } from "node:child_process"
import { mkdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findProjectFile } from "../src/names/ProjectFile.ts"
import { freshHome } from "./support/runNarthex.ts"

describe("the .narthex file", () => {
  it.live("the file of the nearest folder above counts, and a data directory of that name is skipped", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const inner = join(home, "one", "two")
      mkdirSync(join(inner, ".narthex"), { recursive: true })
      assert.isUndefined(yield* findProjectFile(inner))
      const path = join(home, ".narthex")
      writeFileSync(path, '{"project":"shop","branch":"preview","later":1}')
      assert.deepStrictEqual(yield* findProjectFile(inner), { path, project: "shop", branch: "preview" })
      writeFileSync(join(home, "one", ".narthex"), '{"project":"blog"}')
      assert.strictEqual((yield* findProjectFile(inner))?.project, "blog")
    }).pipe(Effect.scoped)
  )

  it.live("a byte order mark before the content is not part of it", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      writeFileSync(join(home, ".narthex"), '\ufeff{"project":"shop"}\r\n')
      assert.strictEqual((yield* findProjectFile(home))?.project, "shop")
    }).pipe(Effect.scoped)
  )

  it.live("a file that names no project is refused with its path and what it may contain", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      const path = join(home, ".narthex")
      for (const text of ["", "shop", "{}", '{"project":""}', '{"project":1}', " ".repeat(70_000)]) {
        writeFileSync(path, text)
        const refused = yield* Effect.flip(findProjectFile(home))
        assert.include(refused.message, path)
        assert.include(refused.hint, '"project"')
      }
    }).pipe(Effect.scoped)
  )

  it.live("a pipe of that name is skipped, because opening it would wait for a writer", () =>
    Effect.gen(function* () {
      const home = yield* freshHome
      execFileSync("mkfifo", [join(home, ".narthex")])
      assert.isUndefined(yield* findProjectFile(home))
    }).pipe(Effect.scoped)
  )
})
