/** The files in which a control group limits CPU and memory, in directories that stand for groups of both versions. */
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { largeSize, smallSize } from "@narthex/core/testing"
import { Effect } from "effect"
import { limitGroups, memoryGroupOfVersion1 } from "../src/machine/sliceLimits.ts"
import { closedDirectory } from "./support.ts"

const versions = [
  { name: "version 2", files: { "cpu.max": "max 100000\n", "memory.max": "max\n" }, none: ["max 100000", "max"] },
  {
    name: "version 1",
    files: { "cpu.cfs_quota_us": "-1\n", "memory.limit_in_bytes": "9223372036854771712\n" },
    none: ["-1", "-1"]
  }
] as const

/** Two groups, the second with the file of memory, as the hierarchies of version 1 have them. */
const groupsWith = (files: Readonly<Record<string, string>>) =>
  Effect.map(closedDirectory, (directory) => {
    const groups = ["cpu", "memory"].map((name) => join(directory, name))
    const paths = Object.keys(files).map((file) => join(directory, file.split(".")[0] ?? "", file))
    for (const group of groups) mkdirSync(group)
    for (const [n, text] of Object.values(files).entries()) writeFileSync(paths[n] ?? "", text)
    return { groups, texts: () => paths.map((path) => readFileSync(path, "utf8").trim()) }
  })

describe("the limits of a group", () => {
  for (const { files, name, none } of versions)
    it.effect(`a size is written in the files of ${name}, raised to a larger one, never lowered, and taken back`, () =>
      Effect.gen(function* () {
        const { groups, texts } = yield* groupsWith(files)
        const of = ({ cpus, memory_bytes }: typeof smallSize) => [cpus * 100_000, memory_bytes]
        const numbers = () => texts().map((text) => Number(text.split(" ")[0]))
        for (const [size, how, expected] of [
          [smallSize, "set", smallSize],
          [largeSize, "raise", largeSize],
          [smallSize, "raise", largeSize],
          [smallSize, "set", smallSize]
        ] as const) {
          assert.deepStrictEqual(limitGroups(groups, size, how), [])
          assert.deepStrictEqual(numbers(), of(expected))
        }
        assert.deepStrictEqual(limitGroups(groups, null, "set"), [])
        assert.deepStrictEqual(texts(), [...none])
        assert.deepStrictEqual(limitGroups(groups, smallSize, "raise"), [])
        assert.deepStrictEqual(texts(), [...none], "no limit is larger than every size")
      }).pipe(Effect.scoped)
    )

  it.effect("a group without a controller says what it does not limit, if there is a size", () =>
    Effect.gen(function* () {
      const { groups } = yield* groupsWith({ "cpu.max": "max 100000" })
      assert.deepStrictEqual(limitGroups(groups, smallSize, "set"), ["memory"])
      assert.deepStrictEqual(limitGroups(groups, null, "set"), [])
      assert.deepStrictEqual(limitGroups([], smallSize, "set"), ["CPU", "memory"])
    }).pipe(Effect.scoped)
  )
})

describe("the group of memory in version 1", () => {
  it.effect("the group of memory is that of this process, or the root of the part that a container shows", () =>
    Effect.gen(function* () {
      const mount = yield* closedDirectory
      mkdirSync(join(mount, "unit"))
      const mounts = `tmpfs /tmp tmpfs rw 0 0\ncgroup ${mount} cgroup rw,nosuid,memory 0 0\n`
      assert.strictEqual(memoryGroupOfVersion1(mounts, "4:memory:/unit\n1:cpu:/\n"), join(mount, "unit"))
      assert.strictEqual(memoryGroupOfVersion1(mounts, "4:memory:/hidden\n"), mount)
      assert.isUndefined(memoryGroupOfVersion1(`cgroup2 ${mount} cgroup2 rw 0 0\n`, "0::/unit\n"))
      assert.isUndefined(memoryGroupOfVersion1("", ""))
    }).pipe(Effect.scoped)
  )
})
