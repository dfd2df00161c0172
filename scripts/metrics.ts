/** The metrics of the admin port: the page `docs/metrics.md`, from the catalog of the server. */
import { type CatalogedMetric, metricCatalog } from "@narthex/server"
import { markdownTable } from "./pages/markdownTable.ts"
import { pageLink } from "./pages/pageLink.ts"

const parts: ReadonlyArray<readonly [of: CatalogedMetric["of"], title: string]> = [
  ["requests", "Requests"],
  ["event streams", "Event streams"],
  ["operations", "Operations"],
  ["proxy", "Proxy"],
  ["process", "Process"],
  ["store", "Store"]
]

const labelsOf = ({ labels = {} }: CatalogedMetric) =>
  Object.entries(labels)
    .map(([label, values]) => `\`${label}\`: ${values}`)
    .join("<br>")

export const metricsPage = (): string =>
  [
    "<!-- Generated from packages/server/src/metricCatalog.ts by scripts/docs.ts: change it there. -->",
    "# Metrics",
    "",
    "`/metrics` on the admin port of every process has its metrics in the format of Prometheus, without a credential. A metric is",
    "there once the part that updates it runs. A histogram has the series `_bucket`, `_sum` and `_count`. Names and labels are an",
    `interface. ${pageLink("operating/monitoring", "Monitoring")} has alerts, a dashboard, and how to read the metrics of several instances.`,
    "",
    ...parts.flatMap(([part, title]) => [
      `## ${title}`,
      "",
      markdownTable(
        ["Metric", "Kind", "Labels", "Meaning"],
        Object.entries(metricCatalog)
          .filter(([, metric]) => metric.of === part)
          .map(([name, metric]) => [`\`${name}\``, metric.kind, labelsOf(metric), metric.meaning])
      ),
      ""
    ])
  ].join("\n")
