/**
 * The HTTP client of the process, on `node:http`: that of `fetch` takes longer to load than the rest of the command
 * line.
 *
 * Redirects are followed as by `fetch`: without the credential where the origin changes. The connection and the head of
 * the response have bounds (docs/design/cli.md C41); a body has none, because streams are silent for long.
 */
import * as NodeHttpClient from "@effect/platform-node/NodeHttpClient"
import { Duration, Effect, Layer } from "effect"
import { HttpClient, HttpClientError, HttpClientRequest, type HttpClientResponse } from "effect/http"
import { Environment } from "../environment/Environment.ts"
import { proxiesIn } from "../environment/proxies.ts"
import { boundedAgents } from "./boundedAgents.ts"

/** All times are milliseconds. */
interface Bounds {
  /** From the request, or the redirect, to the head of the response. The `wait` of a long poll is added. */
  readonly head: number
  /** The connection, with its TLS handshake. */
  readonly connection: number
  /** Variables as `HTTPS_PROXY`. */
  readonly proxies: Readonly<Record<string, string>>
}

const mostRedirects = 10

export const makeLayerNodeHttp = ({ connection, head, proxies }: Bounds): Layer.Layer<HttpClient.HttpClient> => {
  const agents = Layer.sync(NodeHttpClient.HttpAgent, () => boundedAgents(connection, proxies))
  const bounded = (client: HttpClient.HttpClient) =>
    client.pipe(
      // Pitfall: accepting an encoding. This client decodes none.
      HttpClient.mapRequest(HttpClientRequest.setHeader("accept-encoding", "identity")),
      HttpClient.transform((answer, request) => {
        const within = head + longPoll(request)
        return answer.pipe(
          Effect.timeoutOrElse({
            duration: Duration.millis(within),
            orElse: () => unreachable(request, `no response head within ${within} ms`)
          }),
          Effect.flatMap(followable)
        )
      }),
      HttpClient.followRedirects(mostRedirects),
      HttpClient.transformResponse(Effect.flatMap(notRedirected))
    )
  return Layer.effect(HttpClient.HttpClient, Effect.map(HttpClient.HttpClient, bounded)).pipe(
    Layer.provide(Layer.provide(NodeHttpClient.layerNodeHttpNoAgent, agents))
  )
}

export const layerNodeHttp: Layer.Layer<HttpClient.HttpClient, never, Environment> = Layer.unwrap(
  Effect.map(Environment, ({ inherited }) =>
    makeLayerNodeHttp({ head: 60_000, connection: 15_000, proxies: proxiesIn(inherited) })
  )
)

/**
 * Milliseconds that the server may hold the response back: the `wait` of a long poll, which is up to 60 s
 * (docs/design/client.md L14 adds it in the same way).
 */
const longPoll = ({ url }: HttpClientRequest.HttpClientRequest): number =>
  1000 * Number(/^(\d{1,2})s$/.exec(URL.parse(url)?.searchParams.get("wait") ?? "")?.[1] ?? 0)

const unreachable = (request: HttpClientRequest.HttpClientRequest, description: string) =>
  Effect.fail(
    new HttpClientError.HttpClientError({ reason: new HttpClientError.TransportError({ request, description }) })
  )

const redirects: ReadonlySet<number> = new Set([301, 302, 303, 307, 308])

/**
 * Fails for a redirect that leads nowhere.
 *
 * Pitfall: leaving these to `followRedirects`. It returns an unreadable one as the answer, and `node:http` throws for
 * other protocols and for user information that it cannot decode.
 */
const followable = (response: HttpClientResponse.HttpClientResponse) => {
  const { headers, request, status } = response
  const location = headers["location"] ?? ""
  if (!redirects.has(status) && !isRedirect(response)) return Effect.succeed(response)
  const url = location === "" ? null : URL.parse(location, request.url)
  if (url === null) return unreachable(request, "a redirect without a readable Location")
  if (url.protocol !== "http:" && url.protocol !== "https:")
    return unreachable(request, `a redirect to the protocol ${url.protocol}`)
  if (url.username !== "" || url.password !== "") return unreachable(request, "a redirect with user information")
  return Effect.succeed(response)
}

/** Fails for the redirect that `followRedirects` returns at its limit. */
const notRedirected = (response: HttpClientResponse.HttpClientResponse) =>
  isRedirect(response)
    ? unreachable(response.request, `more than ${mostRedirects} redirects`)
    : Effect.succeed(response)

/** As `followRedirects` decides it. */
const isRedirect = ({ headers, status }: HttpClientResponse.HttpClientResponse): boolean =>
  status >= 300 && status < 400 && (headers["location"] ?? "") !== ""
