/**
 * The routes of the API as one effect that answers a request, built when the first request asks for them: a host that
 * calls nothing but its own `authenticate` never builds them (docs/design/library.md N37). They end with the scope.
 *
 * Pitfall: building them in the fiber of the first request. Handlers keep the context in which they were built, and
 * would answer later requests with the services of the first.
 */
import { Context, Effect, Layer, Scope } from "effect"
import { HttpRouter, HttpServer } from "effect/http"
import { FetchTransport } from "../transport/FetchTransport.ts"
import { BareRoutes, layerRequestRules, strictRouting } from "./ApiRoutes.ts"

const build = Effect.gen(function* () {
  const routes = BareRoutes.pipe(Layer.provide([layerRequestRules, FetchTransport.layer, HttpServer.layerServices]))
  // A router and a memo map of its own: a host's router is the same layer, and would get the routes and their rules.
  const router = yield* Effect.provideService(HttpRouter.make, HttpRouter.RouterConfig, strictRouting)
  const mounted = Layer.provide(routes, Layer.succeed(HttpRouter.HttpRouter, router))
  yield* Layer.buildWithMemoMap(mounted, yield* Layer.makeMemoMap, yield* Effect.scope)
  return router.asHttpEffect()
})

export const routesOnDemand = Effect.gen(function* () {
  // Forked now, so that the routes end when what is added to the scope later has ended.
  const scope = yield* Scope.fork(yield* Effect.scope)
  const context = Context.add(yield* Effect.context<Effect.Services<typeof build>>(), Scope.Scope, scope)
  // Nothing in it waits, so no request comes between. The span is no parent: the handlers would keep it.
  const start = () => Effect.runSyncWith(context)(Effect.useSpan("FetchServer.routes", () => build))
  let routes: ReturnType<typeof start> | undefined
  return Effect.suspend(() => {
    routes ??= start()
    return routes
  })
})
