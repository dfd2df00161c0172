/**
 * A service on Effect's router with the control plane and routes of its own: people have their projects and API keys there,
 * and the service asks who calls and what they may do.
 *
 *     node --conditions=source examples/effect/service.ts
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Authentication, Authorization, InvalidCredential, requirement } from "@narthex/core"
import { problemOf, strictRouting } from "@narthex/http/web"
import { Effect, Layer, Option, Redacted } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { ControlPlane } from "narthex"

/** The caller of the request, who may read the project of its path. */
const reader = Effect.fnUntraced(function* (project_id: string | undefined) {
  const { headers, remoteAddress } = yield* HttpServerRequest.HttpServerRequest
  const [, credential] = /^Bearer (\S+)$/i.exec(headers.authorization ?? "") ?? []
  if (credential === undefined || project_id === undefined) return yield* new InvalidCredential({})
  const caller = yield* (yield* Authentication).authenticate(Redacted.make(credential), Option.getOrNull(remoteAddress))
  // The credential and the ids decide first, then the project is looked up: a foreign one is not found.
  const { admit, find } = yield* Authorization
  const reading = requirement("read", { project_id })
  yield* admit(reading, caller, { project_id })
  yield* find(reading, caller, { project_id })
  return caller
})

/** A refusal of the control plane, answered as the API does: a problem (RFC 9457). Any other failure is a defect. */
const refused = (error: unknown) => {
  const problem = problemOf(error)
  if (problem === undefined) return Effect.die(error)
  const { code, status, title } = problem
  const body = HttpServerResponse.jsonUnsafe({ status, code, title }, { status })
  return Effect.succeed(HttpServerResponse.setHeader(body, "content-type", "application/problem+json"))
}

const Reports = HttpRouter.use(
  Effect.fnUntraced(function* (router) {
    const services = yield* Effect.context<Authentication | Authorization>()
    yield* router.add(
      "GET",
      "/reports/:project_id",
      Effect.gen(function* () {
        const { project_id } = yield* HttpRouter.params
        const caller = yield* reader(project_id)
        return HttpServerResponse.jsonUnsafe({ report: "…", for: caller.user.email })
      }).pipe(Effect.catch(refused), Effect.provideContext(services))
    )
  })
)

/** The API below `/control`, and the routes of the service. */
const Routes = Layer.merge(ControlPlane.layerHttp({ basePath: "/control" }), Reports)

/**
 * The service on a port; 0: a free one. It provides the services of the control plane, too.
 *
 * Pitfall: a router that is not strict. It folds slashes, and the rules of the API for paths would not hold.
 */
export const layerService = (port: number) =>
  // On top of the listener, which would wait for clients that follow events.
  ControlPlane.layerDraining().pipe(
    Layer.provideMerge(HttpRouter.serve(Routes, { disableLogger: true, routerConfig: strictRouting })),
    Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port })),
    // In memory. For Postgres: { storage: postgres(url), secret }.
    Layer.provideMerge(ControlPlane.layer())
  )

if (import.meta.main) NodeRuntime.runMain(Layer.launch(layerService(3000)))
