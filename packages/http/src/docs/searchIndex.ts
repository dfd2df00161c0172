/** The index of the search: sections of guides, calls, problems and objects. */
import { problemCatalog } from "@narthex/api"
import { plainText } from "./html.ts"
import { type Guide, groupsOf, schemasOf, slugOf } from "./pages.ts"
import { text } from "./schemaView.ts"

interface Entry {
  readonly title: string
  /** Where the entry is from: it is shown with the title. */
  readonly detail: string
  /** More words that find the entry. */
  readonly text: string
  /** Relative to the root of the API. */
  readonly href: string
}

/** The introduction of a guide, and its sections. */
const guideEntries = ({ html, name, title }: Guide): ReadonlyArray<Entry> =>
  html.split(/(?=<h2 id=")/).map((section) => {
    const [, anchor, heading] = /^<h2 id="([^"]*)">(.*?)<\/h2>/.exec(section) ?? []
    return {
      title: heading === undefined ? title : plainText(heading),
      detail: heading === undefined ? "Guide" : `Guide: ${title}`,
      text: plainText(section),
      href: `docs/guides/${name}${anchor === undefined ? "" : `#${anchor}`}`
    }
  })

/** The order is the order of equally good results. */
export const searchIndex = (
  document: Readonly<Record<string, unknown>>,
  guides: ReadonlyArray<Guide>
): ReadonlyArray<Entry> => [
  ...guides.flatMap(guideEntries),
  ...groupsOf(document).flatMap(({ tags }) =>
    tags.flatMap((tag) =>
      tag.calls.map(({ id, method, operation, path }) => ({
        title: text(operation["summary"]).replaceAll("`", ""),
        detail: `${method} ${path}`,
        text: `${tag.name} ${id} ${text(operation["description"])}`,
        href: `docs/reference/${slugOf(tag.name)}#${id}`
      }))
    )
  ),
  ...Object.entries(problemCatalog).map(([code, { next, status, title }]) => ({
    title: code,
    detail: `Problem ${status}`,
    text: `${title} ${next}`,
    href: `docs/problems#${code}`
  })),
  ...schemasOf(document).map(([name, schema]) => ({
    title: name,
    detail: "Object",
    text: text(schema["description"]),
    href: `docs/reference/objects#object-${name}`
  }))
]
