/**
 * The proxy as a service: it listens while its layer is open, and drains before the layer closes.
 *
 * Draining accepts no new connection. Idle sessions end at once with 57P01, the others at the end of their transaction,
 * and those that remain after `shutdown_grace` are cut. The proxy does not read the environment: it takes a
 * `ProxyConfig`.
 */
import type { AddressInfo } from "node:net"
import { Context, Effect, Layer, type Scope } from "effect"
import { type ConnectWithin, connectingWithin } from "./connectWithin.ts"
import type { ControlPlane } from "./control-plane/ControlPlane.ts"
import { type CannotListen, listen } from "./listen.ts"
import { makeProxy } from "./makeProxy.ts"
import type { UnusableCertificate } from "./opening/Tls.ts"
import type { ProxyConfig, UnreadableNetwork } from "./ProxyConfig.ts"

export type ProxyError = CannotListen | UnreadableNetwork | UnusableCertificate

/**
 * A running proxy. It listens while its layer is open.
 *
 * @example
 * import { HttpControlPlane, Proxy } from "@narthex/proxy"
 * import { Layer, Redacted } from "effect"
 * const controlPlane = HttpControlPlane.layer({ api_url: "https://api.example.com", token: Redacted.make("…") })
 * export const proxy = Proxy.layer({ host: "127.0.0.1", port: 5442, domain: "db.example.com" }).pipe(
 *   Layer.provide(controlPlane)
 * )
 */
export class Proxy extends Context.Service<
  Proxy,
  {
    /** The address that it listens on. */
    readonly host: string
    readonly port: number
    /** The number of connections that are relayed. */
    readonly connections: Effect.Effect<number>
    /** Connects from this process, on behalf of the client with this address. */
    readonly connect: ConnectWithin
    /** Stops accepting and ends the sessions, as closing the layer does. Idempotent. */
    readonly drain: Effect.Effect<void>
  }
>()("@narthex/proxy/Proxy") {
  static readonly layer = (config: ProxyConfig): Layer.Layer<Proxy, ProxyError, ControlPlane> =>
    Layer.effect(Proxy, runProxy(config))
}

/** Listens until the scope closes, then drains. */
export const runProxy = (
  config: ProxyConfig
): Effect.Effect<Proxy["Service"], ProxyError, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const proxy = yield* makeProxy(config)
    const server = yield* listen(config, (socket) => proxy.serve(socket))
    const connect = yield* connectingWithin(proxy.serve)
    const drain = Effect.andThen(
      Effect.sync(() => void server.close()),
      proxy.drain
    )
    yield* Effect.addFinalizer(() => drain)
    // `address()` is an `AddressInfo` for a TCP server that listens; it is a string only for pipes.
    const { address, port } = server.address() as AddressInfo
    yield* Effect.logInfo("the Postgres proxy is listening").pipe(Effect.annotateLogs({ host: address, port }))
    return { host: address, port, connect, connections: proxy.connections, drain }
  })
