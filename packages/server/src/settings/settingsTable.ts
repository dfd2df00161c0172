/** The variables as people read them: a table for documentation, and what `narthex-server settings` prints. */
import { Effect } from "effect"
import { readVariables } from "./readVariables.ts"
import { variablesOf } from "./Variable.ts"
import { variables } from "./variables.ts"

export interface SettingRow {
  readonly name: string
  /** A secret has a `…_FILE` form and is never shown. */
  readonly secret: boolean
  /** The value that holds when the variable is not given, as text, or words about what happens then. */
  readonly default: string
  readonly meaning: string
}

export const settingsTable: ReadonlyArray<SettingRow> = variablesOf(variables).map(
  ({ fallback, meaning, name, secret }) => ({ name, secret, default: fallback, meaning })
)

const cell = (text: string) => text.replaceAll("|", "\\|").replaceAll("<", "&lt;")

/** The table of `docs/settings.md`. */
export const settingsMarkdown = (): string =>
  [
    "| Variable | Default | Meaning |",
    "|---|---|---|",
    ...settingsTable.map(
      (row) => `| \`${row.name}\`${row.secret ? ", `…_FILE`" : ""} | ${cell(row.default)} | ${cell(row.meaning)} |`
    )
  ].join("\n")

/** The text of `narthex-server settings`: every variable, marked if it is given here. No value is shown. */
export const settingsText = Effect.map(readVariables(variables), ({ given }): string =>
  settingsTable
    .map(({ default: fallback, meaning, name, secret }) => {
      const state = given.has(name) ? "given" : `default: ${fallback}`
      return `${name}${secret ? ` (or ${name}_FILE)` : ""}\n    ${state}\n    ${meaning}`
    })
    .join("\n")
)
