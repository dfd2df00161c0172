/**
 * Start-up time of the command line: `narthex --version` against `node -e 0` in the same run.
 *
 * `node --conditions=source bench/cliStart.ts [rounds]`. The two take turns; the result is the ratio of the medians.
 */
import { spawnSync } from "node:child_process"
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { bundle } from "../packages/cli/bundle.ts"

const rounds = Number(process.argv[2] ?? 31)
const folder = mkdtempSync(join(tmpdir(), "narthex-bench-"))

const millis = (args: ReadonlyArray<string>): number => {
  const before = performance.now()
  const { status } = spawnSync(process.execPath, args, { cwd: folder, env: { HOME: folder } })
  if (status !== 0) throw new Error(`node ${args.join(" ")} ended with ${status}.`)
  return performance.now() - before
}

const median = (values: ReadonlyArray<number>): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0

try {
  const file = join(folder, "narthex.js")
  writeFileSync(join(folder, "package.json"), '{"type":"module"}')
  await bundle(file)
  const taken = Array.from({ length: rounds }, () => ({ bare: millis(["-e", "0"]), ours: millis([file, "--version"]) }))
  const [bare, ours] = [median(taken.map((it) => it.bare)), median(taken.map((it) => it.ours))]
  console.log(
    `node -e 0: ${bare.toFixed(0)} ms; narthex --version: ${ours.toFixed(0)} ms, ${(ours / bare).toFixed(2)}x`
  )
} finally {
  rmSync(folder, { recursive: true, force: true })
}
