/**
 * Entries of the audit log as files: CSV (RFC 4180) and JSON lines (docs/design/audit.md U12).
 *
 * Pitfall: writing a cell as it is. A spreadsheet runs a cell that begins with `=`, and a name is any member's text.
 */
import { Schema } from "effect"
import { AuditEntryRecord } from "../schemas/Shapes.ts"

export type AuditEntryJson = typeof AuditEntryRecord.Encoded

/** An entry as it is on the wire. */
export const auditEntryJson = Schema.encodeSync(AuditEntryRecord)

type Entry = typeof AuditEntryRecord.Type

/** `project prj-… (shop)` for each target. */
const targetsText = ({ targets }: AuditEntryJson) =>
  targets.map(({ id, name, type }) => `${type} ${id}${name === null ? "" : ` (${name})`}`).join("; ")

const columns: ReadonlyArray<readonly [name: string, cell: (entry: AuditEntryJson) => string | null | undefined]> = [
  ["occurred_at", ({ occurred_at }) => occurred_at],
  ["action", ({ action }) => action],
  ["outcome", ({ outcome }) => outcome],
  ["actor_type", ({ actor }) => actor.type],
  ["actor_id", ({ actor }) => actor.id],
  ["actor_name", ({ actor }) => actor.name],
  ["user_id", ({ actor }) => actor.user?.id],
  ["user_email", ({ actor }) => actor.user?.email],
  ["targets", targetsText],
  ["location", ({ context }) => context.location],
  ["user_agent", ({ context }) => context.user_agent],
  ["request_id", ({ context }) => context.request_id],
  ["metadata", ({ metadata }) => (Object.keys(metadata).length === 0 ? "" : JSON.stringify(metadata))],
  ["id", ({ id }) => id]
]

const cell = (text: string | null | undefined): string => {
  const harmless = /^[=+\-@\t\r]/.test(text ?? "") ? `'${text}` : (text ?? "")
  return /[",\r\n]/.test(harmless) ? `"${harmless.replaceAll('"', '""')}"` : harmless
}

const line = (cells: ReadonlyArray<string | null | undefined>) => `${cells.map(cell).join(",")}\r\n`

/** The row of names, for the begin of a file. */
export const auditCsvHead = line(columns.map(([name]) => name))

/** A row for each entry, without the row of names. */
export const auditCsvRows = (entries: ReadonlyArray<Entry>): string =>
  entries
    .map((entry) => auditEntryJson(entry))
    .map((entry) => line(columns.map(([, of]) => of(entry))))
    .join("")

/** A line of JSON for each entry. */
export const auditLines = (entries: ReadonlyArray<Entry>): string =>
  entries.map((entry) => `${JSON.stringify(auditEntryJson(entry))}\n`).join("")
