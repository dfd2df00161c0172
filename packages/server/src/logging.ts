/** The log goes to stderr; stdout is reserved for the announcement of the addresses. */
import { inspect, styleText } from "node:util"
import { Layer, Logger, References } from "effect"
import type { Settings } from "./settings/Settings.ts"

type Entry = typeof Logger.formatStructured extends Logger.Logger<unknown, infer Output> ? Output : never

const two = (number: number) => String(number).padStart(2, "0")

const clock = (instant: string) => {
  const at = new Date(instant)
  return [at.getHours(), at.getMinutes(), at.getSeconds()].map(two).join(":")
}

const marked = (level: string) => {
  if (level === "INFO") return ""
  const color = level === "WARN" ? "yellow" : level === "ERROR" || level === "FATAL" ? "red" : "gray"
  // `styleText` leaves the colors out where stderr is not a terminal, or NO_COLOR is set.
  return `${styleText(color, level, { stream: process.stderr })}  `
}

/** Line feeds and tabs stay; other characters that control a terminal are escaped, because strangers may have sent them. */
const printable = (text: string) =>
  text.replace(
    /[^\P{Cc}\n\t]|\p{Bidi_Control}/gu,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`
  )

const textOf = (value: unknown) => printable(typeof value === "string" ? value : inspect(value))

/** The local time, the level unless it is Info, and the message; what else there is follows in indented lines. */
const forPeople = ({ annotations, cause, level, message, timestamp }: Entry): string => {
  const [first, ...others] = Array.isArray(message) ? message : [message]
  const details = [
    ...others.map(textOf),
    ...Object.entries(annotations).map(([name, value]) => `${name}: ${textOf(value)}`),
    ...(cause === undefined ? [] : [textOf(cause)])
  ]
  const line = `${clock(timestamp)}  ${marked(level)}${textOf(first)}`
  return [line, ...details.flatMap((detail) => detail.split("\n").map((text) => `  ${text}`))].join("\n")
}

const formats = {
  json: Logger.formatJson,
  pretty: Logger.map(Logger.formatStructured, forPeople)
}

export const layerLogging = ({ log }: Pick<Settings, "log">) =>
  Layer.mergeAll(
    Logger.layer([Logger.withConsoleError(formats[log.format])]),
    Layer.succeed(Logger.LogToStderr, true),
    Layer.succeed(References.MinimumLogLevel, log.level)
  )
