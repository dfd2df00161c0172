/**
 * Runs faults on several lanes. Faults with the same tests form a group: its tests run without any fault first, and once
 * more at the end, which shows that no fault left anything behind that would fail the tests of the next.
 */
import type { Fault } from "./Fault.ts"
import { Lane, type LaneOptions, type Limits, type Outcome } from "./Lane.ts"

export type Verdict =
  | { readonly fault: Fault; readonly caught: true; readonly outcome: Outcome }
  /** The fault survived, or it could not be tried: `reason`. */
  | { readonly fault: Fault; readonly caught: false; readonly reason: string }

export interface GroupReport {
  readonly verdicts: ReadonlyArray<Verdict>
  readonly millis: number
}

export interface RunOptions extends LaneOptions {
  readonly lanes: number
  /** The time that a test and a run may take with a fault, in addition to several times their time without it. */
  readonly patience?: Limits
  /** How many times as long a run may take that is repeated because it timed out. */
  readonly second?: number
  readonly onGroup: (report: GroupReport) => void
}

type Allowed = Limits & Required<Pick<RunOptions, "second">>

/** Without a fault, tests may take as long as elsewhere. */
const clean: Limits = { test: 120_000, run: 300_000 }
const usualPatience: Limits = { test: 3_000, run: 12_000 }

/** Faults for one thread. Each leaves its version of the modules behind, which is megabytes with a large graph. */
const faultsOfThread = 60

const verdictOf = (fault: Fault, outcome: Outcome): Verdict => {
  switch (outcome._tag) {
    case "Failed":
    case "TimedOut":
      return { fault, caught: true, outcome }
    case "Passed":
      return { fault, caught: false, reason: "no test failed" }
    case "Unusable":
      return { fault, caught: false, reason: outcome.reason }
  }
}

const describe = (outcome: Outcome): string => {
  switch (outcome._tag) {
    case "Passed":
      return "passed"
    case "Failed":
      return `${outcome.by}: ${outcome.message}`
    case "TimedOut":
      return `${outcome.by}: timed out`
    case "Unusable":
      return outcome.reason
  }
}

/** A time-out may be the machine's: it counts once it has come again with larger limits. */
const plant = async (lane: Lane, fault: Fault, { run, test, second }: Allowed): Promise<Outcome> => {
  const outcome = await lane.plant(fault, { run, test })
  return outcome._tag === "TimedOut" ? lane.plant(fault, { run: second * run, test: second * test }) : outcome
}

/** The faults of a group one after another; those caught are tried again each on its own if the last run is not clean. */
const runGroup = async (lane: Lane, faults: ReadonlyArray<Fault>, limits: Allowed): Promise<ReadonlyArray<Verdict>> => {
  const verdicts: Array<Verdict> = []
  for (const fault of faults) verdicts.push(verdictOf(fault, await plant(lane, fault, limits)))
  const [first] = faults
  if (first === undefined || (await lane.run(first.tests, clean))._tag === "Passed") return verdicts
  const again: Array<Verdict> = []
  for (const verdict of verdicts) {
    await lane.renew()
    again.push(verdict.caught ? verdictOf(verdict.fault, await plant(lane, verdict.fault, limits)) : verdict)
  }
  await lane.renew()
  return again
}

export const runFaults = async (
  faults: ReadonlyArray<Fault>,
  { lanes, onGroup, patience = usualPatience, second = 10, ...options }: RunOptions
): Promise<ReadonlyArray<Verdict>> => {
  const groups = [...Map.groupBy(faults, ({ file, tests }) => [file, ...tests].join(" ")).values()]
  const waiting = groups.toSorted((a, b) => b.length - a.length)
  const verdicts: Array<Verdict> = []

  const work = async () => {
    const lane = new Lane(options)
    let ofThread = 0
    try {
      for (let group = waiting.shift(); group !== undefined; group = waiting.shift()) {
        const begun = performance.now()
        if (ofThread >= faultsOfThread) {
          await lane.renew()
          ofThread = 0
        }
        ofThread += group.length
        const untouched = await lane.run(group[0]?.tests ?? [], clean)
        const reason = `Without any fault its tests do not pass. ${describe(untouched)}`
        const done =
          untouched._tag === "Passed"
            ? await runGroup(lane, group, {
                test: patience.test + 3 * untouched.slowest,
                run: patience.run + 5 * untouched.millis,
                second
              })
            : group.map((fault): Verdict => ({ fault, caught: false, reason }))
        verdicts.push(...done)
        onGroup({ verdicts: done, millis: performance.now() - begun })
      }
    } finally {
      await lane.close()
    }
  }
  await Promise.all(Array.from({ length: Math.min(lanes, groups.length) }, work))
  return verdicts
}
