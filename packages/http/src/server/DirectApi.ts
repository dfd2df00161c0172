/**
 * The API of a server as an `HttpClient` for its own process: no socket, and no HTTP on the way.
 *
 * A request enters where those of sockets enter, before every middleware, in a fiber and a context of its own. So it has
 * the same authentication, authorization, limits, conventions and problems, and nothing of its caller's context reaches
 * the API but what a header says. Its peer is the loopback, as that of a client on the same machine.
 *
 * Bodies that are larger than the API takes, or whose size is not known, go over a socket, where the server measures them.
 *
 * Pitfall: running the routes in the caller's fiber. Handlers would find the caller's request, credential and scope in
 * their context, and the API's finalizers would wait for the end of the caller's page.
 */
import { ByteSize, Context, Effect, Layer, Option, References } from "effect"
import {
  FetchHttpClient,
  HttpClient,
  HttpClientError,
  type HttpClientRequest,
  type HttpClientResponse,
  HttpEffect,
  HttpIncomingMessage,
  HttpRouter,
  HttpServerError,
  HttpServerRequest,
  HttpServerResponse
} from "effect/http"

const loopback = Option.some("127.0.0.1")

/** Takes the answer of the running request. */
const Answering = Context.Reference<(response: HttpServerResponse.HttpServerResponse) => void>(
  "@narthex/http/server/DirectApi/Answering",
  { defaultValue: () => () => {} }
)

const isSmall = ({ body }: HttpClientRequest.HttpClientRequest, maxBytes: number) =>
  body._tag === "Empty" || (body._tag === "Uint8Array" && body.body.length <= maxBytes)

const unanswered = (request: HttpClientRequest.HttpClientRequest, cause: unknown) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, cause, description: "The API ended without an answer." })
  })

const make = Effect.gen(function* () {
  const router = yield* HttpRouter.HttpRouter
  const socket = yield* HttpClient.HttpClient
  const context = yield* Effect.context<never>()
  const limit = yield* HttpIncomingMessage.MaxBodySize
  const maxBytes = limit === undefined ? Number.POSITIVE_INFINITY : ByteSize.toNumberUnsafe(limit)
  const answered = HttpEffect.toHandled(router.asHttpEffect(), (_, response) =>
    Effect.withFiber((fiber) => {
      fiber.getRef(Answering)(response)
      return Effect.void
    })
  )

  const ask = (request: HttpClientRequest.HttpClientRequest) =>
    Effect.callback<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>((resume) => {
      const incoming = HttpServerRequest.fromClientRequest(request).modify({
        peerAddress: loopback,
        remoteAddress: loopback
      })
      const answer = (response: HttpServerResponse.HttpServerResponse) =>
        resume(Effect.succeed(HttpServerResponse.toClientResponse(response, { request })))
      const own = Context.add(Context.add(context, HttpServerRequest.HttpServerRequest, incoming), Answering, answer)
      const call = Effect.runForkWith(own)(answered)
      call.addObserver((exit) => resume(Effect.suspend(() => Effect.fail(unanswered(request, exit)))))
      // As when the client of a socket leaves: the call is interrupted, and its caller does not wait for that.
      return Effect.sync(() => call.interruptUnsafe(undefined, HttpServerError.ClientAbort.annotation))
    })
  // Adds the span of the call, and its header. Where nothing reads traces, a call needs neither.
  const traced = HttpClient.make(ask)

  return DirectApi.of(
    HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
      Effect.flatMap((request) =>
        Effect.withFiber((caller) => {
          if (!isSmall(request, maxBytes)) return socket.execute(request)
          return caller.getRef(References.TracerEnabled) ? traced.execute(request) : ask(request)
        })
      ),
      Effect.succeed
    )
  )
})

export class DirectApi extends Context.Service<DirectApi, HttpClient.HttpClient>()("@narthex/http/server/DirectApi") {
  /** Built after the routes: what is added to the router later is not reached. */
  static readonly layer = Layer.provide(Layer.effect(DirectApi, make), FetchHttpClient.layer)
}
