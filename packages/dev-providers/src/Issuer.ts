/**
 * One development issuer as a request listener: our few routes first, the library's for everything else.
 *
 * Requests whose `Host` is not the issuer's are refused: otherwise a web page could rebind its own name to loopback
 * and ask `/id-token` for a token of anybody.
 */
import type { EventEmitter } from "node:events"
import type { IncomingMessage, RequestListener, ServerResponse } from "node:http"
import { Cause, Effect, Result, Schema, SchemaIssue } from "effect"
import Provider from "oidc-provider"
import { recentAccounts } from "./DevAccount.ts"
import { IdTokenRequest, mintIdToken, type Signer } from "./IdToken.ts"
import { type DevClient, issuerConfiguration, signInPath } from "./issuerConfiguration.ts"
import { sendPage, stylesheet, welcomePage } from "./pages.ts"
import { readBody, Refusal, sendJson, sendRefusal } from "./problem.ts"
import { answerSignIn } from "./answerSignIn.ts"
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
    // An explicit null says the same as a member left out.
    try: (): unknown => JSON.parse(body, (_name, value: unknown) => (value === null ? undefined : value)),
    catch: () => new Refusal({ code: "malformed_request", detail: "The body is not valid JSON." })
  })

const answerIdToken = Effect.fn("answerIdToken")(function* (
  signer: Signer,
  request: IncomingMessage,
  response: ServerResponse
) {
  if (request.method !== "POST") {
    const detail = "An id token is asked for with POST."
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

const internal = new Refusal({ code: "internal", detail: "The development provider failed. Its log says why." })

/** The issuer at `issuer`. `fork` runs the answer to one request, in the scope of whoever serves it. */
export const makeIssuer = (
  { client, id, key, name }: IssuerOptions,
  issuer: string,
  fork: (answer: Effect.Effect<void>) => void
): RequestListener => {
  const accounts = recentAccounts()
  const provider = new Provider(issuer, issuerConfiguration(id, client, key, accounts))
  const log = (cause: unknown) => fork(Effect.logError("A development provider failed", issuer, cause))
  provider.on("server_error", (_ctx, cause) => log(cause))
  const framework: EventEmitter = provider // its own event, which the library's types leave out
  framework.on("error", log) // with a listener it does not print by itself
  provider.use(async (ctx, next) => {
    await next()
    if (ctx.status !== 404 || (ctx.body !== undefined && ctx.body !== null)) return
    const refusal = new Refusal({ code: "not_found", detail: `There is no ${ctx.path} at this provider.` })
    ctx.status = refusal.status
    ctx.type = "application/problem+json"
    ctx.body = refusal.body
  })
  const library = provider.callback()
  const { host } = new URL(issuer)

  const answer = Effect.fnUntraced(function* (request: IncomingMessage, response: ServerResponse) {
    if (request.headers.host !== host) {
      return yield* new Refusal({ code: "misdirected_request", detail: `This provider answers at ${issuer} only.` })
    }
    const path = (request.url ?? "/").replace(/[?#].*$/s, "")
    if (path === "/id-token") return yield* answerIdToken({ issuer, clientId: client.clientId, key }, request, response)
    if (path.startsWith(`${signInPath}/`)) {
      return yield* answerSignIn({ accounts, id, name, provider }, path.slice(signInPath.length + 1), request, response)
    }
    if (path === "/style.css") {
      response.writeHead(200, { "content-type": "text/css; charset=utf-8", "cache-control": "no-cache" })
      return void response.end(stylesheet)
    }
    if (path === "/") return sendPage(response, 200, welcomePage(name, issuer))
    return yield* Effect.promise(() => library(request, response))
  })

  return (request, response) =>
    fork(
      answer(request, response).pipe(
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
