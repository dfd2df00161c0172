/**
 * `narthex-server quotas …`: operators see what an organization holds of its quotas, and set numbers of its own for one
 * (docs/design/settings.md S8). An organization's number applies from the next creation on, on every instance.
 */
import { printTable, rows, size } from "@narthex/cli/manner"
import {
  AccountStore,
  type AuditLog,
  inBytes,
  OrgId,
  type QuotaName,
  QuotaPolicy,
  QuotaStore,
  Quotas,
  quotaNames,
  type Transaction
} from "@narthex/core"
import { Effect, Layer, Option, Result, Schema } from "effect"
import { Argument, Command } from "effect/cli"
import { audited } from "./operatorAudit.ts"
import { bytes } from "./settings/forms.ts"
import type { Settings } from "./settings/Settings.ts"

/** The command cannot be applied. Nothing changed. `reason` is a sentence for the operator. */
export class QuotaRefused extends Schema.TaggedError<QuotaRefused>()("QuotaRefused", { reason: Schema.String }) {
  override get message() {
    return this.reason
  }
}

const organization = Argument.String("org_id").pipe(Argument.withDescription("The id of the organization"))
const quota = Argument.String("quota").pipe(Argument.withDescription(quotaNames.join(", ")))
const allowed = Argument.String("allowed").pipe(
  Argument.withDescription('A whole number, for bytes also a size like "200 GiB"; "default" removes the exception')
)

const existing = Effect.fnUntraced(function* (id: string) {
  const found = yield* (yield* AccountStore).findOrganization(OrgId.make(id || "-"))
  return Option.isSome(found)
    ? found.value
    : yield* new QuotaRefused({ reason: `There is no organization "${id}". Use the id that its console pages show.` })
})

const show = Effect.fnUntraced(function* (id: string) {
  const found = yield* existing(id)
  const terms = Option.getOrUndefined(yield* (yield* QuotaStore).terms(found.id))
  const usage = yield* (yield* Quotas).usage(found)
  const cell = (quota: QuotaName, amount: number) => (inBytes(quota) ? size(amount) : amount)
  yield* printTable(
    rows(
      ["quota", "held", "allowed", "exception"],
      ...usage.map(({ allowed, held, quota }) => [
        quota,
        cell(quota, held),
        cell(quota, allowed),
        terms?.overrides[quota] === undefined ? "no" : "yes"
      ])
    )
  )
})

const numberIn = (quota: QuotaName, text: string): number | undefined => {
  if (/^(0|[1-9]\d{0,14})$/.test(text)) return Number(text)
  return inBytes(quota) ? Result.getOrUndefined(bytes.read(text)) : undefined
}

const set = Effect.fnUntraced(function* (id: string, name: string, text: string) {
  const { id: org, name: called } = yield* existing(id)
  const quota = quotaNames.find((it) => it === name)
  if (quota === undefined)
    return yield* new QuotaRefused({ reason: `There is no quota "${name}". The quotas are ${quotaNames.join(", ")}.` })
  const value = text === "default" ? null : numberIn(quota, text)
  if (value === undefined)
    return yield* new QuotaRefused({
      reason: `"${text}" is not a number for ${quota}. Use a whole number, or "default".`
    })
  const metadata = { quota, allowed: value === null ? "default" : String(value) }
  const targets = [{ type: "organization", id: org, name: called }]
  const change = (yield* QuotaStore).setOverride(org, quota, value)
  yield* audited({ org_id: org, action: "quota.changed", targets, metadata }, change)
  yield* show(id)
})

/** The commands on the store of a layer. */
export const quotaCommands = <E>(
  store: Layer.Layer<AccountStore | AuditLog | QuotaStore | Transaction, E>,
  settings: Pick<Settings, "quotas">
) => {
  const here = Effect.provide(
    Quotas.layer.pipe(Layer.provideMerge(store), Layer.merge(Layer.succeed(QuotaPolicy, settings.quotas)))
  )
  return Command.make("quotas").pipe(
    Command.withDescription("Show the quotas of an organization, and set exceptions"),
    Command.withSubcommands([
      Command.make("show", { organization }, ({ organization: id }) => here(show(id))).pipe(
        Command.withDescription("Show what an organization holds of each quota, and how much it may have")
      ),
      Command.make("set", { organization, quota, allowed }, (given) =>
        here(set(given.organization, given.quota, given.allowed))
      ).pipe(Command.withDescription("Set how much one organization may have, or remove the exception"))
    ])
  )
}
