/**
 * `narthex mcp`: an MCP server on standard input and output, with the key of the command line (docs/design/mcp.md). The
 * server is loaded for this command alone.
 */
import { Effect, Fiber, Layer } from "effect"
import { Command, Flag } from "effect/cli"
import { Connection } from "../connection/Connection.ts"
import { version } from "../environment/version.ts"
import { reporting } from "../output/reporting.ts"

const load = Effect.promise(() => import("@narthex/mcp"))

export const mcp = Command.make(
  "mcp",
  {
    connectionStrings: Flag.Boolean("connection-strings").pipe(
      Flag.withoutNegation,
      Flag.withDescription("Offer the tool that shows connection strings, with passwords, to the model"),
      Flag.withDefault(false)
    )
  },
  ({ connectionStrings }) =>
    reporting(
      Effect.gen(function* () {
        const { client } = yield* (yield* Connection).authenticated
        const { api_key, capability } = yield* client.api.auth.whoami()
        const key =
          api_key === null
            ? "the session of a person"
            : `the key "${api_key.name}" (${api_key.id}, capability ${capability ?? "read_write"})`
        const { layerStdio } = yield* load
        const server = layerStdio({ client, key, version, connection_strings: connectionStrings })
        // At the end of standard input the server ends itself, by an interruption that is its own.
        yield* Fiber.await(yield* Effect.forkChild(Layer.launch(server)))
      })
    )
).pipe(
  Command.withDescription("Serve agents: an MCP server on standard input and output"),
  Command.withExamples([
    { command: "claude mcp add narthex -- narthex mcp --context agent", description: "Add it to a client" },
    { command: "NARTHEX_API_KEY_FILE=agent.key narthex mcp", description: "With a key of its own" }
  ])
)
