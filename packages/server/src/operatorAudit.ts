/**
 * The operator's commands in the audit log (docs/design/audit.md U5, U15): the entry of a change, in one commit with it,
 * and `narthex-server audit list`.
 */
import { instant, printTable, rows } from "@narthex/cli/manner"
import {
  AccountStore,
  type Act,
  AuditLog,
  isStorable,
  maxPageSize,
  noteAct,
  OrgId,
  operatorActor,
  requestedId,
  Transaction
} from "@narthex/core"
import { Console, Effect, type Layer, Option, Schema } from "effect"
import { Command, Flag } from "effect/cli"

/** The change of a command, with the entry of its act. */
export const audited = <A, E, R>(act: Omit<Act, "actor">, change: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const note = noteAct(yield* AuditLog)
    const { run } = yield* Transaction
    return yield* run(Effect.tap(change, () => note({ ...act, actor: operatorActor })))
  })

/** The change of a region, which belongs to no organization. */
export const auditedRegion = <A, E, R>(
  action: "region.added" | "region.made_default" | "region.retired",
  id: string,
  change: Effect.Effect<A, E, R>
) => audited({ org_id: null, action, targets: [{ type: "region", id }] }, change)

/** No organization has this id. */
export class OrganizationUnknown extends Schema.TaggedError<OrganizationUnknown>()("OrganizationUnknown", {
  id: Schema.String
}) {
  override get message() {
    return `There is no organization "${this.id}". Use the id that its console pages show.`
  }
}

const flags = {
  organization: Flag.String("organization").pipe(
    Flag.withDescription("The id of an organization. Default: the entries that belong to none"),
    Flag.optional
  ),
  limit: Flag.Int("limit").pipe(
    Flag.withDescription("How many entries to list, 1 to 1000"),
    Flag.withSchema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: maxPageSize }))),
    Flag.withDefault(100)
  ),
  before: Flag.String("before").pipe(
    Flag.withDescription("List the entries before this one: the last id of the page before"),
    Flag.optional
  )
}

interface Wanted {
  readonly organization: Option.Option<string>
  readonly limit: number
  readonly before: Option.Option<string>
}

const listed = Effect.fnUntraced(function* ({ before, limit, organization }: Wanted) {
  const org = Option.isSome(organization) ? requestedId(OrgId, organization.value) : null
  if (org !== null && Option.isNone(yield* (yield* AccountStore).findOrganization(org)))
    return yield* new OrganizationUnknown({ id: org })
  const { items, next_cursor } = yield* (yield* AuditLog).list(
    org,
    {},
    { limit, after: Option.getOrNull(Option.filter(before, isStorable)) }
  )
  yield* printTable(
    rows(
      ["at", "action", "outcome", "actor", "target", "id"],
      ...items.map(({ action, actor, id, occurred_at, outcome, targets: [target] }) => [
        instant(occurred_at),
        action,
        outcome,
        actor.name ?? actor.id ?? actor.type,
        target?.name ?? target?.id ?? "-",
        id
      ])
    ),
    "No entries."
  )
  const last = items.at(-1)
  if (next_cursor !== null && last !== undefined)
    yield* Console.error(`There are more entries. List them with --before ${last.id}.`)
})

/** The commands on the store of a layer. */
export const auditCommands = <E>(store: Layer.Layer<AccountStore | AuditLog, E>) =>
  Command.make("audit").pipe(
    Command.withDescription("Read the audit log"),
    Command.withSubcommands([
      Command.make("list", flags, (wanted) => Effect.provide(listed(wanted), store)).pipe(
        Command.withDescription("List the acts in an organization, or those of the operator for all, newest first")
      )
    ])
  )
