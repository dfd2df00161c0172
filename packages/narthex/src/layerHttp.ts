/**
 * The API as routes of a host's own Effect router (docs/design/library.md N33).
 *
 * The routes are one wildcard below the base path, which hands each request to a router of the API's own: the API's
 * rules for paths, methods and refusals apply to the API alone, and the host's to the rest.
 */
import { FetchServer, readBasePath } from "@narthex/http/web"
import { Duration, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { invalidOptions } from "./failures/failures.ts"

export interface HttpOptions {
  /** Where the API is mounted, for example `/control`. Default: at the root, where every path that is not the host's goes to it. */
  readonly basePath?: string
  /** How long streams and calls in flight may take at the end. Default: 10 seconds. */
  readonly grace?: Duration.Input
}

const handling = (server: FetchServer["Service"], prefix: string) =>
  Effect.gen(function* () {
    const request = yield* HttpServerRequest.HttpServerRequest
    const address = Option.getOrNull(request.remoteAddress)
    const target = request.url.slice(prefix.length)
    const response = yield* Effect.flatMap(HttpServerRequest.toWeb(request), (web) =>
      Effect.promise((signal) =>
        server.answer(new Request(web, { signal: AbortSignal.any([web.signal, signal]) }), { target, prefix, address })
      )
    )
    return HttpServerResponse.fromWeb(response)
  })

/** Adds the routes. The router must not fold slashes: `strictRouting` of `@narthex/http`. */
export const layerHttp = ({ basePath = "", grace = "10 seconds" }: HttpOptions = {}) =>
  HttpRouter.use(
    Effect.fnUntraced(function* (router) {
      const prefix = readBasePath(basePath)
      if (prefix === undefined)
        return yield* Effect.die(invalidOptions(`basePath: expected a path such as "/control".`))
      yield* router.add("*", `${prefix}/*` as `/${string}`, handling(yield* FetchServer, prefix))
    })
  ).pipe(Layer.provide(FetchServer.layer(Duration.fromInputUnsafe(grace))))
