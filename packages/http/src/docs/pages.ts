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

interface Group {
  readonly name: string
  readonly tags: ReadonlyArray<{
    readonly name: string
    readonly description: string
    readonly calls: ReadonlyArray<Call>
  }>
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

const tagAnchor = (name: string) => `tag-${name.toLowerCase().replaceAll(" ", "-")}`

/** The places of the tags for the navigation. */
export const tagPlaces = (groups: ReadonlyArray<Group>): ReadonlyArray<Place> =>
  groups.flatMap(({ tags }) => tags.map(({ name }) => ({ href: `docs/reference#${tagAnchor(name)}`, label: name })))

const callList = (calls: ReadonlyArray<Call>, root: string) =>
  `<ul class="calls">${calls
    .map(
      ({ id, method, operation, path }) =>
        `<li><a href="${root}#${escaped(id)}">${methodTag(method)}<span>${inline(text(operation["summary"]))}</span><code>${escaped(path)}</code></a></li>`
    )
    .join("")}</ul>`

export const startPage = (document: Json, guides: ReadonlyArray<Guide>): Page => ({
  path: "docs",
  title: "Overview",
  body: [
    "<h1>The Narthex API</h1>",
    paragraphs(text(object(document["info"])["description"])),
    `<h2 id="guides">Guides</h2><ul class="cards">${guides
      .map(
        ({ name, summary, title }) =>
          `<li><a href="docs/guides/${name}"><strong>${escaped(title)}</strong><span>${summary}</span></a></li>`
      )
      .join("")}</ul>`,
    ...groupsOf(document).flatMap(({ name, tags }) => [
      `<h2>${escaped(name)}</h2>`,
      ...tags.map(
        (tag) =>
          `<section><h3>${escaped(tag.name)}</h3><p>${inline(tag.description)}</p>${callList(tag.calls, "docs/reference")}</section>`
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

const objectsView = (document: Json) =>
  `<h2 id="objects">Objects</h2>${Object.entries(object(object(document["components"])["schemas"]))
    .filter(([name]) => !name.endsWith("Problem"))
    .map(
      ([name, schema]) =>
        `<section class="call object" id="object-${escaped(name)}"><h3><a href="#object-${escaped(name)}">${escaped(name)}</a></h3><p>${inline(
          text(object(schema)["description"])
        )}</p>${membersView(object(schema), "")}</section>`
    )
    .join("\n")}`

export const referencePage = (document: Json): Page => ({
  path: "docs/reference",
  title: "All calls",
  body: [
    "<h1>All calls</h1>",
    `<p class="lead">Everything on one page: search it with your browser. Programs read <a href="../openapi.json">openapi.json</a>.</p>`,
    ...groupsOf(document).flatMap(({ tags }) =>
      tags.flatMap(({ calls, description, name }) => [
        `<h2 id="${tagAnchor(name)}">${escaped(name)}</h2><p>${inline(description)}</p>`,
        callList(calls, ""),
        ...calls.map((call) => operationView(call, ""))
      ])
    ),
    headersView(document),
    objectsView(document)
  ].join("\n")
})

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
