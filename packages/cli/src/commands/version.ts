/** `narthex version`: the same line as `narthex --version`, and as a document. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { version as present } from "../environment/version.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { sentence } from "../output/table.ts"

export const version = Command.make("version", {}, () =>
  reporting(
    Effect.flatMap(Output, (output) =>
      output.answer({ body: { version: present }, table: sentence(`narthex v${present}`) })
    )
  )
).pipe(Command.withDescription("Print the version"), Command.withExamples([{ command: "narthex version -o json" }]))
