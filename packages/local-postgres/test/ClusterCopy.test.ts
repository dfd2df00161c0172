/** Copying the files of a cluster while it changes them. */
import { chmodSync, chownSync, mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { copyInto, copyStopped } from "../src/cluster/ClusterCopy.ts"
import { findPostgresUser } from "../src/machine/PostgresUser.ts"
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

  it.effect("a copy has the owner and the mode of each file and directory", () =>
    Effect.gen(function* () {
      const { from, to } = yield* folders
      const { owner } = yield* findPostgresUser()
      mkdirSync(join(from, "a"))
      writeFileSync(join(from, "a", "1"), "one")
      for (const [path, mode] of [
        ["", 0o700],
        ["a", 0o700],
        ["a/1", 0o600]
      ] as const) {
        chmodSync(join(from, path), mode)
        chownSync(join(from, path), owner.uid, owner.gid)
      }
      mkdirSync(join(to, "a"))
      yield* copyInto(from, to, ["a/1"])
      yield* copyStopped(from, join(to, "whole"))
      const of = (path: string) => {
        const { gid, mode, uid } = statSync(path)
        return { gid, mode, uid }
      }
      assert.deepStrictEqual(of(join(to, "a", "1")), of(join(from, "a", "1")))
      for (const path of ["", "a", "a/1"]) assert.deepStrictEqual(of(join(to, "whole", path)), of(join(from, path)))
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
