/** The variables as people read them: a table for documentation, and what `narthex-server settings` prints. */
import { Effect } from "effect"
import { readVariables } from "./readVariables.ts"
import { variables } from "./variables.ts"

export interface SettingRow {
  readonly name: string
  /** With a `…_FILE` form, and never shown. */
  readonly secret: boolean
  readonly default: string
  readonly meaning: string
}

export const settingsTable: ReadonlyArray<SettingRow> = Object.values(variables).map((variable) => ({
  name: variable.name,
  secret: variable.secret,
  default: variable.default,
  meaning: variable.meaning
}))

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

/** For the documentation. */
export const settingsMarkdown = (): string =>
  [
    "| Variable | Default | Meaning |",
    "|---|---|---|",
    ...settingsTable.map(
      (row) => `| \`${row.name}\`${row.secret ? ", `…_FILE`" : ""} | ${cell(row.default)} | ${cell(row.meaning)} |`
    )
  ].join("\n")

/** For `narthex-server settings`: every variable, marked when it is given here. No value is shown. */
export const settingsText = Effect.map(readVariables(variables), ({ given }): string =>
  settingsTable
    .map(({ default: fallback, meaning, name, secret }) => {
      const state = given.has(name) ? "given" : `default: ${fallback}`
      return `${name}${secret ? ` (or ${name}_FILE)` : ""}\n    ${state}\n    ${meaning}`
    })
    .join("\n")
)
