/**
 * Runs each benchmark in a short form and compares its ratios with those in `stored.json`. Exit code 1 if one is more
 * than twice as bad in each of three tries.
 *
 *   --only <text>   benchmarks whose name contains the text
 *   --store         writes what was measured to `stored.json`, instead of comparing
 *
 * A ratio compares two measurements of one run, so it depends less on the machine than either of them. The bound is
 * wide, and this is not part of `npm test`, because it still depends on what else the machine does.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { ratiosIn } from "./ratios.ts"

/** The benchmarks with their arguments in the short form. */
const benchmarks: Readonly<Record<string, ReadonlyArray<string>>> = {
  events: ["500", "0.5", "3", "500", "first"],
  authentication: ["0.5", "3", "1000", "1000"],
  proxy: ["1", "3", "5000"],
  cliStart: ["7"],
  library: ["5"],
  consolePages: ["50", "3"],
  simulate: ["5"],
  start: ["3"],
  wake: ["5", "5"]
}

/** How much worse than stored a ratio may be, and how often a benchmark is tried. */
const bound = 2
const tries = 3
/** Milliseconds that a benchmark may take. */
const limit = 300_000

const { values } = parseArgs({ options: { only: { type: "string" }, store: { type: "boolean", default: false } } })
const file = join(import.meta.dirname, "stored.json")
// The file that `--store` writes.
const stored = JSON.parse(readFileSync(file, "utf8")) as Record<string, number>

const measured = async (name: string, args: ReadonlyArray<string>): Promise<ReadonlyMap<string, number>> => {
  const program = join(import.meta.dirname, `${name}.ts`)
  const child = spawn(process.execPath, ["--conditions=source", program, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
    timeout: limit
  })
  let printed = ""
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text
  })
  const [code] = await once(child, "close")
  const found = ratiosIn(printed)
  if (code !== 0 || found.size === 0)
    throw new Error(`${name} ended with ${code} and ${found.size} ratios:\n${printed}`)
  return found
}

/** The best of the tries. It ends early when every ratio is within its bound. */
const checked = async (name: string, args: ReadonlyArray<string>) => {
  const best = new Map<string, number>()
  const isBad = ([name, value]: readonly [string, number]) => value > bound * (stored[name] ?? 0)
  for (let at = 0; at < (values.store ? 1 : tries); at++) {
    for (const [ratio, value] of await measured(name, args))
      best.set(ratio, Math.min(value, best.get(ratio) ?? Number.POSITIVE_INFINITY))
    if (![...best].some(isBad)) break
  }
  for (const [ratio, value] of best) {
    const known = stored[ratio]
    const before = known === undefined ? "not stored" : `stored ${known.toFixed(2)}`
    console.log(`${!values.store && isBad([ratio, value]) ? "✗" : "✓"} ${ratio}: ${value.toFixed(2)} (${before})`)
  }
  return best
}

const chosen = Object.entries(benchmarks).filter(([name]) => name.includes(values.only ?? ""))
const results = new Map<string, number>()
for (const [name, args] of chosen) for (const found of await checked(name, args)) results.set(...found)

if (values.store) {
  const sorted = Object.entries({ ...stored, ...Object.fromEntries(results) }).toSorted(([a], [b]) => (a < b ? -1 : 1))
  writeFileSync(file, `${JSON.stringify(Object.fromEntries(sorted), null, 2)}\n`)
} else {
  const bad = [...results].filter(([name, value]) => value > bound * (stored[name] ?? 0))
  console.log(`${results.size} ratios, ${bad.length} of them more than ${bound} times as bad as stored`)
  process.exitCode = bad.length === 0 && results.size > 0 ? 0 : 1
}
