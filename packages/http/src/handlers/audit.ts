/** Serves `AuditApi` from the core: as JSON, or as a file if `Accept` asks for one. */
import { Api, auditCsvHead, auditCsvRows, auditLines } from "@narthex/api"
import { Audit, type AuditEntry, Principal } from "@narthex/core"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { HttpApiBuilder } from "effect/http-api"
import { problems } from "../toProblem.ts"
import { pageOf } from "./records.ts"

const files: ReadonlyArray<readonly [type: string, text: (entries: ReadonlyArray<AuditEntry>) => string]> = [
  ["text/csv", (entries) => auditCsvHead + auditCsvRows(entries)],
  ["application/x-ndjson", auditLines]
]

/** The file that `Accept` names, if it does not prefer JSON; a wildcard names none. */
const fileOf = (accept = "") => {
  const named = accept.split(",").map((range) => {
    const [type = "", ...parameters] = range.split(";").map((part) => part.trim().toLowerCase())
    const quality = parameters.find((parameter) => parameter.startsWith("q="))?.slice(2)
    return { type, quality: quality === undefined ? 1 : Number(quality) }
  })
  const qualityOf = (wanted: string) => named.find(({ type }) => type === wanted)?.quality ?? 0
  const [best] = files.toSorted(([a], [b]) => qualityOf(b) - qualityOf(a))
  return best !== undefined && qualityOf(best[0]) > qualityOf("application/json") ? best : undefined
}

/** Where the page after this one is: the same query with its cursor. */
const nextOf = ({ url }: HttpServerRequest.HttpServerRequest, next_cursor: string | null) => {
  if (next_cursor === null) return {}
  const [path = "", query = ""] = url.split("?")
  const parameters = new URLSearchParams(query)
  parameters.set("cursor", next_cursor)
  return { link: `<${path}?${parameters}>; rel="next"` }
}

export const AuditHandlers = HttpApiBuilder.group(
  Api,
  "audit",
  Effect.fn(function* (handlers) {
    const audit = yield* Audit
    return handlers.handleAll({
      list: Effect.fnUntraced(function* ({ query: { cursor, limit, ...filter }, request }) {
        const page = yield* pageOf({
          ...(cursor === undefined ? {} : { cursor }),
          ...(limit === undefined ? {} : { limit })
        })
        const { items, next_cursor } = yield* problems(audit.list(yield* Principal, filter, page))
        const file = fileOf(request.headers["accept"])
        if (file === undefined) return { entries: items, pagination: { next_cursor } }
        const [contentType, text] = file
        return HttpServerResponse.text(text(items), { contentType, headers: nextOf(request, next_cursor) })
      })
    })
  })
)
