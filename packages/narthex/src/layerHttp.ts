/**
 * The API as routes of a host's own Effect router (docs/design/library.md N33).
 *
 * The routes are one wildcard below the base path, which hands each request to a router of the API's own: the API's
 * rules for paths, methods and refusals apply to the API alone, and the host's to the rest.
 */
import { FetchServer, layerDrainFirst, readBasePath } from "@narthex/http/web"
import { Duration, Effect, Layer, Option } from "effect"
import { HttpRouter, HttpServerRequest, HttpServerResponse } from "effect/http"
import { invalidOptions } from "./failures/failures.ts"
import { anything, objectOf, optional, problemOf, text } from "./failures/forms.ts"

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

const httpForm = objectOf<HttpOptions>({ basePath: optional(text), grace: anything })

const graceForm = objectOf<Pick<HttpOptions, "grace">>({ grace: anything })

/** The options as they are used (N3). */
const readOptions = Effect.fnUntraced(function* (options: HttpOptions, form = httpForm) {
  const problem = problemOf("options", options, form)
  if (problem !== undefined) return yield* Effect.fail(invalidOptions(problem))
  const prefix = readBasePath(options.basePath ?? "")
  if (prefix === undefined)
    return yield* Effect.fail(invalidOptions('basePath: expected a path such as "/control", not another text.'))
  const grace = Option.getOrUndefined(Duration.fromInput(options.grace ?? "10 seconds"))
  if (grace === undefined || !Duration.isFinite(grace) || Duration.isNegative(grace))
    return yield* Effect.fail(invalidOptions('grace: expected a Duration of Effect from 0 such as "10 seconds".'))
  return { prefix, grace }
})

/**
 * Adds the routes. The router must not fold slashes: `strictRouting` of `@narthex/http`. Fails with the code
 * `invalid_options`.
 *
 * @example
 * import { strictRouting } from "@narthex/http"
 * import { Layer } from "effect"
 * import { HttpRouter } from "effect/http"
 * import { ControlPlane } from "narthex"
 * export const service = HttpRouter.serve(ControlPlane.layerHttp({ basePath: "/control" }), {
 *   routerConfig: strictRouting
 * }).pipe(Layer.provide(ControlPlane.layer()))
 */
export const layerHttp = (options: HttpOptions = {}) =>
  Layer.unwrap(
    Effect.map(readOptions(options), ({ grace, prefix }) =>
      HttpRouter.use(
        Effect.fnUntraced(function* (router) {
          yield* router.add("*", `${prefix}/*` as `/${string}`, handling(yield* FetchServer, prefix))
        })
      ).pipe(Layer.provide(FetchServer.layer(grace)))
    )
  )

/**
 * Ends the event streams when the host ends. A listener waits for its open connections, so this is built on top of it:
 * `layerDraining().pipe(Layer.provideMerge(listener))`. The streams have half of `grace` to end. Fails
 * with the code `invalid_options`.
 */
export const layerDraining = (options: Pick<HttpOptions, "grace"> = {}) =>
  Layer.unwrap(Effect.map(readOptions(options, graceForm), ({ grace }) => layerDrainFirst(grace)))
