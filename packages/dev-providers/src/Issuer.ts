/**
 * One development issuer as a request listener: its own routes first, the library's for every other path.
 *
 * Requests whose `Host` is not the issuer's are refused (DNS rebinding): otherwise a web page could point its own name
 * to loopback and request a token of any account from `/id-token`.
 */
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { Cause, Effect, Result, Schema, SchemaIssue } from "effect"
import { answerSignIn, signInPath } from "./answerSignIn.ts"
import { recentAccounts } from "./DevAccount.ts"
import type { DevClient } from "./DevClient.ts"
import { IdTokenRequest, mintIdToken, type Signer } from "./IdToken.ts"
import { loadLater } from "./loadLater.ts"
import { sendPage, stylesheet, welcomePage } from "./pages.ts"
import { Refusal, readBody, sendJson, sendRefusal } from "./problem.ts"
import type { SigningKey } from "./SigningKey.ts"

export interface IssuerOptions {
  readonly id: string
  readonly name: string
  readonly client: DevClient
  readonly key: SigningKey
}

const decodeRequest = Schema.decodeUnknownResult(IdTokenRequest, { errors: "all", onExcessProperty: "error" })
const issuesOf = SchemaIssue.makeFormatterStandardSchemaV1()

const parsed = (body: string) =>
  Effect.try({
    // An explicit null means the same as an absent member.
    try: (): unknown => JSON.parse(body, (_name, value: unknown) => (value === null ? undefined : value)),
    catch: () => new Refusal({ code: "malformed_request", detail: "The body is not valid JSON." })
  })

const answerIdToken = Effect.fn("answerIdToken")(function* (
  signer: Signer,
  request: IncomingMessage,
  response: ServerResponse
) {
  if (request.method !== "POST") {
    const detail = "Use POST to request an id token."
    return yield* new Refusal({ code: "method_not_allowed", detail, allow: "POST" })
  }
  if (!/^application\/json *(;|$)/i.test(request.headers["content-type"] ?? "application/json")) {
    return yield* new Refusal({ code: "unsupported_media_type", detail: "The body must be application/json." })
  }
  const decoded = decodeRequest(yield* parsed(yield* readBody(request)))
  if (Result.isFailure(decoded)) {
    const errors = issuesOf(decoded.failure.issue).issues.map(({ message, path }) => ({
      path: (path ?? []).map((part) => String(typeof part === "object" ? part.key : part)),
      message
    }))
    const detail = errors.map(({ message, path }) => `${path.join(".") || "The body"}: ${message}.`).join(" ")
    return yield* new Refusal({ code: "invalid_request", detail, errors })
  }
  sendJson(response, { id_token: yield* mintIdToken(signer, decoded.success) })
})

const internal = new Refusal({ code: "internal", detail: "The development provider failed. The log has the reason." })

/** The listener of the issuer with the URL `issuer`. `fork` runs the answer to one request. */
export const makeIssuer = (
  { client, id, key, name }: IssuerOptions,
  issuer: string,
  fork: (answer: Effect.Effect<void>) => void
): RequestListener => {
  const accounts = recentAccounts()
  const log = (cause: unknown) => fork(Effect.logError("A development provider failed", issuer, cause))
  const load = loadLater({ id, client, key, accounts, log }, issuer)
  const { host } = new URL(issuer)

  const respond = Effect.fnUntraced(function* (request: IncomingMessage, response: ServerResponse) {
    if (request.headers.host !== host) {
      return yield* new Refusal({
        code: "misdirected_request",
        detail: `This provider serves only the host of ${issuer}.`
      })
    }
    const path = (request.url ?? "/").replace(/[?#].*$/s, "")
    if (path === "/id-token") return yield* answerIdToken({ issuer, clientId: client.clientId, key }, request, response)
    if (path.startsWith(`${signInPath}/`)) {
      const { provider } = yield* Effect.promise(load)
      return yield* answerSignIn({ accounts, id, name, provider }, path.slice(signInPath.length + 1), request, response)
    }
    if (path === "/style.css") {
      response.writeHead(200, { "content-type": "text/css; charset=utf-8", "cache-control": "no-cache" })
      return void response.end(stylesheet)
    }
    if (path === "/") return sendPage(response, 200, welcomePage(name, issuer))
    const { answer } = yield* Effect.promise(load)
    return yield* Effect.promise(() => answer(request, response))
  })

  return (request, response) =>
    fork(
      respond(request, response).pipe(
        Effect.catchTag("Refusal", (refusal) => Effect.sync(() => sendRefusal(response, refusal))),
        Effect.catchCause((cause) =>
          Effect.andThen(
            Effect.logError("A development provider failed", issuer, Cause.pretty(cause)),
            Effect.sync(() => {
              if (response.headersSent) response.destroy()
              else sendRefusal(response, internal)
            })
          )
        )
      )
    )
}
