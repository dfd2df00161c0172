/**
 * A process that replaces or removes the data of a cluster, and is killed before one of its renames, or in the middle of
 * one of its removals: `<directory> <put | remove> <which, from 1>`. It ends by itself if there are fewer.
 */
import { existsSync, readdirSync, rmSync } from "node:fs"
import fs from "node:fs/promises"
import { syncBuiltinESMExports } from "node:module"
import { join } from "node:path"
import { Effect } from "effect"
import { clusterAt } from "../src/cluster/Cluster.ts"
import { putData, removeData } from "../src/cluster/ClusterData.ts"

const [, , directory = "", change, which] = process.argv
const { mkdir, rename, rm, writeFile } = fs
let left = Number(which)

const isLast = () => {
  left -= 1
  return left === 0
}

const end = () => process.kill(process.pid, "SIGKILL")

fs.rename = (...call) => {
  if (isLast()) end()
  return rename(...call)
}
fs.rm = (path, options) => {
  if (isLast()) {
    const inside = existsSync(path) ? readdirSync(`${path}`, { recursive: true, encoding: "utf8" }) : []
    for (const name of inside) if (name.endsWith("rows")) rmSync(join(`${path}`, name))
    end()
  }
  return rm(path, options)
}
syncBuiltinESMExports()

const write = (making: string) =>
  Effect.promise(async () => {
    await mkdir(making)
    await writeFile(join(making, "PG_VERSION"), "18\n")
    await writeFile(join(making, "rows"), "new")
  })

const cluster = clusterAt(directory, "compute")
await Effect.runPromise(change === "put" ? putData(cluster, write, Effect.void) : removeData(cluster))
