/**
 * `npm run test:mutants [files]`: changes each pure module in `modules.ts` in every small way that Stryker knows, and runs
 * its tests on each mutant. Prints the mutants that survive and a table, and fails if a module is below its floor.
 */
import { spawnSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { type Module, modules } from "./modules.ts"

const root = join(import.meta.dirname, "../..")

interface Mutant {
  readonly mutatorName: string
  readonly replacement?: string
  readonly status: string
  readonly location: { readonly start: { readonly line: number } }
}

const mutantsOf = (file: string, { tests }: Module): ReadonlyArray<Mutant> => {
  const program = join(import.meta.dirname, "node_modules/.bin/stryker")
  const { status } = spawnSync(program, ["run", join(import.meta.dirname, "stryker.config.json"), "--mutate", file], {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, NARTHEX_MUTANTS_TESTS: tests.map((test) => `packages/core/test/${test}`).join(" ") }
  })
  if (status !== 0) throw new Error(`The tests of ${file} did not run.`)
  const report: { readonly files: Record<string, { readonly mutants: ReadonlyArray<Mutant> }> } = JSON.parse(
    readFileSync(join(root, "test-results/mutants/report.json"), "utf8")
  )
  return report.files[file]?.mutants ?? []
}

const chosen = process.argv.slice(2)
const rows = Object.entries(modules)
  .filter(([file]) => chosen.length === 0 || chosen.some((it) => `packages/core/src/${file}`.includes(it)))
  .map(([name, module]) => {
    const file = `packages/core/src/${name}`
    const mutants = mutantsOf(file, module)
    const survivors = mutants.filter(({ status }) => status === "Survived" || status === "NoCoverage")
    for (const { location, mutatorName, replacement = "", status } of survivors)
      console.log(`${file}:${location.start.line} ${status} ${mutatorName}: ${replacement.replace(/\s+/g, " ")}`)
    const killed = mutants.length - survivors.length
    return {
      file: name,
      killed,
      survived: survivors.length,
      percent: (100 * killed) / mutants.length,
      floor: module.floor
    }
  })

console.table(rows.map((row) => ({ ...row, percent: Math.floor(row.percent) })))
if (rows.length === 0 || rows.some(({ floor, percent }) => percent < floor)) process.exitCode = 1
