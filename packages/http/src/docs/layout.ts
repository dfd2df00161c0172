/** The frame of every page of the documentation: head, navigation, and the way to the console. */
import { escaped } from "./html.ts"

export interface Place {
  readonly href: string
  readonly label: string
}

export interface Navigation {
  readonly guides: ReadonlyArray<Place>
  /** The groups of the reference. */
  readonly groups: ReadonlyArray<Place>
  readonly console_url: string | null
  /** The digest with which the URLs of everything immutable end. */
  readonly version: string
}

/** A page at a path below the API. `path` begins with `docs`. */
export interface Page {
  readonly path: string
  readonly title: string
  readonly body: string
}

/** From a page to the root of the API: relative, because the API may be mounted below any path. */
const rootOf = (path: string): string => "../".repeat(path.split("/").length - 1)

const links = (places: ReadonlyArray<Place>, root: string, current: string) =>
  places
    .map(
      ({ href, label }) =>
        `<li><a href="${root}${escaped(href)}"${href === current ? ' aria-current="page"' : ""}>${escaped(label)}</a></li>`
    )
    .join("")

const section = (title: string, places: ReadonlyArray<Place>, root: string, current: string) =>
  `<h2>${escaped(title)}</h2><ul>${links(places, root, current)}</ul>`

const navigation = ({ groups, guides }: Navigation, root: string, current: string) =>
  [
    section("Start", [{ href: "docs", label: "Overview" }], root, current),
    section("Guides", guides, root, current),
    section("Reference", [{ href: "docs/reference", label: "All calls" }, ...groups], root, current),
    section(
      "More",
      [
        { href: "docs/problems", label: "Problems" },
        { href: "openapi.json", label: "openapi.json" }
      ],
      root,
      current
    )
  ].join("")

/** The page as HTML. It is whole without its script, and nothing of it comes from another origin. */
export const document = ({ body, path, title }: Page, nav: Navigation): string => {
  const root = rootOf(path)
  const places = navigation(nav, root, path)
  const icon = `${root}docs/icon.svg?v=${nav.version}`
  const toConsole =
    nav.console_url === null ? "" : `<a class="console" href="${escaped(nav.console_url)}">Open the console</a>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<title>${escaped(title)} · Narthex API</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<link rel="icon" href="${icon}" type="image/svg+xml">
<link rel="stylesheet" href="${root}docs/style.css?v=${nav.version}">
<script type="module" src="${root}docs/search.js?v=${nav.version}"></script>
</head>
<body>
<a class="skip" href="#content">Skip to the content</a>
<header class="top"><a class="brand" href="${root}docs"><img src="${icon}" alt="" width="22" height="22"><span>Narthex <span class="muted">API</span></span></a>${toConsole}</header>
<details class="menu"><summary>Contents</summary><nav aria-label="Contents">${places}</nav></details>
<div class="shell">
<nav class="side" aria-label="Documentation">${places}</nav>
<main id="content">
${body}
</main>
</div>
</body>
</html>
`
}
