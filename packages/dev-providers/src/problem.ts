/** Request bodies with a bound, and refusals as problems (RFC 9457), at a development provider. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Effect, Schema } from "effect"

const statuses = {
  malformed_request: 400,
  not_found: 404,
  method_not_allowed: 405,
  body_too_large: 413,
  unsupported_media_type: 415,
  misdirected_request: 421,
  invalid_request: 422,
  internal: 500
} as const

/** A refusal in the form of RFC 9457. `detail` is a sentence for the author of the request. */
export class Refusal extends Schema.TaggedError<Refusal>()("Refusal", {
  code: Schema.Literals([
    "malformed_request",
    "not_found",
    "method_not_allowed",
    "body_too_large",
    "unsupported_media_type",
    "misdirected_request",
    "invalid_request",
    "internal"
  ]),
  detail: Schema.String,
  errors: Schema.optionalKey(
    Schema.Array(Schema.Struct({ path: Schema.Array(Schema.String), message: Schema.String }))
  ),
  allow: Schema.optionalKey(Schema.String)
}) {
  get status() {
    return statuses[this.code]
  }

  get body() {
    return JSON.stringify({
      type: `urn:narthex:problem:${this.code}`,
      title: this.code.replaceAll("_", " ").replace(/^./, (letter) => letter.toUpperCase()),
      status: this.status,
      detail: this.detail,
      code: this.code,
      ...(this.errors === undefined ? {} : { errors: this.errors })
    })
  }
}

export const sendRefusal = (response: ServerResponse, refusal: Refusal) => {
  response
    .writeHead(refusal.status, {
      "content-type": "application/problem+json",
      "cache-control": "no-store",
      ...(refusal.allow === undefined ? {} : { allow: refusal.allow }),
      // The rest of a body that is too large is not read.
      ...(refusal.code === "body_too_large" ? { connection: "close" } : {})
    })
    .end(refusal.body)
}

export const sendJson = (response: ServerResponse, body: object) => {
  response.writeHead(200, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(body))
}

const limit = 16_384

const tooLarge = new Refusal({ code: "body_too_large", detail: `The body is larger than ${limit} bytes.` })

/** The body as text. Fails if it is larger than 16 KiB. */
export const readBody = (request: IncomingMessage): Effect.Effect<string, Refusal> =>
  Effect.callback((resume) => {
    const parts: Array<Buffer> = []
    let size = 0
    request.on("data", (part: Buffer) => {
      size += part.length
      if (size > limit) {
        request.pause()
        resume(Effect.fail(tooLarge))
      } else parts.push(part)
    })
    request.once("end", () => resume(Effect.succeed(Buffer.concat(parts).toString("utf8"))))
    request.once("close", () =>
      resume(
        Effect.fail(
          new Refusal({ code: "malformed_request", detail: "The connection closed before the end of the body." })
        )
      )
    )
  })
