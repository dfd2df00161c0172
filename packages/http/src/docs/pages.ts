/** The pages of the documentation as HTML bodies, made from the OpenAPI document, the problems and the guides. */
import { problemCatalog } from "@narthex/api"
import { escaped, inline, paragraphs } from "./html.ts"
import type { Page, Place } from "./layout.ts"
import { type Call, methodTag, operationView } from "./operationView.ts"
import { membersView, object, objects, text } from "./schemaView.ts"

type Json = Readonly<Record<string, unknown>>

export interface Guide {
  /** The last part of the guide's path. */
  readonly name: string
  readonly title: string
  /** The first paragraph of the guide, as HTML. */
  readonly summary: string
  /** The whole guide. */
  readonly html: string
}

interface Tag {
  readonly name: string
  readonly description: string
  readonly calls: ReadonlyArray<Call>
}

interface Group {
  readonly name: string
  readonly tags: ReadonlyArray<Tag>
}

const callsOf = (document: Json): ReadonlyArray<Call> =>
  Object.entries(object(document["paths"])).flatMap(([path, item]) =>
    Object.entries(object(item)).map(([method, operation]) => ({
      id: text(object(operation)["operationId"]),
      method: method.toUpperCase(),
      path,
      operation: object(operation)
    }))
  )

const strings = (value: unknown): ReadonlyArray<string> =>
  Array.isArray(value) ? value.filter((it) => typeof it === "string") : []

/** The groups of the document with their tags and calls, in its order. */
export const groupsOf = (document: Json): ReadonlyArray<Group> => {
  const calls = callsOf(document)
  const descriptions = new Map(objects(document["tags"]).map((tag) => [text(tag["name"]), text(tag["description"])]))
  return objects(document["x-tagGroups"]).map((group) => ({
    name: text(group["name"]),
    tags: strings(group["tags"]).map((name) => ({
      name,
      description: descriptions.get(name) ?? "",
      calls: calls.filter(({ operation }) => strings(operation["tags"]).includes(name))
    }))
  }))
}

/** The last part of the path of a tag's page. */
export const slugOf = (name: string) => name.toLowerCase().replaceAll(" ", "-")

/** The pages of the reference, for the navigation: one for each tag, and the objects. */
export const referencePlaces = (groups: ReadonlyArray<Group>): ReadonlyArray<Place> => [
  ...groups.flatMap(({ tags }) => tags.map(({ name }) => ({ href: `docs/reference/${slugOf(name)}`, label: name }))),
  { href: "docs/reference/objects", label: "Objects and headers" }
]

const callItem = ({ id, method, operation, path }: Call, href: string, attributes = "") =>
  `<li${attributes}><a href="${href}#${escaped(id)}">${methodTag(method)}<span>${inline(text(operation["summary"]))}</span><code>${escaped(path)}</code></a></li>`

interface Card {
  readonly href: string
  readonly title: string
  /** HTML of one paragraph. */
  readonly summary: string
}

const cards = (all: ReadonlyArray<Card>) =>
  `<ul class="cards">${all
    .map(
      ({ href, summary, title }) =>
        `<li><a href="${href}"><strong>${escaped(title)}</strong><span>${summary}</span></a></li>`
    )
    .join("")}</ul>`

export const startPage = (document: Json, guides: ReadonlyArray<Guide>): Page => ({
  path: "docs",
  title: "Overview",
  body: [
    "<h1>The Narthex API</h1>",
    paragraphs(text(object(document["info"])["description"])),
    `<h2 id="guides">Guides</h2>`,
    cards(guides.map(({ name, summary, title }) => ({ href: `docs/guides/${name}`, title, summary }))),
    ...groupsOf(document).flatMap(({ name, tags }) => [
      `<h2>${escaped(name)}</h2>`,
      cards(
        tags.map((tag) => ({
          href: `docs/reference/${slugOf(tag.name)}`,
          title: tag.name,
          summary: inline(tag.description)
        }))
      )
    ])
  ].join("\n")
})

const headersView = (document: Json) =>
  `<section id="headers"><h2>Headers of answers</h2><dl class="members">${Object.entries(
    object(object(document["components"])["headers"])
  )
    .map(
      ([name, header]) =>
        `<div><dt><code>${escaped(name)}</code></dt><dd>${inline(text(object(header)["description"]))}</dd></div>`
    )
    .join("")}</dl></section>`

/** The objects of the document, without problems. */
export const schemasOf = (document: Json): ReadonlyArray<readonly [name: string, schema: Json]> =>
  Object.entries(object(object(document["components"])["schemas"]))
    .filter(([name]) => !name.endsWith("Problem"))
    .map(([name, schema]) => [escaped(name), object(schema)])

const objectView = ([name, schema]: readonly [string, Json]) =>
  `<section class="call object" id="object-${name}"><h3><a href="#object-${name}">${name}</a></h3><p>${inline(
    text(schema["description"])
  )}</p>${membersView(schema)}</section>`

const tagPage = ({ calls, description, name }: Tag): Page => ({
  path: `docs/reference/${slugOf(name)}`,
  title: name,
  body: [
    `<h1>${escaped(name)}</h1><p class="lead">${inline(description)}</p>`,
    `<h2>Calls</h2><ul class="calls">${calls.map((call) => callItem(call, "")).join("")}</ul>`,
    ...calls.map(operationView)
  ].join("\n")
})

/** Every call is listed under the anchor that it has on its own page, and objects and headers under theirs. */
const referenceIndex = (document: Json): Page => ({
  path: "docs/reference",
  title: "All calls",
  body: [
    "<h1>All calls</h1>",
    `<p class="lead">A page for each group. Programs read <a href="../openapi.json">openapi.json</a>.</p>`,
    ...groupsOf(document).flatMap(({ tags }) =>
      tags.map(({ calls, description, name }) => {
        const page = `reference/${slugOf(name)}`
        return `<section><h2 id="tag-${slugOf(name)}"><a href="${page}">${escaped(name)}</a></h2><p>${inline(description)}</p><ul class="calls">${calls
          .map((call) => callItem(call, page, ` id="${escaped(call.id)}"`))
          .join("")}</ul></section>`
      })
    ),
    `<section><h2 id="objects"><a href="reference/objects">Objects</a></h2><ul class="refusals">${schemasOf(document)
      .map(([name]) => `<li id="object-${name}"><a href="reference/objects#object-${name}">${name}</a></li>`)
      .join("")}</ul></section>`,
    `<section id="headers"><h2><a href="reference/objects#headers">Headers of answers</a></h2></section>`
  ].join("\n")
})

const objectsPage = (document: Json): Page => ({
  path: "docs/reference/objects",
  title: "Objects and headers",
  body: [
    "<h1>Objects and headers</h1>",
    headersView(document),
    `<h2 id="objects">Objects</h2>`,
    ...schemasOf(document).map(objectView)
  ].join("\n")
})

/** The index of the reference, and the pages that it leads to. */
export const referencePages = (document: Json): ReadonlyArray<Page> => [
  referenceIndex(document),
  ...groupsOf(document).flatMap(({ tags }) => tags.map(tagPage)),
  objectsPage(document)
]

export const problemsPage = (): Page => ({
  path: "docs/problems",
  title: "Problems",
  body: [
    "<h1>Problems</h1>",
    `<p class="lead">Every refusal has a <code>code</code>, which is stable, and says what to do next.</p>`,
    `<p>Bodies are problems of RFC 9457. The guide <a href="guides/errors">Errors</a> shows how to read them.</p>`,
    `<dl class="members">${Object.entries(problemCatalog)
      .toSorted(([, one], [, other]) => one.status - other.status)
      .map(
        ([code, { next, status, title }]) =>
          `<div id="${code}"><dt><code>${code}</code> <span class="type">${status}</span></dt><dd>${inline(title)} ${inline(next)}</dd></div>`
      )
      .join("")}</dl>`
  ].join("\n")
})

export const guidePage = ({ html, name, title }: Guide): Page => ({ path: `docs/guides/${name}`, title, body: html })
