/** The events of the control plane: the page `docs/events.md`, from the catalog of the core. */
import { type CatalogedEvent, eventCatalog } from "@narthex/core"
import { markdownTable } from "./pages/markdownTable.ts"
import { pageLink } from "./pages/pageLink.ts"

const section = ([type, { data, moment, source }]: readonly [string, CatalogedEvent]) => [
  `### ${type}`,
  "",
  `${moment} Source: \`${source}\`.`,
  "",
  markdownTable(
    ["Member of `data`", "Meaning"],
    Object.entries(data).map(([name, meaning]) => [`\`${name}\``, meaning])
  ),
  ""
]

export const eventsPage = (): string => {
  const events = Object.entries<CatalogedEvent>(eventCatalog)
  return [
    "<!-- Generated from packages/core/src/records/events/eventCatalog.ts by scripts/docs.ts: change it there. -->",
    "# Events",
    "",
    "Every type of event of the control plane. Each arrives in the envelope `id, type, source, org_id, project_id?, region_id, at,",
    "data`. A member with `?` may be left out. Members may be added, so ignore those that you do not know.",
    `${pageLink("guides/events", "Follow events")} shows how to read a stream, and ${pageLink("design/events", "the design")} has the rules.`,
    "",
    `A program that embeds the control plane ${pageLink("design/events", "declares types of its own", "events-of-the-host")}, with the`,
    "source `host`.",
    "",
    "## Seen by clients",
    "",
    ...events.filter(([, { clients }]) => clients).flatMap(section),
    "## Internal",
    "",
    "Instances act on these rows of the log. Streams and history never show them.",
    "",
    ...events.filter(([, { clients }]) => !clients).flatMap(section)
  ].join("\n")
}
