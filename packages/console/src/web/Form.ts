/** Request bodies: forms and JSON, at most 64 KiB. The first value of a repeated form field counts. */
import { ByteSize, Effect, Schema } from "effect"
import { HttpIncomingMessage, HttpServerRequest } from "effect/http"

/** The body is too large, of another media type, or malformed. */
export class UnreadableBody extends Schema.TaggedError<UnreadableBody>()("UnreadableBody", {
  status: Schema.Literals([400, 413, 415, 422]),
  reason: Schema.String
}) {
  override get message() {
    return this.reason
  }
}

const maxBodySize = ByteSize.kibibytes(64)

const bodyText = Effect.gen(function* () {
  const request = yield* HttpServerRequest.HttpServerRequest
  return yield* request.text.pipe(
    Effect.mapError((error) =>
      error.reason._tag === "RequestParseError" && error.reason.reason === "BodyTooLarge"
        ? new UnreadableBody({ status: 413, reason: "The form is larger than 64 KiB." })
        : new UnreadableBody({ status: 400, reason: "The form could not be read." })
    ),
    Effect.provideService(HttpIncomingMessage.MaxBodySize, maxBodySize)
  )
})

const mediaType = (header: string | undefined) => (header ?? "").split(";")[0]?.trim().toLowerCase() ?? ""

/** Whether the body is JSON; the answer is JSON then too. */
export const sendsJson = (request: HttpServerRequest.HttpServerRequest): boolean =>
  mediaType(request.headers["content-type"]) === "application/json"

export class Form {
  readonly fields: URLSearchParams
  constructor(text: string) {
    this.fields = new URLSearchParams(text)
  }

  /** The field without surrounding white space; `""` when it is missing. */
  text(name: string): string {
    return (this.fields.get(name) ?? "").trim()
  }

  static readonly read: Effect.Effect<Form, UnreadableBody, HttpServerRequest.HttpServerRequest> = Effect.gen(
    function* () {
      const request = yield* HttpServerRequest.HttpServerRequest
      if (mediaType(request.headers["content-type"]) !== "application/x-www-form-urlencoded")
        return yield* new UnreadableBody({ status: 415, reason: "Send the form as application/x-www-form-urlencoded." })
      return new Form(yield* bodyText)
    }
  )
}

/** A parsed JSON body, for the caller to validate. */
export const readJson: Effect.Effect<unknown, UnreadableBody, HttpServerRequest.HttpServerRequest> = Effect.flatMap(
  bodyText,
  (text) =>
    Effect.try({
      try: (): unknown => JSON.parse(text),
      catch: () => new UnreadableBody({ status: 400, reason: "The body is not valid JSON." })
    })
)
