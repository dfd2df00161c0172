/** No log lines: for tests that provoke what the code rightly warns about. */
import { Layer, References } from "effect"

export const silent = Layer.succeed(References.MinimumLogLevel, "None")
