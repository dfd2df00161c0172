/**
 * `node scripts/faults.ts`: plants each fault of `test/faults/list`, and its tests must fail. Exit code 1 if one survives.
 *
 *   --only <text>   faults whose id, area or file contains the text; may be repeated
 *   --sample <n>    a random sample of n faults; NARTHEX_TEST_SEED repeats the choice
 *   --list          prints the faults and plants none
 */
import { join } from "node:path"
import { parseArgs } from "node:util"
import { faults } from "../test/faults/list.ts"
import type { Fault } from "../test/faults/runner/Fault.ts"
import { type GroupReport, runFaults, type Verdict } from "../test/faults/runner/runFaults.ts"
import globalSetup from "../test/harness/globalSetup.ts"
import { requirements } from "../test/harness/requirements.ts"
import { chosenSeed, randomFrom } from "../test/harness/seed.ts"

const root = join(import.meta.dirname, "..")
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    sample: { type: "string" },
    list: { type: "boolean", default: false }
  }
})

const seed = chosenSeed()
const random = randomFrom(`${seed} faults`)

const wanted = faults.filter(
  ({ area, file, id }) =>
    values.only.length === 0 || values.only.some((text) => [area, file, id].some((it) => it.includes(text)))
)
const sampled = (all: ReadonlyArray<Fault>, count: number) =>
  all
    .map((fault) => ({ fault, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .slice(0, count)
    .map(({ fault }) => fault)
const missing = new Map(requirements.filter(({ isMet }) => !isMet()).map((it) => [it.name, it]))
const isMissing = ({ needs = "" }: Fault) => missing.has(needs)
const possible = wanted.filter((fault) => !isMissing(fault))
const chosen = values.sample === undefined ? possible : sampled(possible, Number(values.sample))

const showUntried = ({ id, needs = "" }: Fault) => {
  const { how, what } = missing.get(needs) ?? {}
  console.log(`\nNot planted: ${id}, whose tests need ${what} (${how}).`)
}

const clock = (millis: number) => `${(millis / 1_000).toFixed(1)} s`

const showGroup = ({ millis, verdicts }: GroupReport) => {
  const caught = verdicts.filter((it) => it.caught).length
  const [first] = verdicts
  console.log(`${clock(millis).padStart(8)}  ${caught} of ${verdicts.length}  ${first?.fault.file}`)
}

const showFailure = (verdict: Verdict) => {
  if (verdict.caught) return
  const { file, find, id, put, tests, why } = verdict.fault
  console.log(`\n✗ ${id}: ${why}\n  ${file}\n    - ${find}\n    + ${put}\n  ${verdict.reason}\n  ${tests.join("\n  ")}`)
}

if (values.list) for (const { file, id, why } of chosen) console.log(`${id}  ${file}\n  ${why}`)
else if (chosen.length === 0) {
  console.error("No fault matches.")
  process.exitCode = 1
} else {
  const begun = performance.now()
  console.log(`Planting ${chosen.length} faults, seed ${seed}.`)
  const provided: Record<string, unknown> = { seed, planted: true }
  const provide = (name: string, value: unknown) => {
    provided[name] = value
  }
  // The tests' set-up uses only `provide` of its argument.
  const end = await globalSetup({ provide } as Parameters<typeof globalSetup>[0])
  const verdicts = await runFaults(chosen, { root, provided, lanes: 3, onGroup: showGroup }).finally(end)
  const failed = verdicts.filter((it) => !it.caught)
  for (const verdict of failed) showFailure(verdict)
  for (const fault of wanted.filter(isMissing)) showUntried(fault)
  const late = verdicts.filter((it) => it.caught && it.outcome._tag === "TimedOut")
  if (late.length > 0) console.log(`\nDetected by a time-out only: ${late.map(({ fault }) => fault.id).join(", ")}`)
  console.log(
    `\n${clock(performance.now() - begun)}\n${verdicts.length - failed.length} passed, ${failed.length} failed`
  )
  // Vitest has set it to 1, because the tests failed, as they should.
  process.exitCode = failed.length === 0 ? 0 : 1
}
