/**
 * The console on its own port.
 *
 * The port is bound first and served later, because other parts need the address in between: providers must know the
 * redirect URI, and the API tells command lines the console's origin. At shutdown the relays end before the server
 * waits for open requests; otherwise each open tab would delay shutdown until the grace period ends.
 */
import { createServer, type Server } from "node:http"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Duration, Effect, Layer } from "effect"
import { HttpRouter, HttpServer, type HttpServerError, UrlParams } from "effect/http"
import { layerConsole } from "./Console.ts"
import type { ConsoleConfig } from "./ConsoleConfig.ts"
import { Relays } from "./relay/Relays.ts"

export interface ConsoleListenerOptions {
  readonly host: string
  /** 0 selects a free port. */
  readonly port: number
  readonly shutdown_grace?: Duration.Duration
  /** Makes the server. Default: that of `node:http`. */
  readonly createServer?: () => Server
}

/** The bound port. Requests wait until a console is served on it. */
export class ConsoleListener extends Context.Service<
  ConsoleListener,
  {
    /** The listening address, as a URL on this machine. */
    readonly url: string
    readonly port: number
    readonly server: HttpServer.HttpServer["Service"]
  }
>()("@narthex/console/ConsoleListener") {
  static readonly layer = ({
    // Idle connections outlive those of load balancers, and a peer that left without a word is noticed.
    createServer: make = () =>
      createServer({ keepAliveTimeout: 620_000, keepAlive: true, keepAliveInitialDelay: 30_000 }),
    host,
    port,
    shutdown_grace = Duration.seconds(10)
  }: ConsoleListenerOptions): Layer.Layer<ConsoleListener, HttpServerError.ServeError> =>
    Layer.effect(
      ConsoleListener,
      Effect.gen(function* () {
        const server = yield* NodeHttpServer.make(make, {
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

/** Members of addresses that traces redact: a callback has the code and the state of a sign-in. */
const secretParameters = ["code", "state"]

/** Serves the console on the bound port. With `console_url: null` the console's URL is the listener's. */
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
        Layer.provide(Layer.succeed(HttpServer.HttpServer, server)),
        Layer.provide(Layer.succeed(UrlParams.CurrentRedactedNames, secretParameters))
      )
      const endRelays = Layer.effectDiscard(
        Effect.flatMap(Relays, (relays) => Effect.addFinalizer(() => relays.endAll))
      )
      // Built after the server, so released before it.
      return endRelays.pipe(Layer.provide(served), Layer.provide(Relays.layer))
    })
  )
