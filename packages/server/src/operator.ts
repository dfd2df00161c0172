/**
 * Operator commands on the store of the settings (docs/design/settings.md S8): accounts, regions,
 * quotas, signing keys, the audit log, examination, migration.
 *
 * With an embedded store they connect to the running Postgres through its socket; if none runs, they start it for the
 * duration of the command.
 */
import { instant, printTable, rows } from "@narthex/cli/manner"
import { isStorable, maxPageSize, OperatorAccounts, type User } from "@narthex/core"
import { rotateSigningKeys } from "@narthex/http"
import { Console, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { doctor } from "./doctor/doctor.ts"
import { layerMasterSecret } from "./identity.ts"
import { auditCommands, audited } from "./operatorAudit.ts"
import { quotaCommands } from "./quotaCommands.ts"
import { regionCommands } from "./regionCommands.ts"
import { modeText } from "./settings/mode.ts"
import type { Settings } from "./settings/Settings.ts"
import { settingsText } from "./settings/settingsTable.ts"
import { layerStorage, migrated } from "./store.ts"

const table = (users: ReadonlyArray<User>) =>
  rows(
    ["id", "email", "enabled", "disabled"],
    ...users.map((user) => [user.id, user.email, instant(user.enabled_at), instant(user.disabled_at)])
  )

const account = Argument.String("account").pipe(
  Argument.withDescription("The account's id or email address, as `accounts list` shows them")
)

const limit = Flag.Int("limit").pipe(
  Flag.withDescription("How many accounts to list, 1 to 1000"),
  Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxPageSize }))),
  Flag.withDefault(maxPageSize)
)
const after = Flag.String("after").pipe(
  Flag.withDescription("List the accounts behind this one: the last id of the page before"),
  Flag.optional
)

/** Prints a page of accounts, and how to list the next one. */
const listed = (page: { readonly limit: number; readonly after: Option.Option<string> }) =>
  Effect.gen(function* () {
    const { list } = yield* OperatorAccounts
    const { items, next_cursor } = yield* list({
      limit: page.limit,
      after: Option.getOrNull(Option.filter(page.after, isStorable))
    })
    yield* printTable(table(items), "No accounts.")
    const last = items.at(-1)
    if (next_cursor !== null && last !== undefined)
      yield* Console.error(`There are more accounts. List them with --after ${last.id}.`)
  })

/** No account has this id or address. */
export class AccountUnknown extends Schema.TaggedError<AccountUnknown>()("AccountUnknown", { name: Schema.String }) {
  override get message() {
    return `There is no account ${this.name}. \`accounts list\` shows those that exist.`
  }
}

/** Accounts of several providers have this address. */
export class AccountAmbiguous extends Schema.TaggedError<AccountAmbiguous>()("AccountAmbiguous", {
  name: Schema.String,
  ids: Schema.Array(Schema.String)
}) {
  override get message() {
    return `Several accounts have the address ${this.name}: ${this.ids.join(", ")}. Name one by its id.`
  }
}

/** Changes the account of this id or address and prints its new state. */
const changed = Effect.fnUntraced(function* (
  name: string,
  change: (accounts: OperatorAccounts["Service"]) => OperatorAccounts["Service"]["enable"]
) {
  const accounts = yield* OperatorAccounts
  const [found, ...others] = yield* accounts.find(name)
  if (found === undefined) return yield* new AccountUnknown({ name })
  if (others.length > 0) return yield* new AccountAmbiguous({ name, ids: [found, ...others].map(({ id }) => id) })
  const user = yield* Effect.catchTag(change(accounts)(found.id), "NotFound", () => new AccountUnknown({ name }))
  yield* printTable(table([user]))
})

/** The commands for these settings. */
export const operatorCommands = (settings: Settings) => {
  const store = layerStorage(settings, "attach")
  const people = Effect.provide(OperatorAccounts.layer.pipe(Layer.provide(store)))

  const accounts = Command.make("accounts").pipe(
    Command.withDescription("List, enable and disable accounts"),
    Command.withSubcommands([
      Command.make("list", { limit, after }, (page) => people(listed(page))).pipe(
        Command.withDescription("List accounts, oldest first, a page at a time")
      ),
      Command.make("enable", { account }, ({ account: id }) => people(changed(id, ({ enable }) => enable))).pipe(
        Command.withDescription("Enable a pending or disabled account")
      ),
      Command.make("disable", { account }, ({ account: id }) => people(changed(id, ({ disable }) => disable))).pipe(
        Command.withDescription("Disable an account: all its credentials are refused")
      )
    ])
  )

  const keys = Command.make("keys").pipe(
    Command.withDescription("Manage the signing keys of session tokens"),
    Command.withSubcommands([
      Command.make("rotate", {}, () =>
        audited({ org_id: null, action: "signing_key.rotated" }, rotateSigningKeys()).pipe(
          Effect.flatMap(({ active_from, kid, old_published_until: until }) => {
            const old = until === null ? "" : `; the old ones stay published until ${DateTime.formatIso(until)}`
            return Console.log(`Key ${kid} signs from ${DateTime.formatIso(active_from)}${old}.`)
          }),
          Effect.provide(layerMasterSecret(settings).pipe(Layer.provideMerge(store)))
        )
      ).pipe(Command.withDescription("Add a signing key; old ones stay published until their tokens have expired"))
    ])
  )

  return [
    accounts,
    regionCommands(store),
    quotaCommands(store, settings),
    auditCommands(store),
    keys,
    Command.make("settings", {}, () =>
      Effect.flatMap(settingsText, (text) => Console.log(`Mode: ${modeText(settings)}\n${text}`))
    ).pipe(
      Command.withDescription("Say in which mode this process runs and why, and list every setting without values")
    ),
    Command.make("doctor", {}, () => doctor(settings)).pipe(
      Command.withDescription(
        "Examine the database, files, ports, issuers and computes that a start needs, and change nothing"
      )
    ),
    Command.make("migrate", {}, () =>
      Effect.flatMap(migrated(settings, "attach"), ({ length }) =>
        Console.log(
          length === 0
            ? "The database is up to date."
            : `Applied ${length} ${length === 1 ? "migration" : "migrations"}.`
        )
      )
    ).pipe(Command.withDescription("Migrate the database schema"))
  ] as const
}
