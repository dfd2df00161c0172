/** The audit log of an organization: acts and refused attempts, newest first (docs/design/console.md W60). */
import { type AuditEntryRecord, type AuditOutcome, auditActions } from "@narthex/api"
import { Empty } from "../components/Empty.tsx"
import { Field } from "../components/Field.tsx"
import { HiddenFields } from "../components/HiddenFields.tsx"
import { Pager } from "../components/Pager.tsx"
import { State } from "../components/State.tsx"
import { Table } from "../components/Table.tsx"
import { Ago } from "../components/Times.tsx"
import type { Frame } from "../shell/Frame.ts"
import { Page } from "../shell/Page.tsx"
import { deviceWords } from "./device.ts"
import { queryOf } from "./queryOf.ts"

/** `""`: not filtered by this. */
export interface AuditFilterShown {
  readonly action: string
  readonly outcome: AuditOutcome | ""
  /** The id of a person or key. */
  readonly actor: string
  /** The id of an object. */
  readonly target: string
  /** The first and the last day, such as `2026-11-23`, in UTC. */
  readonly from: string
  readonly to: string
}

type EntryShown = typeof AuditEntryRecord.Type

export interface AuditPageProps {
  readonly frame: Frame
  readonly entries: ReadonlyArray<EntryShown>
  readonly filter: AuditFilterShown
  readonly next_cursor: string | null
  /** The cursor of the page itself; `null`: the newest. */
  readonly cursor: string | null
}

/** `member.role_changed` is "member role changed". */
const actionWords = (action: string): string => action.replaceAll(/[._]/g, " ")

const typeWords = (type: string): string => type.replaceAll("_", " ")

const actionChoices = [
  { value: "", label: "Everything" },
  ...Object.keys(auditActions).map((value) => ({ value, label: actionWords(value) }))
]

const outcomeChoices = [
  { value: "", label: "Done and refused" },
  { value: "done", label: "Done" },
  { value: "refused", label: "Refused" }
]

const actorWords = ({ id, name, type }: EntryShown["actor"]): string =>
  name ?? id ?? (type === "operator" ? "The operator" : "A client without a credential")

const factsOf = ({ metadata }: EntryShown) =>
  Object.entries(metadata)
    .map(([name, value]) => `${typeWords(name)}: ${typeWords(value)}`)
    .join(", ")

export const AuditPage = ({ cursor, entries, filter, frame, next_cursor }: AuditPageProps) => {
  const here = `/orgs/${frame.organization.id}/settings/audit`
  const at = (change: Partial<AuditFilterShown> & { readonly cursor?: string }) =>
    `${here}${queryOf({ ...filter, ...change })}`
  const { actor, target, ...fields } = filter
  const filtered = Object.values(filter).some((it) => it !== "")
  return (
    <Page
      title="Audit log"
      frame={frame}
      section="settings"
      lead={
        <span>
          What people, keys and the operator did in {frame.organization.name}, and refused attempts at sensitive acts.
        </span>
      }
      actions={
        <a class="button" href={`${here}.csv${queryOf({ ...filter })}`}>
          Download as CSV
        </a>
      }
    >
      <form method="get" action={here} class="inline-form" aria-label="Filter the audit log">
        <Field name="action" label="What" choices={actionChoices} value={fields.action} />
        <Field name="outcome" label="Outcome" choices={outcomeChoices} value={fields.outcome} />
        <Field name="from" label="From" value={fields.from} placeholder="2026-11-23" maxLength={10} />
        <Field name="to" label="To" value={fields.to} placeholder="2026-11-23" maxLength={10} />
        <HiddenFields fields={{ ...(actor === "" ? {} : { actor }), ...(target === "" ? {} : { target }) }} />
        <button type="submit">Show</button>
        {filtered ? <a href={here}>Show all</a> : null}
      </form>
      <Table
        label="Audit log"
        columns={[
          { head: "What" },
          { head: "Outcome", phone: "aside" },
          { head: "Who" },
          { head: "On" },
          { head: "From" },
          { head: "When", align: "end" }
        ]}
        rows={entries.map((entry) => ({
          key: entry.id,
          cells: [
            <>
              <span class="said">{actionWords(entry.action)}</span>
              {factsOf(entry) === "" ? null : <span class="under">{factsOf(entry)}</span>}
            </>,
            <State tone={entry.outcome === "refused" ? "bad" : "good"}>{entry.outcome}</State>,
            entry.actor.id === null ? (
              actorWords(entry.actor)
            ) : (
              <>
                <a href={at({ actor: entry.actor.id })}>{actorWords(entry.actor)}</a>
                {entry.actor.type === "api_key" && entry.actor.user !== null ? (
                  <span class="under">key of {entry.actor.user.email ?? entry.actor.user.id}</span>
                ) : null}
              </>
            ),
            <ul class="plain-list">
              {entry.targets.map(({ id, name, type }) => (
                <li key={`${type} ${id}`}>
                  {typeWords(type)} <a href={at({ target: id })}>{name ?? id}</a>
                </li>
              ))}
            </ul>,
            <>
              {entry.context.location ?? "-"}
              {entry.context.user_agent === null ? null : (
                <span class="under">{deviceWords(entry.context.user_agent)}</span>
              )}
            </>,
            <Ago at={entry.occurred_at} />
          ]
        }))}
        empty={
          <Empty title={filtered ? "No entry matches" : "No entries"}>
            {filtered ? (
              <p>
                <a href={here}>Show all entries</a>
              </p>
            ) : (
              <p>Nothing has happened in this organization yet.</p>
            )}
          </Empty>
        }
      />
      <Pager
        next={next_cursor === null ? null : at({ cursor: next_cursor })}
        previous={cursor === null ? null : at({})}
      />
    </Page>
  )
}
