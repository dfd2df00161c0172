/** Makes everything that is served under `/docs`, and the OpenAPI document: a page for each path. */
import { openApiDocument } from "@narthex/api"
import { Effect } from "effect"
import { ServerIdentity } from "../ServerIdentity.ts"
import { type CachedPage, makeCachedPage } from "./CachedPage.ts"
import { guides as rendered } from "./guides.generated.ts"
import { document, icon, type Navigation } from "./layout.ts"
import { groupsOf, guidePage, problemsPage, referencePages, referencePlaces, startPage } from "./pages.ts"
import { style } from "./style.ts"

export const makePages = Effect.fnUntraced(function* (names: ReadonlyArray<keyof typeof rendered>) {
  const { console_url } = yield* ServerIdentity
  const described = openApiDocument()
  const api: Readonly<Record<string, unknown>> = { ...described }
  const guides = names.map((name) => ({ name, ...rendered[name] }))
  const sheet = yield* makeCachedPage(style)
  const navigation: Navigation = {
    guides: guides.map(({ name, title }) => ({ href: `docs/guides/${name}`, label: title })),
    groups: referencePlaces(groupsOf(api)),
    console_url,
    style_version: sheet.version
  }
  const made = new Map<string, CachedPage>([["/docs/style.css", sheet]])
  made.set("/docs/icon.svg", yield* makeCachedPage(icon))
  made.set("/openapi.json", yield* makeCachedPage(JSON.stringify(described)))
  for (const page of [startPage(api, guides), ...referencePages(api), problemsPage(), ...guides.map(guidePage)])
    made.set(`/${page.path}`, yield* makeCachedPage(document(page, navigation)))
  return made
})
