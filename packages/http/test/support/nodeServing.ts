/** The API as the handler that hosts mount, on a server of Node that the test owns. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { Context, Effect, Layer } from "effect"
import { FetchServer, handlers, type ListenOptions } from "../../src/index.ts"

/** The port of that server. */
export class NodeServing extends Context.Service<NodeServing, { readonly port: number }>()("test/NodeServing") {}

type NodeServer = ReturnType<NonNullable<ListenOptions["createServer"]>>

/** A server of the test's own. It ends after the API. */
class OwnServer extends Context.Service<OwnServer, NodeServer>()("test/OwnServer") {}

const listens = (createServer: () => NodeServer) =>
  Layer.effect(
    OwnServer,
    Effect.acquireRelease(
      Effect.callback<NodeServer>((resume) => {
        const server = createServer()
        server.listen(0, "127.0.0.1", () => resume(Effect.succeed(server)))
      }),
      (server) =>
        Effect.callback<void>((resume) => {
          server.close(() => resume(Effect.void))
          if ("closeIdleConnections" in server) server.closeIdleConnections()
        }).pipe(
          Effect.timeoutOption("2 seconds"),
          Effect.andThen(
            Effect.sync(() => ("closeAllConnections" in server ? server.closeAllConnections() : undefined))
          )
        )
    )
  )

export const layerNodeServing = ({ createServer, grace }: Required<Pick<ListenOptions, "createServer" | "grace">>) =>
  Layer.effect(
    NodeServing,
    Effect.gen(function* () {
      const { node } = handlers((yield* FetchServer).answer, { basePath: "" })
      const server = yield* OwnServer
      // The handler's types are of what it uses, and fit a request of HTTP/1.1 and of HTTP/2.
      server.on("request", node as (request: IncomingMessage, response: ServerResponse) => void)
      const address = server.address()
      return { port: typeof address === "object" ? (address?.port ?? 0) : 0 }
    })
  ).pipe(Layer.provideMerge(FetchServer.layer(grace)), Layer.provideMerge(listens(createServer)))
