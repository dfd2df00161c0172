/** How programs are found. They are scripts that keep a line of each run. */
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { findPostgresBinaries } from "../src/machine/PostgresBinaries.ts"

const self = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
const user = { drops: false, owner: self, initdb: self }

const programs = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "narthex-programs-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

/** Programs of a version, which replace those of `directory`. */
const install = (directory: string, version: number) =>
  Effect.promise(async () => {
    const script = `#!/bin/sh\necho ${version} >> "${directory}/runs"\necho "postgres (PostgreSQL) ${version}.1"\n`
    for (const name of ["postgres", "initdb"]) {
      await rm(join(directory, name), { force: true })
      await writeFile(join(directory, name), script)
      await chmod(join(directory, name), 0o755)
    }
  })

const runsIn = (directory: string) => Effect.promise(() => readFile(join(directory, "runs"), "utf8"))

describe("the programs of Postgres", () => {
  it.live("are asked for their version once, and again after they were replaced", () =>
    Effect.gen(function* () {
      const directory = yield* programs
      const find = findPostgresBinaries({ choice: directory }, user)
      yield* install(directory, 16)
      assert.strictEqual((yield* find).major, 16)
      assert.strictEqual((yield* find).major, 16)
      assert.strictEqual(yield* runsIn(directory), "16\n")
      yield* install(directory, 17)
      assert.strictEqual((yield* find).major, 17)
      assert.strictEqual(yield* runsIn(directory), "16\n17\n")
    })
  )
})
