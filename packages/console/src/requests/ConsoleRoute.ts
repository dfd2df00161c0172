/** Routes as data, and the layer that adds them to the router. */
import type { NarthexClient } from "@narthex/api"
import { Context, Effect, Layer, type Scope } from "effect"
import { HttpRouter, type HttpServerRequest, type HttpServerResponse } from "effect/http"
import type { ConsoleSettings } from "../ConsoleConfig.ts"
import type { Relays } from "../relay/Relays.ts"
import type { SealedCookies } from "../sessions/SealedCookies.ts"
import type { Sessions } from "../sessions/Sessions.ts"
import type { SignIn } from "../sessions/SignIn.ts"

/** Services with the lifetime of the console. */
export type Services = ConsoleSettings | NarthexClient | Relays | SealedCookies | Sessions | SignIn

/** Services with the lifetime of a request. */
export type PerRequest = HttpServerRequest.HttpServerRequest | HttpRouter.RouteContext | Scope.Scope

export interface ConsoleRoute {
  readonly method: "GET" | "POST"
  readonly path: HttpRouter.PathInput
  readonly answer: Effect.Effect<HttpServerResponse.HttpServerResponse, never, Services | PerRequest>
}

/** Adds routes to the router. Where both contexts have a service, above all the scope, the request's is used. */
export const layerRoutes = (
  routes: ReadonlyArray<ConsoleRoute>
): Layer.Layer<never, never, HttpRouter.HttpRouter | Services> =>
  Layer.effectDiscard(
    Effect.gen(function* () {
      const router = yield* HttpRouter.HttpRouter
      const services = yield* Effect.context<Services>()
      const complete = (answer: ConsoleRoute["answer"]) =>
        Effect.updateContext(answer, (request: Context.Context<PerRequest>) => Context.merge(services, request))
      yield* router.addAll(routes.map(({ answer, method, path }) => HttpRouter.route(method, path, complete(answer))))
    })
  )
