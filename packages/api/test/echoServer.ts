/** The whole contract with handlers that answer what they were given, behind the real router. */
import {
  Api,
  Authentication,
  InternalProblem,
  NotFoundProblem,
  OwnToken,
  PolicyCheck,
  PresentedToken,
  ProxyAuthentication,
  problemOfSchemaError,
  RateLimiting,
  ResponseHeaders,
  SchemaErrors,
  UnauthenticatedProblem
} from "@narthex/api"
import { AppliedPolicy, Principal, Target } from "@narthex/core"
import { Effect, Layer, Redacted } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import { HttpApiBuilder, HttpApiMiddleware } from "effect/http-api"
import { endpointsOf } from "./endpointsOf.ts"

interface Decoded {
  readonly params?: unknown
  readonly query?: unknown
  readonly payload?: object
}

/** Secrets as text, so that a test can see what was decoded. */
const unveiled = (value: object) =>
  Object.fromEntries(
    Object.entries(value).map(([key, member]) => [key, Redacted.isRedacted(member) ? Redacted.value(member) : member])
  )

const handlersOf = (group: string) =>
  // The groups are read off the contract at run time, so their handlers cannot be typed one by one.
  HttpApiBuilder.group(Api, group as "regions", (handlers) => {
    const all = Object.fromEntries(
      endpointsOf(Api)
        .filter((listed) => listed.group === group)
        .map(({ endpoint }) => [
          endpoint.identifier,
          ({ params, payload, query }: Decoded) =>
            Effect.succeed(
              HttpServerResponse.text(
                JSON.stringify({ called: endpoint.identifier, params, query, payload: payload && unveiled(payload) })
              )
            )
        ])
    )
    return handlers.handleAll(all as { list: () => Effect.Effect<HttpServerResponse.HttpServerResponse> })
  })

const credentialless = (text: string) =>
  text === "" ? Effect.fail(new UnauthenticatedProblem({})) : Effect.succeed(text)

const middlewares = Layer.mergeAll(
  Layer.succeed(Authentication, {
    bearer: (next, { credential }) =>
      Effect.andThen(
        credentialless(Redacted.value(credential)),
        // No handler here asks who is calling.
        Effect.provideService(next, Principal, {} as Principal["Service"])
      )
  }),
  Layer.succeed(OwnToken, {
    bearer: (next, { credential }) =>
      Effect.andThen(
        credentialless(Redacted.value(credential)),
        Effect.provideService(next, PresentedToken, credential)
      )
  }),
  Layer.succeed(ProxyAuthentication, {
    proxy_token: (next, { credential }) => Effect.andThen(credentialless(Redacted.value(credential)), next)
  }),
  Layer.succeed(PolicyCheck, (next) =>
    Effect.gen(function* () {
      const { params } = yield* HttpRouter.RouteContext
      if (params["project_id"] === "gone") return yield* new NotFoundProblem({})
      return yield* next.pipe(
        Effect.provideService(Target, {}),
        // No handler here asks for the policy.
        Effect.provideService(AppliedPolicy, {} as AppliedPolicy["Service"])
      )
    })
  ),
  Layer.succeed(RateLimiting, (next) => next),
  Layer.succeed(ResponseHeaders, (next) => next),
  HttpApiMiddleware.layerSchemaErrorTransform(SchemaErrors, (error) =>
    Effect.fail(problemOfSchemaError(error) ?? new InternalProblem({}))
  )
)

const groups = [...new Set(endpointsOf(Api).map(({ group }) => group))]
const [firstGroup, ...otherGroups] = groups.map(handlersOf)
if (firstGroup === undefined) throw new Error("The contract has no groups.")

const routes = HttpApiBuilder.layer(Api).pipe(
  Layer.provide(Layer.mergeAll(firstGroup, ...otherGroups)),
  Layer.provide(middlewares),
  Layer.provide(HttpServer.layerServices)
  // Every group is there, but the type of a list made at run time names only one.
) as unknown as Layer.Layer<never, never, HttpRouter.HttpRouter>

const { handler } = HttpRouter.toWebHandler(routes, {
  disableLogger: true,
  routerConfig: { ignoreTrailingSlash: false }
})

export interface Answer {
  readonly status: number
  // Tests look into answers of many shapes.
  readonly body: Record<string, unknown>
}

/** Calls the contract with a credential unless told otherwise. */
export const call = (method: string, path: string, body?: unknown, credential: string | null = "t") =>
  Effect.promise(async (): Promise<Answer> => {
    const response = await handler(
      new Request(`http://narthex.invalid${path}`, {
        method,
        headers: {
          ...(credential === null ? {} : { authorization: `Bearer ${credential}` }),
          ...(body === undefined ? {} : { "content-type": "application/json" })
        },
        ...(body === undefined ? {} : { body: typeof body === "string" ? body : JSON.stringify(body) })
      })
    )
    const text = await response.text()
    return { status: response.status, body: text === "" ? {} : JSON.parse(text) }
  })
