/**
 * The console on a port of its own.
 *
 * Binding comes first and serving second, because others need the address in between: providers must know where a
 * sign-in returns to, and the API tells command lines the console's origin. At shutdown the relays end before the server
 * waits for its open requests; else every open tab would hold it for the whole grace.
 */
import { createServer } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerError } from "effect/http"
import { layerConsole } from "./Console.ts"
import type { ConsoleConfig } from "./ConsoleConfig.ts"
import { Relays } from "./relay/Relays.ts"

export interface ConsoleListenerOptions {
  readonly host: string
  /** 0 takes a free one. */
  readonly port: number
  readonly shutdown_grace?: Duration.Duration
}

/** The bound port. Requests wait until a console is served on it. */
export class ConsoleListener extends Context.Service<
  ConsoleListener,
  {
    /** Where it listens, as a URL of this machine. */
    readonly url: string
    readonly port: number
    readonly server: HttpServer.HttpServer["Service"]
  }
>()("@narthex/console/ConsoleListener") {
  static readonly layer = ({
    host,
    port,
    shutdown_grace = Duration.seconds(10)
  }: ConsoleListenerOptions): Layer.Layer<ConsoleListener, HttpServerError.ServeError> =>
    Layer.effect(
      ConsoleListener,
      Effect.gen(function* () {
        const server = yield* NodeHttpServer.make(() => createServer(), {
          host,
          port,
          gracefulShutdownTimeout: shutdown_grace
        })
        const bound = server.address._tag === "UnixPathAddress" ? port : server.address.port
        const reachable = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host
        const url = `http://${reachable.includes(":") ? `[${reachable}]` : reachable}:${bound}`
        return ConsoleListener.of({ url, port: bound, server })
      })
    )
}

/** Serves the console on the bound port. Without a `console_url` it is the listener's. */
export const layerConsoleServer = (
  config: Omit<ConsoleConfig, "console_url"> & { readonly console_url: string | null }
): Layer.Layer<never, never, ConsoleListener> =>
  Layer.unwrap(
    Effect.map(ConsoleListener, ({ server, url }) => {
      const served = HttpRouter.serve(layerConsole({ ...config, console_url: config.console_url ?? url }), {
        disableLogger: true,
        disableListenLog: true
      }).pipe(
        Layer.provide(NodeHttpServer.layerHttpServices),
        Layer.provide(Layer.succeed(HttpServer.HttpServer, server))
      )
      const endRelays = Layer.effectDiscard(
        Effect.flatMap(Relays, (relays) => Effect.addFinalizer(() => relays.endAll))
      )
      // Built after the server, hence ended before it.
      return endRelays.pipe(Layer.provide(served), Layer.provide(Relays.layer))
    })
  )
