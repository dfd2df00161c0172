/**
 * Sums of metrics in the text format of Prometheus: counters, gauges and histograms of several processes as of one.
 * Instants, ages and delays are not added: the greatest is kept.
 */

interface Family {
  /** The comments of the family: HELP, and TYPE, which is the last. */
  readonly comments: Array<string>
  /** By name and labels. */
  readonly samples: Map<string, number>
}

const families = (text: string): ReadonlyMap<string, Family> => {
  const found = new Map<string, Family>()
  let family: Family = { comments: [], samples: new Map() }
  for (const line of text.split("\n")) {
    const [, name = ""] = /^# (?:HELP|TYPE) (\S+)/.exec(line) ?? []
    if (name !== "") {
      family = found.get(name) ?? { comments: [], samples: new Map() }
      found.set(name, family)
      family.comments.push(line)
    } else if (line !== "") {
      const space = line.lastIndexOf(" ")
      family.samples.set(line.slice(0, space), read(line.slice(space + 1)))
    }
  }
  return found
}

const read = (value: string) => (value.endsWith("Inf") ? Number(value.replace("Inf", "Infinity")) : Number(value))

const write = (value: number) => String(value).replace("Infinity", "Inf").replace(/^Inf/, "+Inf")

const textOf = (all: Iterable<Family>) =>
  [...all]
    .flatMap(({ comments, samples }) => [...comments, ...[...samples].map(([key, value]) => `${key} ${write(value)}`)])
    .map((line) => `${line}\n`)
    .join("")

/** Metrics whose sum means nothing. */
const greatest: ReadonlySet<string> = new Set([
  "narthex_event_loop_delay_seconds",
  "narthex_process_info",
  "narthex_proxy_allowlist_age_seconds",
  "process_start_time_seconds"
])

/** One text in which each sample is the sum of those with its name and labels, or the greatest of them. */
export const sumMetrics = (texts: ReadonlyArray<string>): string => {
  const sums = new Map<string, Family>()
  for (const text of texts)
    for (const [name, { comments, samples }] of families(text)) {
      const sum = sums.get(name) ?? { comments, samples: new Map<string, number>() }
      sums.set(name, sum)
      for (const [key, value] of samples) {
        const former = sum.samples.get(key)
        if (former === undefined) sum.samples.set(key, value)
        else sum.samples.set(key, greatest.has(name) ? Math.max(former, value) : former + value)
      }
    }
  return textOf(sums.values())
}

/** The metrics that never fall: they stay in the sum when their process has ended. */
export const cumulative = (text: string): string =>
  textOf([...families(text).values()].filter(({ comments }) => / (?:counter|histogram)$/.test(comments.at(-1) ?? "")))
