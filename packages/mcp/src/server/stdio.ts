/** The MCP server on standard input and output, for the one key of the program that runs it. */
import type { NarthexCalls } from "@narthex/api"
import { Effect, Layer, type Stdio } from "effect"
import { McpProtocol, McpServer } from "effect/ai"
import { Caller } from "../access/Caller.ts"
import { network } from "../sql/dial.ts"
import { description, registrations } from "./tools.ts"

export interface StdioOptions {
  /** Sends the key with each call. */
  readonly client: NarthexCalls
  /** The key in words, for refusals. */
  readonly key: string
  readonly version: string
  /** Whether `get_connection_string` is there, which shows secrets to the model. */
  readonly connection_strings: boolean
}

/** Serves until the layer closes. Credentials of databases end with it. */
export const layerStdio = ({
  client,
  connection_strings,
  key,
  version
}: StdioOptions): Layer.Layer<never, never, Stdio.Stdio> => {
  const caller = McpServer.middleware<{ provides: Caller }>()((call) =>
    Effect.provideService(call, Caller, { client, key, id: "stdio", dial: network })
  )
  const server = McpServer.layerStdio({
    ...description,
    version,
    protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25, McpProtocol.v2025_06_18],
    registrations: registrations({ connection_strings }).pipe(Layer.provide(caller.layer))
  })
  return Layer.effectDiscard(Layer.build(Layer.orDie(server)))
}
