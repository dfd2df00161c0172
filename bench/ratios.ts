/**
 * The ratios that `bench/check.ts` compares: each benchmark prints its costs as multiples of a limit of the same run.
 */

const median = (values: ReadonlyArray<number>) => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN

/** Prints a cost as a multiple of a limit, where less is better; of several rounds their median. */
export const ratio = (name: string, ...rounds: ReadonlyArray<number>): void => {
  process.stdout.write(`ratio ${name} ${median(rounds).toFixed(3)}\n`)
}

/** The ratios among the lines that a benchmark printed. */
export const ratiosIn = (printed: string): ReadonlyMap<string, number> =>
  new Map([...printed.matchAll(/^ratio (\S+) ([\d.]+)$/gm)].map(([, name = "", value]) => [name, Number(value)]))
