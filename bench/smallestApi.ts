/**
 * The smallest API of Effect that runs given statements for each request: one endpoint behind one security middleware,
 * through the driver of the platform with a shared connection. It verifies and decodes nothing, as the bare server, so it
 * shows what is not Narthex's own.
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import * as PgPool from "@effect/sql-pg/PgPool"
import { Context, Effect, Layer, Redacted, References, Schema } from "effect"
import { HttpRouter, HttpServer, HttpServerResponse } from "effect/http"
import {
  HttpApi,
  HttpApiBuilder,
  HttpApiEndpoint,
  HttpApiGroup,
  HttpApiMiddleware,
  HttpApiSecurity
} from "effect/http-api"
import type { Fixed, Store } from "./authenticationLoad.ts"

class Caller extends Context.Service<Caller, Redacted.Redacted>()("bench/Caller") {}

class Bearer extends HttpApiMiddleware.Service<Bearer, { provides: Caller }>()("bench/Bearer", {
  security: { bearer: HttpApiSecurity.bearer }
}) {}

/** The driver reads a bigint as one, which JSON does not have. */
const plain = (_: string, value: unknown) => (typeof value === "bigint" ? Number(value) : value)

const get = (name: "whoami" | "projects", path: `/${string}`) =>
  HttpApiEndpoint.get(name, path, { success: Schema.Array(Schema.Unknown) })

const Api = HttpApi.make("api").add(
  HttpApiGroup.make("auth").add(get("whoami", "/v1/auth/whoami"), get("projects", "/v1/projects")).middleware(Bearer)
)

const bearer = Layer.succeed(
  Bearer,
  Bearer.of({ bearer: (handler, { credential }) => Effect.provideService(handler, Caller, credential) })
)

export const smallestApi = (
  { parameters, statements, store: { database, host, user } }: Fixed & { readonly store: Store },
  up: (port: number) => void
) => {
  const url = Redacted.make(`postgresql:///${database}?host=${encodeURIComponent(host)}&user=${user}`)
  const answers = HttpApiBuilder.group(
    Api,
    "auth",
    Effect.fn(function* (handlers) {
      const pool = yield* Effect.orDie(PgPool.make({ url, maxConnections: 1, multiplex: true }))
      let turn = 0
      const rows = Effect.suspend(() => {
        const given = parameters[turn++ % parameters.length] ?? []
        return statements.reduce<Effect.Effect<ReadonlyArray<unknown>>>(
          (before, statement, at) =>
            Effect.andThen(
              before,
              Effect.orDie(
                Effect.map(
                  pool.use((connection) => connection.query(statement, given[at] ?? [])),
                  (answer) => answer.rows
                )
              )
            ),
          Effect.succeed([])
        )
      })
      const answer = () =>
        Effect.map(Effect.andThen(Caller, rows), (found) =>
          HttpServerResponse.text(JSON.stringify(found, plain), { contentType: "application/json" })
        )
      return handlers.handleAll({ whoami: answer, projects: answer })
    })
  )
  const announced = Layer.effectDiscard(
    Effect.map(HttpServer.HttpServer, ({ address }) => up("port" in address ? address.port : 0))
  )
  const routes = HttpApiBuilder.layer(Api).pipe(Layer.provide(answers), Layer.provide(bearer))
  const served = HttpRouter.serve(routes, { disableLogger: true, disableListenLog: true }).pipe(
    Layer.provideMerge(NodeHttpServer.layer(createServer, { host: "127.0.0.1", port: 0 }))
  )
  return Layer.launch(
    Layer.provide(Layer.provideMerge(announced, served), Layer.succeed(References.TracerEnabled, false))
  )
}
