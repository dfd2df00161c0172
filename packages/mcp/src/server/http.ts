/**
 * The MCP server at a path of an HTTP server (docs/design/mcp.md): `Host` and `Origin` are checked, then the key, by a call
 * of the API; then the protocol answers.
 *
 * Pitfall: trusting the session of the protocol. Its id is no credential, so every request has a key, and a session belongs
 * to the key that began it.
 */
import { createHash } from "node:crypto"
import { bodyOfProblem, ClientCredential, ClientHeaders, type NarthexCalls, type Whoami } from "@narthex/api"
import { Context, Effect, Layer, Option, Redacted, Result, type Scope } from "effect"
import { McpProtocol, McpServer } from "effect/ai"
import { HttpEffect, HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Caller } from "../access/Caller.ts"
import type { Dial } from "../sql/dial.ts"
import { HttpSessions } from "./HttpSessions.ts"
import { description, registrations } from "./tools.ts"

export interface HttpOptions {
  /** Without a credential: each call is made with that of its request. */
  readonly client: NarthexCalls
  readonly version: string
  readonly path: `/${string}`
  /** The values of `Host` that are this server's, in lower case. Pages of other origins are refused. */
  readonly hosts: ReadonlyArray<string>
  /** The address of the client, and the headers that report it to the API. */
  readonly clientOf: (request: HttpServerRequest.HttpServerRequest) => {
    readonly address: string | null
    readonly headers: Readonly<Record<string, string>>
  }
  /** Marks an answer of the protocol: its refusals are JSON-RPC errors, and stay what they are. */
  readonly ofProtocol: (answer: HttpServerResponse.HttpServerResponse) => HttpServerResponse.HttpServerResponse
  /** How to connect on behalf of the client with this address. */
  readonly dial: (address: string | null) => Dial
}

const sessionHeader = "mcp-session-id"

/** The caller of the running request. */
const CurrentCaller = Context.Reference<Caller["Service"] | undefined>("@narthex/mcp/server/CurrentCaller", {
  defaultValue: () => undefined
})

const callers = HttpRouter.middleware<{ provides: Caller }>()((answer) =>
  Effect.flatMap(CurrentCaller, (caller) =>
    caller === undefined
      ? Effect.succeed(HttpServerResponse.empty({ status: 401 }))
      : Effect.provideService(answer, Caller, caller)
  )
)

/** The protocol alone, behind the door. */
const protocol = ({ hosts, path, version }: HttpOptions) =>
  McpServer.layerHttp({
    ...description,
    version,
    path,
    protocols: [McpProtocol.v2026_07_28, McpProtocol.v2025_11_25, McpProtocol.v2025_06_18, McpProtocol.v2025_03_26],
    allowedOrigins: hosts.flatMap((host) => [`http://${host}`, `https://${host}`]),
    allowSessionTermination: true,
    allowSubscriptions: false,
    registrations: registrations({ connection_strings: false })
  }).pipe(Layer.provide(callers.layer), Layer.orDie)

const problem = (status: number, body: unknown) =>
  HttpServerResponse.jsonUnsafe(body, { status, contentType: "application/problem+json" })

const refusal = (status: number, code: string, title: string, detail: string) =>
  problem(status, { type: `urn:narthex:problem:${code}`, title, status, code, detail })

const foreign = refusal(
  403,
  "malformed_request",
  "The request is malformed.",
  "The Host or Origin header names another server. Use this server's own address."
)

const keyRequired = refusal(
  401,
  "invalid_token",
  "The credential is not valid.",
  "Send an API key: Authorization: Bearer nsk_…. A session is not enough."
)

const noSession = HttpServerResponse.empty({ status: 404 })

const bearerOf = (header: string | undefined): Redacted.Redacted | undefined => {
  const found = /^bearer +(\S+)$/i.exec(header ?? "")?.[1]
  return found === undefined ? undefined : Redacted.make(found)
}

const hostOf = (origin: string): string => (URL.canParse(origin) ? new URL(origin).host : "")

const inWords = ({ api_key, capability }: Whoami): string =>
  `the key "${api_key?.name ?? ""}" (${api_key?.id ?? ""}, capability ${capability ?? ""})`

const answering = (options: HttpOptions, inner: Inner) => {
  const { client, clientOf, dial, hosts, ofProtocol, path } = options
  const sessions = new HttpSessions()
  const isOwn = (host: string | undefined) => host !== undefined && hosts.includes(host.toLowerCase())

  const end = (id: string) => {
    const request = HttpServerRequest.fromWeb(
      new Request(`http://localhost${path}`, { method: "DELETE", headers: { [sessionHeader]: id } })
    )
    return Effect.provideService(inner, HttpServerRequest.HttpServerRequest, request)
  }

  const noted = (owner: string, response: HttpServerResponse.HttpServerResponse) => {
    const begun = response.headers[sessionHeader]
    const ended = begun === undefined ? [] : sessions.begin(owner, begun)
    return Effect.as(Effect.scoped(Effect.forEach(ended, end, { discard: true })), response)
  }

  const asCaller = Effect.fnUntraced(function* (
    request: HttpServerRequest.HttpServerRequest,
    secret: Redacted.Redacted,
    address: string | null
  ) {
    const who = yield* Effect.result(client.api.auth.whoami())
    if (Result.isFailure(who)) {
      const body = bodyOfProblem(who.failure)
      if (Option.isNone(body)) return HttpServerResponse.empty({ status: 503 })
      return problem("status" in who.failure ? who.failure.status : 503, body.value)
    }
    if (who.success.api_key === null) return keyRequired
    const id = createHash("sha256").update(Redacted.value(secret)).digest("base64url")
    const session = request.headers[sessionHeader]
    if (session !== undefined && !sessions.uses(id, session)) return noSession
    const caller = Caller.of({ client, id, key: inWords(who.success), dial: dial(address) })
    const response = yield* Effect.provideService(inner, CurrentCaller, caller)
    if (session !== undefined && request.method === "DELETE") sessions.end(session)
    // The protocol adds the id of a session that begins when the answer is sent.
    if (session === undefined) yield* HttpEffect.appendPreResponseHandler((_, sent) => noted(id, sent))
    return ofProtocol(response)
  })

  return (request: HttpServerRequest.HttpServerRequest) =>
    Effect.suspend(() => {
      const { authorization, host, origin } = request.headers
      if (!isOwn(host) || (origin !== undefined && !isOwn(hostOf(origin)))) return Effect.succeed(foreign)
      const secret = bearerOf(authorization)
      const { address, headers } = clientOf(request)
      return asCaller(request, secret ?? Redacted.make(""), address).pipe(
        Effect.provideService(ClientCredential, secret),
        Effect.provideService(ClientHeaders, headers)
      )
    })
}

/** The answer of the protocol to the running request. */
type Inner = Effect.Effect<
  HttpServerResponse.HttpServerResponse,
  never,
  HttpServerRequest.HttpServerRequest | Scope.Scope
>

/** Serves the path of a router, until the layer closes. Credentials of databases end with it. */
export const layerHttp = (options: HttpOptions): Layer.Layer<never, never, HttpRouter.HttpRouter> =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      // A router of its own: the protocol answers behind the door alone.
      const own = yield* HttpRouter.make
      const mounted = Layer.provide(protocol(options), Layer.succeed(HttpRouter.HttpRouter, own))
      yield* Layer.buildWithMemoMap(mounted, yield* Layer.makeMemoMap, yield* Effect.scope)
      yield* router.add("*", options.path, answering(options, Effect.orDie(own.asHttpEffect())))
    })
  )
