/** A call of the reference: what it does, what it takes, a sample, and what it answers. */
import { codeBlock, escaped, inline, paragraphs } from "./html.ts"
import { bodyView, membersView, object, objects, text, typeOf } from "./schemaView.ts"

type Json = Readonly<Record<string, unknown>>

export interface Call {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly operation: Json
}

/** Text for a POSIX shell. */
const quoted = (value: string) => `'${value.replaceAll("'", `'\\''`)}'`

const credentialOf = ({ operation }: Call): string | undefined => {
  const [security] = objects(operation["security"])
  if (security === undefined) return undefined
  if ("proxy_token" in security) return "$NARTHEX_PROXY_TOKEN"
  return text(operation["description"]).includes("API keys are refused") ? "$SESSION_TOKEN" : "$NARTHEX_API_KEY"
}

const parameters = (operation: Json, place: string) =>
  objects(operation["parameters"]).filter((it) => it["in"] === place)

const bodyOf = (operation: Json): Json =>
  object(object(object(operation["requestBody"])["content"])["application/json"])

/** The call with curl, with the examples of the document. */
const curlSample = (call: Call): string => {
  const { method, operation, path } = call
  const filled = parameters(operation, "path").reduce(
    (url, it) => url.replace(`{${text(it["name"])}}`, encodeURIComponent(String(it["example"]))),
    path
  )
  const query = parameters(operation, "query")
    .filter((it) => it["required"] === true)
    .map((it) => `${text(it["name"])}=${encodeURIComponent(String(it["example"]))}`)
  const credential = credentialOf(call)
  const body = bodyOf(operation)["example"]
  const streams = JSON.stringify(operation["responses"]).includes("text/event-stream")
  return [
    `curl${streams ? " --no-buffer" : ""} "$NARTHEX_URL${filled}${query.length === 0 ? "" : `?${query.join("&")}`}"`,
    ...(method === "GET" ? [] : [`-X ${method}`]),
    ...(credential === undefined ? [] : [`-H "Authorization: Bearer ${credential}"`]),
    ...parameters(operation, "header")
      .filter((it) => it["name"] === "Idempotency-Key")
      .map((it) => `-H "Idempotency-Key: ${String(it["example"])}"`),
    ...(body === undefined ? [] : [`-H "Content-Type: application/json"`, `-d ${quoted(JSON.stringify(body))}`])
  ].join(" \\\n  ")
}

const parameterRows = (operation: Json): string => {
  const all = objects(operation["parameters"])
  if (all.length === 0) return ""
  const rows = all.map(
    (it) =>
      `<div><dt><code>${escaped(text(it["name"]))}</code> <span class="type">${escaped(text(it["in"]))}, ${typeOf(object(it["schema"]))}</span>${
        it["required"] === true ? ` <span class="needed">required</span>` : ""
      }</dt><dd>${inline(text(it["description"]))}</dd></div>`
  )
  return `<h4>Parameters</h4><dl class="members">${rows.join("")}</dl>`
}

const answerView = (status: string, response: Json): string => {
  const [content] = Object.values(object(response["content"])).map(object)
  const headers = Object.keys(object(response["headers"]))
  const example = content?.["example"]
  return [
    `<h4>Answer <span class="status">${status}</span></h4><p>${inline(text(response["description"]))}</p>`,
    headers.length === 0
      ? ""
      : `<p><small>Headers: ${headers.map((name) => `<a href="objects#headers"><code>${escaped(name)}</code></a>`).join(", ")}</small></p>`,
    content === undefined ? "" : bodyView(object(content["schema"])),
    example === undefined
      ? ""
      : codeBlock(
          typeof example === "string" ? example : JSON.stringify(example, undefined, 2),
          `Example of answer ${status}`
        )
  ].join("")
}

/** The codes of the refusals, in the order of their status. */
const refusals = (operation: Json): string => {
  const codes = Object.entries(object(operation["responses"]))
    .filter(([status]) => Number(status) >= 400)
    .flatMap(([status, response]) =>
      [...text(object(response)["description"]).matchAll(/`(\w+)`: /g)].map(([, code]) => ({ status, code }))
    )
  return codes.length === 0
    ? ""
    : `<h4>Refusals</h4><ul class="refusals">${codes
        .map(({ code, status }) => `<li><a href="../problems#${code}">${status} ${code}</a></li>`)
        .join("")}</ul>`
}

export const methodTag = (method: string) => `<span class="method ${method.toLowerCase()}">${method}</span>`

/** For a page of `docs/reference`. */
export const operationView = (call: Call): string => {
  const { id, method, operation, path } = call
  const body = bodyOf(operation)
  const answers = Object.entries(object(operation["responses"])).filter(([status]) => Number(status) < 400)
  return [
    `<section class="call" id="${escaped(id)}" aria-labelledby="${escaped(id)}-title">`,
    `<header><h3 id="${escaped(id)}-title"><a href="#${escaped(id)}">${inline(text(operation["summary"]))}</a></h3>${methodTag(method)}<code>${escaped(path)}</code></header>`,
    paragraphs(text(operation["description"])),
    parameterRows(operation),
    body["schema"] === undefined ? "" : `<h4>Body</h4>${isEmpty(body) ? "" : membersView(object(body["schema"]))}`,
    "<h4>Sample</h4>",
    codeBlock(curlSample(call), "Sample"),
    ...answers.map(([status, response]) => answerView(status, object(response))),
    refusals(operation),
    "</section>"
  ].join("\n")
}

const isEmpty = (body: Json) => Object.keys(object(object(body["schema"])["properties"])).length === 0
