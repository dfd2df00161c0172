/** The log goes to stderr; stdout is reserved for the announcement of the addresses. */
import { Layer, Logger, References } from "effect"
import type { Settings } from "./settings/Settings.ts"

export const layerLogging = ({ log }: Pick<Settings, "log">) =>
  Layer.mergeAll(
    Logger.layer([log.format === "json" ? Logger.withConsoleError(Logger.formatJson) : Logger.consolePretty()]),
    Layer.succeed(Logger.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, log.level)
  )
