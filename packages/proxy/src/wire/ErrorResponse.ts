/** The messages ErrorResponse and NoticeResponse: encoded for clients, recognised from computes. */

export interface ErrorFields {
  /** Five characters (PostgreSQL documentation, appendix A). */
  readonly sqlstate: string
  readonly message: string
  /** Advice for the user. */
  readonly hint: string
}

const errorResponse = 0x45 // "E"
const noticeResponse = 0x4e // "N"

const encode = (type: number, severity: string, { hint, message, sqlstate }: ErrorFields): Buffer => {
  const fields = [`S${severity}`, `V${severity}`, `C${sqlstate}`, `M${message}`, `H${hint}`]
  const body = Buffer.from(`${fields.join("\0")}\0\0`)
  const head = Buffer.alloc(5)
  head[0] = type
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

/** A FATAL ErrorResponse, which ends the connection. */
export const encodeFatal = (fields: ErrorFields): Buffer => encode(errorResponse, "FATAL", fields)

/** A NoticeResponse with the severity WARNING, which clients show and go on. */
export const encodeWarning = (fields: ErrorFields): Buffer => encode(noticeResponse, "WARNING", fields)

/** The SQLSTATE of a complete message; `undefined` if it is not an ErrorResponse. */
export const sqlstateOf = (message: Buffer): string | undefined => {
  if (message[0] !== errorResponse) return undefined
  const code = message
    .toString("latin1", 5)
    .split("\0")
    .find((field) => field.startsWith("C"))
  return code?.slice(1)
}

/**
 * Text of a client, for use in an error message: without control characters, at most 63 characters (the length of a
 * Postgres name). Takes latin1 that holds UTF-8.
 */
export const echo = (latin1: string): string => {
  const text = Buffer.from(latin1, "latin1").toString("utf8")
  return [...text.replace(/\p{C}/gu, "")].slice(0, 63).join("")
}
