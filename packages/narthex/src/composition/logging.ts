/** The log of a control plane without Effect: warnings and errors, as entries or as lines on standard error. */
import { Cause, Layer, Logger, References } from "effect"
import type { ControlPlaneOptions, LogEntry } from "../options/ControlPlaneOptions.ts"

const levels: Readonly<Record<string, LogEntry["level"]>> = {
  Fatal: "error",
  Error: "error",
  Warn: "warning",
  Info: "info",
  Debug: "debug",
  Trace: "debug"
}

const textOf = (message: unknown): string =>
  (Array.isArray(message) ? message : [message])
    .map((it) => (typeof it === "string" ? it : JSON.stringify(it)))
    .join(" ")

const toConsole = ({ cause, level, message }: LogEntry) =>
  console.error(`narthex: ${level}: ${message}${cause === undefined ? "" : ` (${cause})`}`)

export const layerLog = ({ log = toConsole }: ControlPlaneOptions) => {
  if (log === "off") return Logger.layer([])
  const logger = Logger.make(({ cause, date, fiber, logLevel, message }) => {
    // Steps of the core say why they failed in this annotation (`becauseOf`).
    const { reason } = fiber.getRef(References.CurrentLogAnnotations)
    const why = cause.reasons.length === 0 ? reason : Cause.pretty(cause)
    return log({
      level: levels[logLevel] ?? "info",
      message: textOf(message),
      at: date,
      ...(typeof why === "string" ? { cause: why } : {})
    })
  })
  return Layer.merge(Logger.layer([logger]), Layer.succeed(References.MinimumLogLevel, "Warn"))
}
