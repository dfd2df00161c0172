/** Suppresses log lines, for tests that provoke warnings. */
import { Layer, References } from "effect"

export const silent = Layer.succeed(References.MinimumLogLevel, "None")
