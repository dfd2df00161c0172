/** The measurements of a run of the suite, as a table of its report. */
import { note } from "../../harness/note.ts"
import { type Measured, type Row, rows } from "./Measured.ts"

/** The least value that this share of the values does not exceed (nearest rank). */
export const percentile = (values: ReadonlyArray<number>, share: number): number =>
  values.toSorted((a, b) => a - b)[Math.ceil(values.length * share) - 1] ?? 0

const columns = (cells: ReadonlyArray<string>, [first = 0, ...others]: ReadonlyArray<number>) =>
  cells.map((cell, at) => (at === 0 ? cell.padEnd(first) : cell.padStart(others[at - 1] ?? 0))).join("  ")

const widths = [14, 9, 9, 9, 9, 7, 6, 8]

const line = (row: Row, quiet: Measured, loud: Measured) => {
  const [before, during] = [quiet.took[row], loud.took[row]]
  const shown = [percentile(before, 0.5), percentile(before, 0.99), percentile(during, 0.5), percentile(during, 0.99)]
  const factor = (shown[3] ?? 0) / Math.max(1, shown[1] ?? 0)
  const failed = [...quiet.failures, ...loud.failures].filter(({ step }) => step === row).length
  return [
    row,
    ...shown.map((each) => String(Math.round(each))),
    factor.toFixed(1),
    String(during.length),
    String(failed)
  ]
}

/** Milliseconds of every revocation that was complete, by its name. */
export type Revocations = ReadonlyArray<readonly [name: string, milliseconds: number]>

/** Prints, for each step and its parts, both percentiles in quiet and under attack, and the slowest revocation of each kind. */
export const report = (quiet: Measured, loud: Measured, revocations: Revocations) => {
  const names = ["ms", "quiet p50", "p99", "loud p50", "p99", "factor", "times", "failed"]
  for (const cells of [names, ...rows.map((row) => line(row, quiet, loud))]) note(columns(cells, widths))
  for (const [name, all = []] of Object.entries(Object.groupBy(revocations, ([name]) => name))) {
    const slowest = Math.max(...all.map(([, milliseconds]) => milliseconds))
    note(`${columns([String(Math.round(slowest)), String(all.length)], [6, 3])}  ${name}`)
  }
}
