/**
 * Conventions of every exchange: a request id, and a problem as the body of every refusal.
 *
 * The framework answers some requests itself (no such route, body too large, a defect), with plain text or no body.
 * These answers become problems here. A problem without a `detail` gets the one of its code, so no refusal lacks the
 * next step.
 *
 * Pitfall: trusting the router with the path. It ends a path at a raw `;` or `#` and decodes and folds static segments,
 * so `DELETE /v1/projects/x;y` would delete a project and a proxy's rule on `/v1/proxy/` would not see `/V1/%70roxy/`.
 * Pitfall: checking the credential first. A wrong method and two `Authorization` headers are answered before any
 * credential (docs/design/authorization.md Z6, step 1).
 */
import { isProblemCode, type ProblemCode, problemCatalog } from "@narthex/api"
import { ActOrigin, becauseOf, type Origin, Requester, requesterAt } from "@narthex/core"
import { Cause, Context, Effect, References } from "effect"
import { HttpRouter, HttpServerError, HttpServerRequest, HttpServerResponse } from "effect/http"
import { originOf, ServerIdentity } from "../ServerIdentity.ts"
import { Transport } from "../transport/Transport.ts"
import { isInOwnForm } from "./ownForm.ts"
import { makeRequestLog } from "./RequestLog.ts"
import { allowedMethods, routeOf } from "./routeTable.ts"

const validRequestId = /^[\w.:@+/-]{1,128}$/

const codes: Readonly<Record<number, ProblemCode>> = {
  400: "malformed_request",
  404: "not_found",
  405: "method_not_allowed",
  406: "not_acceptable",
  413: "body_too_large",
  415: "unsupported_media_type",
  500: "internal",
  503: "unavailable"
}

const problemContent = "application/problem+json"

interface ProblemBody {
  readonly type: string
  readonly title: string
  readonly status: number
  readonly detail?: string
  readonly code: string
  readonly retry_after_ms?: number
}

/** The problem in the body of an answer, or the one for its status. */
const problemOf = (response: HttpServerResponse.HttpServerResponse): ProblemBody => {
  const { body, status } = response
  if (body._tag === "Uint8Array" && body.contentType === problemContent) {
    const parsed: ProblemBody = JSON.parse(new TextDecoder().decode(body.body))
    return parsed
  }
  const code = codes[status] ?? (status >= 500 ? "internal" : "malformed_request")
  return { ...basic(code), status }
}

const basic = (code: ProblemCode) => ({
  type: `urn:narthex:problem:${code}`,
  title: problemCatalog[code].title,
  status: problemCatalog[code].status,
  code
})

/** One sentence or two for each code: equal for every cause, so that a refusal does not say what exists. */
export const detailOf = (code: string) =>
  isProblemCode(code) ? `${problemCatalog[code].title} ${problemCatalog[code].next}` : undefined

const challenge = (code: string) =>
  code === "unauthenticated" ? 'Bearer realm="narthex"' : 'Bearer realm="narthex", error="invalid_token"'

/** A refusal with the request id in its body and the headers of its status. */
export const completed = (
  response: HttpServerResponse.HttpServerResponse,
  request_id: string,
  allow: ReadonlyArray<string>
) => {
  if (response.status < 400 || isInOwnForm(response)) return response
  const problem = problemOf(response)
  const wait = problem.retry_after_ms
  const { "content-length": _length, "content-type": _type, ...kept } = response.headers
  const headers = {
    ...kept,
    ...(response.status === 401 ? { "www-authenticate": challenge(problem.code) } : {}),
    ...(response.status === 405 && allow.length > 0 ? { allow: allow.join(", ") } : {}),
    ...(wait === undefined ? {} : { "retry-after": String(Math.max(1, Math.ceil(wait / 1000))) })
  }
  // One order of members, so that equal refusals are equal byte for byte.
  const { code, detail = detailOf(problem.code), status, title, type, ...more } = problem
  return HttpServerResponse.jsonUnsafe(
    { type, title, status, detail, code, request_id, ...more },
    { status: response.status, headers, contentType: problemContent }
  )
}

const unescaped = (path: string) => {
  try {
    return decodeURIComponent(path)
  } catch {
    return path
  }
}

/** Whether a path that the contract does not have could reach an endpoint, by another spelling. */
const respelled = (path: string) => allowedMethods(unescaped(path).toLowerCase()).length > 0

/** The refusals of step 1; `undefined` passes the request on to its route. */
const beforeRouting = (
  transport: Transport["Service"],
  request: HttpServerRequest.HttpServerRequest,
  path: string,
  allow: ReadonlyArray<string>
) => {
  if (/[;#]/.test(path) || (allow.length === 0 && respelled(path))) return HttpServerResponse.empty({ status: 404 })
  if (allow.length > 0 && !allow.includes(request.method)) return HttpServerResponse.empty({ status: 405 })
  return transport.repeats(request, "authorization") ? HttpServerResponse.empty({ status: 400 }) : undefined
}

const isJson = (type: string) => /^application\/json\s*(;|$)/i.test(type)

/**
 * Removes a Content-Type that needs no check (docs/design/api.md, Requests): the type of an empty body, and JSON, which
 * is the default. So the request is searched for a body only if it has another type.
 */
const withoutNeedlessType = (transport: Transport["Service"], request: HttpServerRequest.HttpServerRequest) => {
  if (request.headers["content-type"] === undefined) return Effect.succeed(request)
  const { "content-type": type = "", ...headers } = request.headers
  const untyped = request.modify({ headers: headers as typeof request.headers })
  return isJson(type)
    ? Effect.succeed(untyped)
    : Effect.map(transport.hasBody(request), (has) => (has ? request : untyped))
}

/** Turns every failure into its answer; an interruption stays an interruption. */
const answerCause = <E>(cause: Cause.Cause<E>): Effect.Effect<HttpServerResponse.HttpServerResponse, E> =>
  Effect.flatMap(HttpServerError.causeResponse(cause), ([response]) => {
    if (Cause.hasInterrupts(cause)) return Effect.failCause(cause)
    return Effect.as(
      response.status >= 500 ? Effect.logError("A request failed.").pipe(becauseOf(cause)) : Effect.void,
      response
    )
  })

/** The request as the routes get it, its id in every line of the log, its requester and its origin. */
const ofRequest = <R>(
  context: Context.Context<R>,
  request: HttpServerRequest.HttpServerRequest,
  requester: string,
  origin: Origin & { readonly request_id: string }
) => {
  const { request_id } = origin
  const requested = Context.add(context, HttpServerRequest.HttpServerRequest, request).pipe(
    Context.add(ActOrigin, origin)
  )
  return Context.add(Context.add(requested, Requester, requester), References.CurrentLogAnnotations, {
    ...Context.get(context, References.CurrentLogAnnotations),
    request_id
  })
}

export const HttpConventions = HttpRouter.middleware(
  Effect.gen(function* () {
    const transport = yield* Transport
    const logged = makeRequestLog(yield* Effect.context<never>())
    return (handler) =>
      Effect.contextWith((context: Context.Context<HttpServerRequest.HttpServerRequest>) => {
        const request = Context.get(context, HttpServerRequest.HttpServerRequest)
        const given = request.headers["x-request-id"]
        const request_id = given !== undefined && validRequestId.test(given) ? given : globalThis.crypto.randomUUID()
        const always = { "x-content-type-options": "nosniff", "x-request-id": request_id }
        const path = request.url.split("?")[0] ?? ""
        const { methods: allow, route } = routeOf(path)
        const answered = logged()
        const finished = (answer: HttpServerResponse.HttpServerResponse) => {
          const response = HttpServerResponse.setHeaders(completed(answer, request_id, allow), always)
          return request.headers["user-agent"]?.startsWith("narthex-cli/")
            ? HttpServerResponse.setHeader(
                response,
                "narthex-cli-latest",
                Context.get(context, ServerIdentity).cli_latest
              )
            : response
        }
        const early = beforeRouting(transport, request, path, allow)
        const client = originOf(request, Context.get(context, ServerIdentity).origin)
        // Until its credential is verified.
        const { address } = client
        const requester = requesterAt(address)
        const answer =
          early === undefined
            ? Effect.catchCause(
                Effect.flatMap(
                  allow.length === 0 ? Effect.succeed(request) : withoutNeedlessType(transport, request),
                  (plain) =>
                    Effect.updateContext(handler, (context: Context.Context<HttpServerRequest.HttpServerRequest>) =>
                      ofRequest(context, plain, requester, { ...client, request_id })
                    )
                ),
                answerCause
              )
            : Effect.succeed(early)
        const { method } = request
        const noted = Effect.flatMap(answer, (unfinished) => {
          const response = finished(unfinished)
          const { status } = response
          const line = answered({
            route,
            method,
            path,
            status,
            request_id,
            address,
            code: () => problemOf(response).code
          })
          return line === undefined ? Effect.succeed(response) : Effect.as(line, response)
        })
        return Effect.andThen(transport.announce(request, always), noted)
      })
  }),
  { global: true }
)
