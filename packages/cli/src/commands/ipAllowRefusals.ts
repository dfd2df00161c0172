/**
 * `narthex ip-allow refusals`: the last clients that the allowlist of a project refused, as its proxies report them.
 *
 * Pitfall: offering to allow an address that may connect by now. Where the list is empty, its rule would be the first
 * one, and refuse all other addresses.
 */
import type { NarthexClient, ProjectId } from "@narthex/api"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { given, partFlags, projectFlag } from "../input/flags.ts"
import { chooseProject } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant, rows } from "../output/table.ts"
import { noteMore } from "../tables/noteMore.ts"

/** Advice on a client that no rule covered. A failure of the check costs the advice, not the list. */
const adviceOn = Effect.fnUntraced(
  function* ({ api }: NarthexClient["Service"], project_id: ProjectId, address: string) {
    const { allowed } = yield* api.ipAllow.check({ params: { project_id }, query: { address } })
    return allowed
      ? `The last one, ${address}, may connect now.`
      : `To allow the last one: narthex ip-allow add ${address} --project ${project_id}`
  },
  (advice) => Effect.catch(advice, (failure) => Effect.as(Effect.logDebug(failure._tag), undefined))
)

export const refusals = Command.make(
  "refusals",
  { project: projectFlag, ...partFlags(100) },
  ({ cursor, limit, project }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const asked = Effect.gen(function* () {
          const { id: project_id } = yield* chooseProject(api, project)
          const found = yield* everyPage(
            "refusals",
            (query) => api.client.api.ipAllow.refusals({ params: { project_id }, query, ...withBody }),
            { limit, ...given("cursor", cursor) }
          )
          const [last] = found.value
          if (last?.reason !== "address_not_listed") return { ...found, advice: undefined }
          return { ...found, advice: yield* adviceOn(api.client, project_id, last.address) }
        })
        const { advice, body, value } = yield* output.waiting("Listing refused clients", asked)
        yield* output.answer({
          body,
          table: rows(
            ["address", "endpoint", "times", "last", "reason", "role"],
            ...value.map((it) => [
              it.address,
              it.endpoint_id,
              String(it.count),
              instant(it.last_at),
              it.reason,
              it.role ?? "-"
            ])
          ),
          empty: "No client was refused in the last 7 days."
        })
        if (advice !== undefined) yield* output.note(advice)
        yield* noteMore(body)
      })
    )
).pipe(
  Command.withDescription("List the last clients that the allowlist refused"),
  Command.withExamples([
    { command: "narthex ip-allow refusals --project shop" },
    { command: "narthex ip-allow refusals -o json | jq -r '.refusals[].address'" }
  ])
)
