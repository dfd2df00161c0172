/** Metrics of the admin port that differ from the catalog of metrics: unknown names, kinds and labels. */
import { metricCatalog } from "@narthex/server"

/** `text` is an answer of `/metrics`. */
export const metricsWithoutEntry = (text: string): ReadonlyArray<string> => {
  const lines = text.split("\n")
  const kinds = new Map(
    lines.flatMap((line) => [...line.matchAll(/^# TYPE (\S+) (\S+)$/g)]).map((it) => [it[1], it[2]])
  )
  return lines
    .filter((line) => line !== "" && !line.startsWith("#"))
    .flatMap((line) => {
      const [, series = "", labels = ""] = /^(\w+)(?:\{(.*)\})? /.exec(line) ?? []
      const base = series.replace(/_(?:bucket|sum|count)$/, "")
      const name = kinds.get(base) === "histogram" ? base : series
      const entry = metricCatalog[name]
      if (entry === undefined) return [line]
      const known = [...Object.keys(entry.labels ?? {}), ...(entry.kind === "histogram" ? ["le"] : [])]
      const given = [...labels.matchAll(/(\w+)="/g)].map(([, label = ""]) => label)
      return entry.kind === kinds.get(name) && given.every((label) => known.includes(label)) ? [] : [line]
    })
}
