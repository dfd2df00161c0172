/** A failure as text: lines for people, or one line of JSON (docs/design/cli.md C13). */
import type { Explanation } from "../failures/explain.ts"
import type { Format } from "./OutputFormat.ts"
import { printable } from "./table.ts"

export const failureText = (explanation: Explanation, format: Format, colour: boolean): string => {
  const { code, exit, hint, json, request_id, sentence } = explanation
  if (format === "json") return printable(JSON.stringify(json))
  // The user decided it, so it is not an error.
  if (exit === "declined") return printable(sentence)
  return [
    `${colour ? "\u001b[31merror:\u001b[0m" : "error:"} ${printable(sentence)}`,
    ...(hint === undefined ? [] : [`  hint: ${printable(hint)}`]),
    ...(code === undefined
      ? []
      : [`  code: ${printable(code)}${request_id === undefined ? "" : ` · request: ${printable(request_id)}`}`])
  ].join("\n")
}
