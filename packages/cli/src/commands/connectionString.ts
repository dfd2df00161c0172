/** `narthex connection-string`: mints a Postgres role on a branch, and prints the string that connects with it. */
import { Effect, Option, Redacted } from "effect"
import { Argument, Command } from "effect/cli"
import { branchPath, mint } from "../connecting/mint.ts"
import { Connection } from "../connection/Connection.ts"
import { accessFlag, branchFlag, given, pastedArgument, projectFlag, ttlFlag } from "../input/flags.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { instant } from "../output/table.ts"

export const connectionString = Command.make(
  "connection-string",
  {
    named: Argument.optional(
      pastedArgument("project").pipe(Argument.withDescription("The name or id of the project, as with --project"))
    ),
    project: projectFlag,
    branch: branchFlag,
    access: accessFlag,
    ttl: ttlFlag("Lifetime of the role: 90 (seconds), 30m, 8h, 7d. Default: until it is revoked")
  },
  ({ access, branch, named, project, ttl }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const params = yield* branchPath(api, { project: Option.orElse(named, () => project), branch })
        const minted = yield* mint(api, params, { access, ...given("ttl_seconds", ttl) })
        const { expires_at, role } = minted.credential
        yield* output.answer({
          body: minted.body,
          table: { _tag: "Raw", text: Redacted.value(minted.connection_uri) }
        })
        yield* output.note(
          `It contains the password of the new role ${role}, which ${expires_at === null ? "is valid until it is revoked" : `expires at ${instant(expires_at)}`}.`
        )
      })
    )
).pipe(
  Command.withDescription("Create a Postgres role on a branch, and print its connection string"),
  Command.withExamples([
    { command: "narthex connection-string shop" },
    { command: 'psql "$(narthex connection-string --branch preview --ttl 1h)"' },
    { command: "narthex connection-string --access read_only --jq .connection_uri" }
  ])
)
