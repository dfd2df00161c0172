/**
 * The API as a function from `Request` to `Response`, without a listener (docs/design/library.md N10–N16).
 *
 * Every route is served, event streams included, on any runtime of the Fetch standard and within the process. When the
 * server ends, new requests get 503, streams end with a time to reconnect, and calls in flight finish within the grace.
 *
 * The routes are built for the first request. A host that only asks in process never builds them, and its start does
 * not wait for them.
 *
 * Pitfall: parsing the URL again to find the path. Its parser folds `..` and `\`, so a path that the contract does not
 * have would reach an endpoint.
 */
import { becauseOf, EventStreams } from "@narthex/core"
import { Context, Deferred, Duration, Effect, Exit, type Fiber, Layer, Option, type Scope } from "effect"
import { HttpEffect, HttpServerRequest, HttpServerResponse } from "effect/http"
import { Draining } from "../Draining.ts"
import { AskedHost, type HostSession } from "../sessions/hostSession.ts"
import { layerRequestRules, layerServing } from "./ApiRoutes.ts"
import { completed } from "./HttpConventions.ts"
import { routesOnDemand } from "./routesOnDemand.ts"

/** Facts about a request that the request itself does not have. */
export interface Incoming {
  /** The path below the API's base path with the query, as it was sent. */
  readonly target: string
  /** The prefix of the API's paths in `Location`: the base path, or nothing. */
  readonly prefix: string
  /** The address of the client; `null`: not known, and no header is trusted instead. */
  readonly address: string | null
  /** The host's own session that the request comes from. Left out: the host has none. */
  readonly hostSession?: () => Promise<HostSession | null>
}

const CurrentIncoming = Context.Reference<Incoming>("@narthex/http/server/Incoming", {
  defaultValue: () => ({ target: "/", prefix: "", address: null })
})

const locatedBelow = (prefix: string) => (response: HttpServerResponse.HttpServerResponse) => {
  const { location } = response.headers
  return prefix === "" || location === undefined
    ? response
    : HttpServerResponse.setHeader(response, "location", `${prefix}${location}`)
}

/** The host's function may throw: the answer is 500, and the operator reads why. */
const addressOf = (incoming: Incoming) =>
  Effect.suspend(() => Effect.succeed(incoming.address)).pipe(
    Effect.tapCause((cause) => becauseOf(cause)(Effect.logError("The client's address cannot be read.")))
  )

/** The refusal of a request that comes after the end. */
const refused = () =>
  HttpServerResponse.toWeb(
    HttpServerResponse.setHeader(
      completed(HttpServerResponse.empty({ status: 503 }), globalThis.crypto.randomUUID(), []),
      "retry-after",
      "1"
    )
  )

const make = Effect.fnUntraced(function* (grace: Duration.Duration) {
  const draining = yield* Draining
  const streams = yield* EventStreams
  yield* Layer.build(layerServing)
  const app = yield* routesOnDemand
  const rules = yield* Layer.build(layerRequestRules)
  const context = Context.merge(yield* Effect.context<never>(), rules)

  let closed = false
  /** The calls in flight. */
  const calls = new Set<Fiber.Fiber<unknown, unknown>>()
  const idle = Deferred.makeUnsafe<void>()
  const leave = (call: Fiber.Fiber<unknown, unknown>) => {
    calls.delete(call)
    if (closed && calls.size === 0) Deferred.doneUnsafe(idle, Exit.void)
  }

  const handler = HttpEffect.toWebHandlerWith<never, HttpServerRequest.HttpServerRequest | Scope.Scope>(context)(
    Effect.flatMap(HttpServerRequest.HttpServerRequest, (request) =>
      Effect.withFiber((call) => {
        const incoming = call.getRef(CurrentIncoming)
        calls.add(call)
        return Effect.flatMap(addressOf(incoming), (address) => {
          const peer = Option.fromNullishOr(address)
          return Effect.provideService(
            app,
            HttpServerRequest.HttpServerRequest,
            request.modify({ url: incoming.target, peerAddress: peer, remoteAddress: peer })
          )
        }).pipe(Effect.map(locatedBelow(incoming.prefix)), Effect.ensuring(Effect.sync(() => leave(call))))
      })
    )
  )

  // Registered last, so it runs before the routes end.
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      yield* draining.begin
      yield* streams.drain(Duration.times(grace, 0.5))
      closed = true
      if (calls.size > 0) yield* Effect.timeoutOption(Deferred.await(idle), grace)
      for (const call of calls) call.interruptUnsafe()
    })
  )

  return FetchServer.of({
    answer: (request, incoming, within = Context.empty()) =>
      closed
        ? Promise.resolve(refused())
        : handler(
            request,
            within.pipe(Context.add(CurrentIncoming, incoming), Context.add(AskedHost, incoming.hostSession))
          )
  })
})

export class FetchServer extends Context.Service<
  FetchServer,
  {
    /**
     * Aborting the request's signal ends the call, and the body of its answer. Never rejects. `within`: the context of a
     * host's transaction, for a request that is part of it.
     */
    readonly answer: (request: Request, incoming: Incoming, within?: Context.Context<never>) => Promise<Response>
  }
>()("@narthex/http/server/FetchServer") {
  /** `grace`: how long streams and calls in flight may take to end; half of it is for the streams. */
  static readonly layer = (grace: Duration.Duration) => Layer.effect(FetchServer, make(grace))
}
