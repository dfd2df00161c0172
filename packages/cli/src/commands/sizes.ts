/** `narthex size list`. */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { answered, withBody } from "../connection/answers.ts"
import { Connection } from "../connection/Connection.ts"
import { Output } from "../output/Output.ts"
import { reporting } from "../output/reporting.ts"
import { size as bytes, rows } from "../output/table.ts"

const list = Command.make("list", {}, () =>
  reporting(
    Effect.gen(function* () {
      const output = yield* Output
      const { client } = yield* (yield* Connection).authenticated
      const { body, value } = yield* output.waiting(
        "Listing sizes",
        answered(client.api.endpoints.sizes({ ...withBody }))
      )
      yield* output.answer({
        body,
        table: rows(
          ["size", "cpus", "memory", "disk", "default"],
          ...value.sizes.map(({ cpus, default: isDefault, disk_bytes, memory_bytes, name }) => [
            name,
            cpus,
            bytes(memory_bytes),
            bytes(disk_bytes),
            isDefault ? "yes" : "no"
          ])
        ),
        empty: "There are no sizes: computes have no limits of their own."
      })
    })
  )
).pipe(Command.withDescription("List the sizes of endpoints"), Command.withExamples([{ command: "narthex size list" }]))

export const size = Command.make("size").pipe(
  Command.withDescription("Sizes: the CPU, memory and disk of endpoints"),
  Command.withSubcommands([list])
)
