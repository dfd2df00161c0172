/** `narthex audit list`: what people, keys and the operator did in the organization, as a table or as a file. */
import { AuditOutcome, auditCsvHead, auditCsvRows, auditLines, type OrgId } from "@narthex/api"
import { Effect, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { fittingFlag, given, partFlags, pastedFlag } from "../input/flags.ts"
import { memberNamed } from "../names/members.ts"
import { ownOrganization } from "../names/organization.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"
import { noteMore } from "../tables/noteMore.ts"

const instantFlag = (name: string, description: string) =>
  fittingFlag(name, Schema.DateTimeUtcFromString).pipe(
    Flag.withMetavar("time"),
    Flag.withDescription(description),
    Flag.optional
  )

const filters = {
  action: pastedFlag("action").pipe(
    Flag.withDescription("Only acts of this name, such as project.created"),
    Flag.optional
  ),
  actor: pastedFlag("actor").pipe(
    Flag.withMetavar("member"),
    Flag.withDescription("Only acts of this member, by address or user id, or of the key with this id"),
    Flag.optional
  ),
  target: pastedFlag("target").pipe(
    Flag.withMetavar("id"),
    Flag.withDescription("Only acts on the object with this id, or on parts of it"),
    Flag.optional
  ),
  outcome: Flag.Literals("outcome", AuditOutcome.literals).pipe(
    Flag.withDescription("Only acts that happened, or only refused ones"),
    Flag.optional
  ),
  from: instantFlag("from", "Only acts at this time or later, such as 2026-11-23T09:30:00Z"),
  until: instantFlag("until", "Only acts before this time")
}

/** The files that the log is exported as. */
const files = {
  csv: (entries: Parameters<typeof auditCsvRows>[0]) => auditCsvHead + auditCsvRows(entries),
  jsonl: auditLines
}

/** The id of the actor. People are usually known by their addresses, keys by their ids. */
const actorNamed = (api: AuthenticatedApi, org_id: OrgId, name: string) =>
  name.includes("@") ? Effect.map(memberNamed(api, org_id, name), ({ user_id }) => user_id) : Effect.succeed(name)

const list = Command.make(
  "list",
  {
    ...filters,
    format: Flag.Literals("format", ["csv", "jsonl"]).pipe(
      Flag.withDescription("Print a file: CSV with a row of names, or a line of JSON for each entry"),
      Flag.optional
    ),
    ...partFlags(100)
  },
  ({ action, actor, cursor, format, from, limit, outcome, target, until }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const { id: org_id } = yield* ownOrganization(api)
          const actor_id = Option.isSome(actor) ? Option.some(yield* actorNamed(api, org_id, actor.value)) : actor
          const wanted = {
            ...given("action", action),
            ...given("actor_id", actor_id),
            ...given("target_id", target),
            ...given("outcome", outcome),
            ...given("from", from),
            ...given("until", until)
          }
          return yield* everyPage(
            "entries",
            (page) => api.client.api.audit.list({ params: { org_id }, query: { ...wanted, ...page }, ...withBody }),
            { limit, ...given("cursor", cursor) }
          )
        })
        const { body, value } = yield* output.waiting("Reading the audit log", asked)
        if (Option.isSome(format)) {
          // The line feed at the end of the file is printed with it.
          const file = files[format.value](value)
          if (file !== "") yield* output.foreign(file.slice(0, -1))
        } else
          yield* output.answer({
            body,
            table: rows(
              ["at", "action", "outcome", "actor", "target", "from"],
              ...value.map(({ action, actor, context, occurred_at, outcome, targets: [target] }) => [
                instant(occurred_at),
                action,
                outcome,
                actor.name ?? actor.id ?? actor.type,
                target?.name ?? target?.id ?? "-",
                context.location ?? "-"
              ])
            ),
            empty: "There are no entries."
          })
        yield* noteMore(body)
      })
    )
).pipe(
  Command.withDescription("List what people, keys and the operator did, the newest first"),
  Command.withExamples([
    { command: "narthex audit list --limit 20" },
    { command: "narthex audit list --actor ada@example.com --outcome refused" },
    { command: "narthex audit list --from 2026-11-01T00:00:00Z --format csv > audit.csv" }
  ])
)

export const audit = Command.make("audit").pipe(
  Command.withDescription("The audit log of the organization, for owners and admins"),
  Command.withSubcommands([list])
)
