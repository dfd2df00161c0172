/**
 * Start-up time of the command line against `node -e 0` in the same run: of `narthex --version`, of `narthex --help`,
 * which loads everything, and of `--help` by the bundle alone, which has no compile cache.
 *
 * `node --conditions=source bench/cliStart.ts [rounds]`. They take turns; the results are ratios of the medians.
 */
import { spawnSync } from "node:child_process"
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs"
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
  const file = join(folder, "dist", "narthex.js")
  const bin = join(folder, "bin", "narthex.js")
  writeFileSync(join(folder, "package.json"), '{"type":"module","version":"0.1.0"}')
  await bundle(join(folder, "dist"))
  mkdirSync(join(folder, "bin"))
  copyFileSync(join(import.meta.dirname, "../packages/cli/bin/narthex.js"), bin)
  const commands = {
    "node -e 0": ["-e", "0"],
    "narthex --version": [bin, "--version"],
    "narthex --help": [bin, "--help"],
    "narthex --help without the cache": [file, "--help"]
  }
  const taken = Array.from({ length: rounds }, () => Object.values(commands).map(millis))
  const medians = Object.keys(commands).map((_, at) => median(taken.map((round) => round[at] ?? 0)))
  for (const [at, name] of Object.keys(commands).entries())
    console.log(`${name}: ${medians[at]?.toFixed(0)} ms, ${((medians[at] ?? 0) / (medians[0] ?? 1)).toFixed(2)}x`)
} finally {
  rmSync(folder, { recursive: true, force: true })
}
