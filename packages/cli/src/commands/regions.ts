/** `narthex region list`. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { rows } from "../output/table.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const { body, value } = yield* output.waiting(
        "Listing regions",
        answered(client.api.regions.list({ ...withBody }))
      )
      yield* output.answer({
        body,
        table: rows(
          ["region", "name", "default", "location"],
          ...value.regions.map((region) => [
            region.region_id,
            region.name,
            region.default ? "yes" : "no",
            region.location
          ])
        ),
        empty: "No region is active. Ask the operator to add one."
      })
    })
  )
).pipe(Command.withDescription("List the active regions"), Command.withExamples([{ command: "narthex region list" }]))

export const region = Command.make("region").pipe(
  Command.withDescription("Regions that projects can be created in"),
  Command.withSubcommands([list])
)
