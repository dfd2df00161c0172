/** `narthex credential list|create|revoke`: the Postgres roles that were minted on a branch. */
import { Effect, Redacted } from "effect"
import { Argument, Command } from "effect/cli"
import { branchPath, mint } from "../connecting/mint.ts"
import { everyPage, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { confirm } from "../input/confirm.ts"
import { accessFlag, branchFlag, given, pastedArgument, projectFlag, ttlFlag, yesFlag } from "../input/flags.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { facts, instant, rows } from "../output/table.ts"

const list = Command.make("list", { project: projectFlag, branch: branchFlag }, (wanted) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.gen(function* () {
        const params = yield* branchPath(api, wanted)
        return yield* everyPage("credentials", (query) =>
          api.client.api.branches.credentials({ params, query, ...withBody })
        )
      })
      const { body, value } = yield* output.waiting("Listing credentials", asked)
      yield* output.answer({
        body,
        table: rows(
          ["role", "access", "state", "by", "key", "created", "expires"],
          ...value.map((credential) => [
            credential.role,
            credential.access,
            credential.state,
            credential.minted_by?.email ?? credential.minted_by?.id ?? "unknown",
            credential.api_key_name ?? "-",
            instant(credential.created_at),
            instant(credential.expires_at) ?? "never"
          ])
        ),
        empty: "There are no credentials."
      })
    })
  )
).pipe(
  Command.withDescription("List the database credentials of a branch that you may revoke"),
  Command.withExamples([{ command: "narthex credential list --project shop --branch main" }])
)

const create = Command.make(
  "create",
  {
    project: projectFlag,
    branch: branchFlag,
    access: accessFlag,
    ttl: ttlFlag("Lifetime of the role: 90 (seconds), 30m, 8h, 7d. Default: until it is revoked")
  },
  ({ access, ttl, ...wanted }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const params = yield* branchPath(api, wanted)
        const { body, connection_uri, credential, password } = yield* mint(api, params, {
          access,
          ...given("ttl_seconds", ttl)
        })
        const { hostname, pathname, port } = new URL(Redacted.value(connection_uri))
        yield* output.answer({
          body,
          table: facts(
            ["role", credential.role],
            ["password", Redacted.value(password)],
            ["host", `${hostname}:${port}`],
            ["database", pathname.slice(1)],
            ["access", credential.access],
            ["expires", instant(credential.expires_at) ?? "never"],
            ["uri", Redacted.value(connection_uri)]
          )
        })
        yield* output.note("The password is shown only now.")
      })
    )
).pipe(
  Command.withDescription("Create a Postgres role on a branch, and show its password once"),
  Command.withExamples([{ command: "narthex credential create --project shop --access read_only --ttl 7d" }])
)

const revoke = Command.make(
  "revoke",
  {
    role: pastedArgument("role").pipe(
      Argument.withDescription("The name of the Postgres role, role_…"),
      Argument.filter(
        (text) => /^role_[a-z0-9]+$/.test(text),
        () => "Expected a role such as role_4f…; narthex credential list shows the names"
      )
    ),
    project: projectFlag,
    branch: branchFlag,
    yes: yesFlag
  },
  (wanted) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const path = yield* branchPath(api, wanted)
        yield* confirm(
          `The role ${wanted.role} will be revoked and its sessions end, which cannot be undone.`,
          wanted.yes
        )
        const params = { ...path, role: wanted.role }
        yield* output.waiting("Revoking the credential", api.client.api.branches.revokeCredential({ params }))
        yield* output.note("The credential is revoked.")
      })
    )
).pipe(
  Command.withDescription("Revoke a database credential and end its sessions"),
  Command.withExamples([{ command: "narthex credential revoke role_4f… --project shop --branch main" }])
)

export const credential = Command.make("credential").pipe(
  Command.withDescription("Database credentials of a branch"),
  Command.withSubcommands([list, create, revoke])
)
