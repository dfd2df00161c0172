/** The message that binds parameters, with text for them and for all columns. The codec of the driver has binary ones alone. */
import { type Parameter, textOf } from "./values.ts"

const header = 5
const bind = 0x42

/** Two empty names, one format for all parameters, their number, their values, one format for all columns. */
export const encodeBind = (parameters: ReadonlyArray<Parameter>): Uint8Array => {
  const values = parameters.map((value) => {
    const text = textOf(value)
    return text === null ? undefined : Buffer.from(text, "utf8")
  })
  const size = values.reduce((sum, value) => sum + 4 + (value?.length ?? 0), 0)
  const message = Buffer.alloc(header + 2 + 4 + 2 + size + 4)
  message[0] = bind
  message.writeInt32BE(message.length - 1, 1)
  let at = header + 2
  at = message.writeInt16BE(1, at)
  at = message.writeInt16BE(0, at)
  at = message.writeInt16BE(values.length, at)
  for (const value of values) {
    at = message.writeInt32BE(value?.length ?? -1, at)
    if (value !== undefined) at += value.copy(message, at)
  }
  at = message.writeInt16BE(1, at)
  message.writeInt16BE(0, at)
  return message
}
