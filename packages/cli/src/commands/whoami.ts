/** `narthex whoami`: who is calling, with what rights, and where the credential comes from. */
import type { Whoami } from "@narthex/api"
import { Effect } from "effect"
import { Command } from "effect/cli"
import { Connection } from "../connection/Connection.ts"
import { CredentialsFile } from "../credentials/CredentialsFile.ts"
import type { Credential } from "../credentials/resolveCredential.ts"
import { Output } from "../output/Output.ts"
import { facts } from "../output/table.ts"
import { answered, instant, isRecord, withBody } from "./answers.ts"
import { reporting } from "./reporting.ts"
import { scopeText } from "./scopeText.ts"

export const whoami = Command.make("whoami", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { path } = yield* CredentialsFile
      const { client, credential } = yield* (yield* Connection).signedIn
      const { body, value } = yield* output.waiting("Asking the API", answered(client.api.auth.whoami({ ...withBody })))
      yield* output.answer({
        body: {
          ...(isRecord(body) ? body : {}),
          api_url: credential.url,
          credential:
            credential._tag === "FromContext"
              ? { source: "context", context: credential.name, file: path }
              : { source: "environment", variable: credential.variable }
        },
        table: table(value, credential, path)
      })
      if (value.account_state === "pending") yield* output.note("The account is not enabled yet.")
    })
  )
).pipe(
  Command.withDescription("Show who is calling, with what rights, and where the credential comes from"),
  Command.withExamples([
    { command: "narthex whoami" },
    { command: "narthex whoami -o json | jq -r .organization.id", description: "The id of the organization" }
  ])
)

const table = (who: Whoami, credential: Credential, path: string) =>
  facts(
    ["user", who.user.email ?? who.user.id],
    ["organization", `${who.organization.name} (${who.organization.id})`],
    ["role", who.organization.role ?? "none: the membership has ended"],
    ["capability", who.capability ?? "all of the role"],
    ["scope", who.scope === null ? "organization" : scopeText(who.scope)],
    ["key", who.api_key === null ? "none: a session" : `${who.api_key.name} (${who.api_key.id})`],
    ["expires", instant(who.expires_at) ?? "never"],
    ["api", credential.url],
    ["credential", credential._tag === "FromContext" ? `context ${credential.name} in ${path}` : credential.variable]
  )
