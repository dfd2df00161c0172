/** The ErrorResponse message, written to clients and recognised from computes. */

export interface ErrorFields {
  /** Five characters (Postgres, appendix A). */
  readonly sqlstate: string
  readonly message: string
  /** What to do about it. */
  readonly hint: string
}

const errorResponse = 0x45 // "E"

/** A FATAL ErrorResponse: after it the connection ends. */
export const encodeFatal = ({ hint, message, sqlstate }: ErrorFields): Buffer => {
  const fields = ["SFATAL", "VFATAL", `C${sqlstate}`, `M${message}`, `H${hint}`]
  const body = Buffer.from(`${fields.join("\0")}\0\0`)
  const head = Buffer.alloc(5)
  head[0] = errorResponse
  head.writeUInt32BE(4 + body.length, 1)
  return Buffer.concat([head, body])
}

/** The SQLSTATE of a whole message, if it is an ErrorResponse. */
export const sqlstateOf = (message: Buffer): string | undefined => {
  if (message[0] !== errorResponse) return undefined
  const code = message
    .toString("latin1", 5)
    .split("\0")
    .find((field) => field.startsWith("C"))
  return code?.slice(1)
}

/** What a client said, made fit to say back: no control characters, not longer than a Postgres name. */
export const echo = (latin1: string): string => {
  const text = Buffer.from(latin1, "latin1").toString("utf8")
  return [...text.replace(/\p{C}/gu, "")].slice(0, 63).join("")
}
