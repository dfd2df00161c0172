/** The audit log of an organization, as a page and as a file. */
import { AuditOutcome, auditCsvHead, auditCsvRows, parseOrgId } from "@narthex/api"
import { DateTime, Effect, Option, Schema } from "effect"
import { HttpServerResponse } from "effect/http"
import { calling, idOrNotFound } from "../api/ApiRefusal.ts"
import type { ConsoleRoute } from "../requests/ConsoleRoute.ts"
import { type Asked, inOrganizationReading } from "../requests/Visit.ts"
import { type AuditFilterShown, AuditPage } from "../views/Audit.tsx"
import { page } from "../web/answer.tsx"

/** The number of entries on a page, and in a file. */
const [shown, filed] = [50, 1000]

const outcomeOf = Schema.decodeUnknownOption(AuditOutcome)

/** The begin of a day in UTC. Text that is no day filters nothing. */
const dayOf = (text: string) => (/^\d{4}-\d{2}-\d{2}$/.test(text) ? DateTime.make(`${text}T00:00:00Z`) : Option.none())

const text = (query: URLSearchParams, name: string) => (query.get(name) ?? "").trim()

/** The filter in the address. Values that the API would refuse are left out. */
const filterIn = (query: URLSearchParams): AuditFilterShown => {
  const day = (name: string) => (Option.isSome(dayOf(text(query, name))) ? text(query, name) : "")
  return {
    action: text(query, "action"),
    outcome: Option.getOrElse(outcomeOf(query.get("outcome")), () => "" as const),
    actor: text(query, "actor"),
    target: text(query, "target"),
    from: day("from"),
    to: day("to")
  }
}

/** The filter for the API, whose end is not included: the day after the last one. */
const wantedOf = ({ action, actor, from, outcome, target, to }: AuditFilterShown) => {
  const [begin, end] = [dayOf(from), Option.map(dayOf(to), DateTime.add({ days: 1 }))]
  return {
    ...(action === "" ? {} : { action }),
    ...(outcome === "" ? {} : { outcome }),
    ...(actor === "" ? {} : { actor_id: actor }),
    ...(target === "" ? {} : { target_id: target }),
    ...(Option.isSome(begin) ? { from: begin.value } : {}),
    ...(Option.isSome(end) ? { until: end.value } : {})
  }
}

const reading = (limit: number) =>
  Effect.fnUntraced(function* ({ param, query }: Asked) {
    const org_id = yield* idOrNotFound(parseOrgId(param("org_id")))
    const cursor = query.get("cursor") || undefined
    const wanted = { ...wantedOf(filterIn(query)), limit, ...(cursor === undefined ? {} : { cursor }) }
    return yield* calling((api) => api.audit.list({ params: { org_id }, query: wanted }))
  })

const path = "/orgs/:org_id/settings/audit"

export const auditRoutes: ReadonlyArray<ConsoleRoute> = [
  {
    method: "GET",
    path,
    answer: inOrganizationReading(reading(shown), ({ frame, query }, { entries, pagination }) =>
      Effect.sync(() =>
        page(
          <AuditPage
            frame={frame}
            entries={entries}
            filter={filterIn(query)}
            next_cursor={pagination.next_cursor}
            cursor={query.get("cursor")}
          />
        )
      )
    )
  },
  {
    method: "GET",
    path: `${path}.csv`,
    answer: inOrganizationReading(reading(filed), (_, { entries }) =>
      Effect.succeed(
        HttpServerResponse.text(auditCsvHead + auditCsvRows(entries), {
          contentType: "text/csv; charset=utf-8",
          headers: { "cache-control": "no-store", "content-disposition": 'attachment; filename="audit.csv"' }
        })
      )
    )
  }
]
