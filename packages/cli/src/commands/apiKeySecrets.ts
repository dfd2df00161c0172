/** `narthex api-key get|create|rotate`. The last two show a secret, and need a person's session (docs/design/cli.md C27). */
import { type CreatedApiKey, ExpiresInDays, GraceSeconds, KeyName, type Scope } from "@narthex/api"
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { Stopped, UsageMistake } from "../failures/LocalFailure.ts"
import { confirm } from "../input/confirm.ts"
import {
  durationFlag,
  fittingArgument,
  given,
  onlyProjectFlag,
  pastedArgument,
  pastedFlag,
  yesFlag
} from "../input/flags.ts"
import { openFlag, orInConsole, showPage } from "../login/consolePage.ts"
import { branchNamed } from "../names/branches.ts"
import { keyNamed } from "../names/members.ts"
import { projectNamed } from "../names/projects.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { type Cell, facts, instant, scopeText } from "../output/table.ts"

type Created = typeof CreatedApiKey.Type
type Key = Created["api_key"]

const pairs = (key: Key): ReadonlyArray<readonly [string, Cell]> => [
  ["key", key.id],
  ["name", key.name],
  ["hint", key.hint],
  ["capability", key.capability],
  ["scope", scopeText(key.scope)],
  ["created", instant(key.created_at)],
  ["by", key.created_by.email ?? key.created_by.id],
  ["last used", instant(key.last_used_at) ?? "never"],
  ["from", key.last_used_from],
  ["expires", instant(key.expires_at) ?? "never"],
  ["revoked", instant(key.revoked_at)]
]

const keyArgument = pastedArgument("key").pipe(Argument.withDescription("The name or id of the key"))

const get = Command.make("get", { key: keyArgument }, ({ key }) =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const api = yield* (yield* Connection).authenticated
      const asked = Effect.flatMap(keyNamed(api, key), (api_key_id) =>
        answered(api.client.api.apiKeys.get({ params: { api_key_id }, ...withBody }))
      )
      const { body, value } = yield* output.waiting("Reading the key", asked)
      yield* output.answer({ body, table: facts(...pairs(value.api_key)) })
    })
  )
).pipe(Command.withDescription("Show an API key"), Command.withExamples([{ command: "narthex api-key get ci" }]))

const keysPage = (org_id: string) => `/orgs/${org_id}/api-keys`

interface Shown {
  readonly body: unknown
  readonly value: Created
}

/** Prints the key with its secret. A replayed answer has none. */
const show = Effect.fnUntraced(function* ({ body, value }: Shown, lost: string) {
  const output = yield* Output
  const { api_key, secret } = value
  if (secret === null)
    return yield* new Stopped({
      message: `The key ${api_key.id} has a new secret, but the answer with it was lost.`,
      hint: lost
    })
  yield* output.answer({ body, table: facts(...pairs(api_key), ["secret", Redacted.value(secret)]) })
  yield* output.note("The secret is shown only now.")
})

/** The scope that the flags describe: the organization, a project or a branch. */
const scopeOf = Effect.fnUntraced(function* (
  api: AuthenticatedApi,
  project: Option.Option<string>,
  branch: Option.Option<string>
): Effect.fn.Return<Scope, Effect.Error<ReturnType<typeof branchNamed | typeof projectNamed>> | UsageMistake> {
  if (Option.isNone(project)) {
    if (Option.isNone(branch)) return { type: "organization" }
    return yield* new UsageMistake({ message: "--branch needs --project.", hint: "narthex api-key create --help" })
  }
  const project_id = yield* projectNamed(api, { name: project.value })
  if (Option.isNone(branch)) return { type: "project", project_id }
  return { type: "branch", project_id, branch_id: yield* branchNamed(api, project_id, { name: branch.value }) }
})

const create = Command.make(
  "create",
  {
    name: Argument.optional(
      fittingArgument("name", KeyName).pipe(
        Argument.withDescription("The name of the key. Without it: the console's page")
      )
    ),
    capability: Flag.Literals("capability", ["read_write", "read", "agent"]).pipe(
      Flag.withDescription("What the key may do. Default: read_write"),
      Flag.optional
    ),
    project: onlyProjectFlag,
    branch: pastedFlag("branch").pipe(
      Flag.withAlias("b"),
      Flag.withDescription("Only of this branch, by its name or id; needs --project"),
      Flag.optional
    ),
    days: Flag.Int("expires-in-days").pipe(
      Flag.withSchema(ExpiresInDays),
      Flag.withDescription("Lifetime in days. Default: it does not expire"),
      Flag.optional
    ),
    open: openFlag
  },
  ({ branch, capability, days, name, open, project }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const page = { what: "Creating an API key", path: keysPage, open }
        if (Option.isNone(name)) return yield* showPage(api, page)
        const payload = {
          name: name.value,
          ...given("capability", capability),
          scope: yield* scopeOf(api, project, branch),
          ...given("expires_in_days", days)
        }
        const call = output.waiting(
          "Creating the key",
          answered(api.client.api.apiKeys.create({ payload, ...withBody }))
        )
        const made = yield* orInConsole(api, call, page)
        if (made !== undefined) yield* show(made, `narthex api-key revoke ${made.value.api_key.id}, and create another`)
      })
    )
).pipe(
  Command.withDescription("Create an API key; needs a person's session"),
  Command.withExamples([
    { command: "narthex api-key create --open", description: "The console's page for it" },
    { command: "narthex api-key create ci --capability read --expires-in-days 90" }
  ])
)

const rotate = Command.make(
  "rotate",
  {
    key: keyArgument,
    grace: durationFlag("grace", GraceSeconds).pipe(
      Flag.withDescription("How long the old secret stays valid, at most 24h. Default: chosen by the server"),
      Flag.optional
    ),
    open: openFlag,
    yes: yesFlag
  },
  ({ grace, key, open, yes }) =>
    reporting(
      Effect.gen(function* () {
        const output = yield* Output
        const api = yield* (yield* Connection).authenticated
        const api_key_id = yield* keyNamed(api, key)
        const call = Effect.gen(function* () {
          yield* confirm(`The key ${api_key_id} gets a new secret, and the old one stops working.`, yes)
          return yield* output.waiting(
            "Rotating the key",
            answered(
              api.client.api.apiKeys.rotate({
                params: { api_key_id },
                payload: given("grace_seconds", grace),
                ...withBody
              })
            )
          )
        })
        const made = yield* orInConsole(api, call, { what: "Rotating an API key", path: keysPage, open })
        if (made !== undefined) yield* show(made, `narthex api-key rotate ${api_key_id}`)
      })
    )
).pipe(
  Command.withDescription("Give a key a new secret; needs a person's session"),
  Command.withExamples([{ command: "narthex api-key rotate ci --grace 1h --yes" }])
)

/** The commands that show a key, for `apiKeys.ts`. */
export const apiKeySecrets = [get, create, rotate] as const
