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
      yield* copyInto(from, to, ["1", "2"])
      assert.deepStrictEqual(readdirSync(to), ["1"])
    })
  )

  it.effect("files of several directories are copied by one program, to the same paths", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      for (const folder of [join(from, "a", "b"), join(to, "a", "b")]) mkdirSync(folder, { recursive: true })
      for (const path of ["1", "a/2", "a/b/3"]) writeFileSync(join(from, path), path)
      yield* copyInto(from, to, ["1", "a/2", "a/b/3"])
      assert.deepStrictEqual(readdirSync(to, { recursive: true }).toSorted(), ["1", "a", "a/2", "a/b", "a/b/3"])
    })
  )

  it.effect("a copy into a directory that does not exist fails", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      writeFileSync(join(from, "1"), "one")
      const error = yield* Effect.flip(copyInto(from, join(to, "missing"), ["1"]))
      assert.include(error.reason, "No such file or directory")
    })
  )

  it.effect("a file that cannot be copied fails the copy, although others are gone", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      mkdirSync(join(to, "1"))
      writeFileSync(join(from, "1"), "one")
      const error = yield* Effect.flip(copyInto(from, to, ["1", "2"]))
      assert.include(error.reason, "cannot overwrite directory")
    })
  )
})
