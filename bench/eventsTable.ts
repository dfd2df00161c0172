/** Prints results as a table, with their spread. */

const write = (text: string) => process.stdout.write(`${text}\n`)

export const row = (...cells: ReadonlyArray<string>) => write(`| ${cells.join(" | ")} |`)

export const table = (title: string, ...columns: ReadonlyArray<string>) => {
  write(`\n${title}\n`)
  row(...columns)
  write(`|${"---|".repeat(columns.length)}`)
}

const quantile = (values: ReadonlyArray<number>, share: number) =>
  values.toSorted((a, b) => a - b)[Math.round((values.length - 1) * share)] ?? Number.NaN

/** The median of the rounds, with minimum and maximum. */
export const spread = (values: ReadonlyArray<number>, show: (value: number) => string) =>
  `${show(quantile(values, 0.5))} (${show(quantile(values, 0))} to ${show(quantile(values, 1))})`

export const times = (value: number) => `${value.toFixed(2)}x`

export const perSecond = (value: number) => (Math.round(value / 1_000) * 1_000).toLocaleString("en-US")
