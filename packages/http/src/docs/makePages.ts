/** Makes everything that is served under `/docs`, and the OpenAPI document: a page for each path. */
import { openApiDocument } from "@narthex/api"
import { Effect } from "effect"
import { ServerIdentity } from "../ServerIdentity.ts"
import { assets } from "./assets.generated.ts"
import { type CachedPage, makeCachedPage } from "./CachedPage.ts"
import { guides as rendered } from "./guides.generated.ts"
import { document, type Navigation } from "./layout.ts"
import { groupsOf, guidePage, problemsPage, referencePages, referencePlaces, startPage } from "./pages.ts"
import { searchIndex } from "./searchIndex.ts"
import { styleWith } from "./style.ts"

export const makePages = Effect.fnUntraced(function* (names: ReadonlyArray<keyof typeof rendered>) {
  const { console_url } = yield* ServerIdentity
  const described = openApiDocument()
  const api: Readonly<Record<string, unknown>> = { ...described }
  const guides = names.map((name) => ({ name, ...rendered[name] }))
  const font = yield* makeCachedPage(
    assets.font,
    Uint8Array.from(atob(assets.font), (char) => char.charCodeAt(0))
  )
  const icon = yield* makeCachedPage(assets.icon)
  const script = yield* makeCachedPage(assets.script)
  const sheet = yield* makeCachedPage(styleWith(font.version))
  const navigation: Navigation = {
    guides: guides.map(({ name, title }) => ({ href: `docs/guides/${name}`, label: title })),
    groups: referencePlaces(groupsOf(api)),
    console_url,
    version: [sheet, icon, script].map((page) => page.version.slice(0, 8)).join("")
  }
  const made = new Map<string, CachedPage>([
    ["/docs/style.css", sheet],
    ["/docs/inter.woff2", font],
    ["/docs/icon.svg", icon],
    ["/docs/search.js", script]
  ])
  made.set("/docs/search.json", yield* makeCachedPage(JSON.stringify(searchIndex(api, guides))))
  made.set("/openapi.json", yield* makeCachedPage(JSON.stringify(described)))
  for (const page of [startPage(api, guides), ...referencePages(api), problemsPage(), ...guides.map(guidePage)])
    made.set(`/${page.path}`, yield* makeCachedPage(document(page, navigation)))
  return made
})
