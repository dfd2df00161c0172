/** `narthex whoami`: the user, the organization, the permissions, and the source of the credential. */
import type { Whoami } from "@narthex/api"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { answered, isRecord, withBody } from "../connection/answers.ts"
import type { Bearer } from "../connection/Bearer.ts"
import { Connection } from "../connection/Connection.ts"
import { ContextFile } from "../contexts/ContextFile.ts"
import { noteInviter } from "../output/noteInviter.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, scopeText } from "../output/table.ts"

export const whoami = Command.make("whoami", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { path } = yield* ContextFile
      const { client, bearer } = yield* (yield* Connection).authenticated
      const { body, value } = yield* output.waiting(
        "Calling the API",
        answered(client.api.auth.whoami({ ...withBody }))
      )
      yield* output.answer({
        body: {
          ...(isRecord(body) ? body : {}),
          api_url: bearer.url,
          credential:
            bearer._tag === "FromContext"
              ? { source: "context", context: bearer.name, file: path }
              : { source: "environment", variable: bearer.variable }
        },
        table: table(value, bearer, path)
      })
      yield* noteInviter(value)
      if (value.account_state === "pending") yield* output.note("The account is not enabled yet.")
    })
  )
).pipe(
  Command.withDescription("Show the user, the organization, the permissions, and the source of the credential"),
  Command.withExamples([
    { command: "narthex whoami" },
    { command: "narthex whoami -o json | jq -r .organization.id", description: "The id of the organization" }
  ])
)

const table = (who: Whoami, bearer: Bearer, path: string) =>
  facts(
    ["user", who.user.email ?? who.user.id],
    ["organization", `${who.organization.name} (${who.organization.id})`],
    ["role", who.organization.role ?? "none (not a member any more)"],
    ["capability", who.capability ?? "everything that the role allows"],
    ["scope", who.scope === null ? "organization" : scopeText(who.scope)],
    ["key", who.api_key === null ? "none (a session)" : `${who.api_key.name} (${who.api_key.id})`],
    ["expires", instant(who.expires_at) ?? "never"],
    ["api", bearer.url],
    ["credential", bearer._tag === "FromContext" ? `context ${bearer.name} in ${path}` : bearer.variable]
  )
