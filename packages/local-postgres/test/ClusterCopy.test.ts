/** Copying the files of a cluster while it changes them. */
import { mkdirSync, readdirSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyInto } from "../src/cluster/ClusterCopy.ts"
import { closedDirectory } from "./support.ts"

const folders = Effect.map(closedDirectory, (path) => {
  const [from, to] = [join(path, "from"), join(path, "to")]
  for (const folder of [from, to]) mkdirSync(folder)
  return { from, to }
})

describe("copying the files of a cluster", () => {
  it.effect("files that Postgres has removed since they were listed are left out", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      writeFileSync(join(from, "1"), "one")
      yield* copyInto(
        to,
        ["1", "2"].map((name) => join(from, name))
      )
      assert.deepStrictEqual(readdirSync(to), ["1"])
    })
  )

  it.effect("a copy into a directory that does not exist fails", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      writeFileSync(join(from, "1"), "one")
      const error = yield* Effect.flip(copyInto(join(to, "missing"), [join(from, "1")]))
      assert.include(error.reason, "No such file or directory")
    })
  )

  it.effect("a file that cannot be copied fails the copy, although others are gone", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      mkdirSync(join(to, "1"))
      writeFileSync(join(from, "1"), "one")
      const error = yield* Effect.flip(
        copyInto(
          to,
          ["1", "2"].map((name) => join(from, name))
        )
      )
      assert.include(error.reason, "cannot overwrite directory")
    })
  )
})
