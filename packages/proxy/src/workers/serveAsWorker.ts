/**
 * A worker of a proxy: serves the connections that the process that started it hands over, until that one drains or is
 * gone.
 *
 * To the control plane it is a proxy of its own. What is one number of the whole proxy, the parent counts.
 */
import type { Socket } from "node:net"
import { Deferred, Duration, Effect, Exit, type Scope } from "effect"
import { PrometheusMetrics } from "effect/observability"
import type { UnusableCertificate } from "../connection/Tls.ts"
import type { ControlPlane } from "../control-plane/ControlPlane.ts"
import { makeProxy } from "../makeProxy.ts"
import { graceOf, type UnreadableNetwork } from "../ProxyConfig.ts"
import { AskedClaims } from "./AskedClaims.ts"
import { Inquiry } from "./Inquiry.ts"
import type { Asked, FromParent, FromWorker, ParentQuestions, WorkerConfig, WorkerQuestions } from "./messages.ts"

/** The end of a channel of Node that the started process has: `process`. */
export interface ParentChannel {
  readonly connected: boolean
  readonly send?: ((message: FromWorker, ...rest: [undefined, undefined, () => void]) => unknown) | undefined
  readonly on: (event: "message", listener: (message: unknown, socket?: unknown) => void) => unknown
  readonly once: {
    (event: "message", listener: (message: unknown) => void): unknown
    (event: "disconnect", listener: () => void): unknown
  }
}

/** How long a worker may take beyond the grace of its sessions: for its last reports to the control plane. */
const reportGrace = Duration.seconds(10)

/** The time after which a worker that drains has ended. */
export const drainLimit = (config: WorkerConfig): Duration.Duration => Duration.sum(graceOf(config), reportGrace)

/** How long the parent may take to ask the other workers for a cancel key, in milliseconds. */
const patience = 3_000

/** What the parent starts this worker with: the first message. */
export const workerStart = (channel: ParentChannel) =>
  Effect.callback<{ readonly config: WorkerConfig; readonly setup: unknown }>((resume) => {
    channel.once("message", (message) => {
      // The parent is `workers/ProxyWorkers.ts`, which sends nothing else first.
      const { config, setup } = message as Extract<FromParent, { readonly _tag: "Start" }>
      resume(Effect.succeed({ config, setup }))
    })
  })

/** Returns when the worker has drained. */
export const serveAsWorker = (
  config: WorkerConfig,
  channel: ParentChannel
): Effect.Effect<void, UnreadableNetwork | UnusableCertificate, ControlPlane | Scope.Scope> =>
  Effect.gen(function* () {
    const context = yield* Effect.context()
    const send = (message: FromWorker) => {
      if (channel.connected) channel.send?.(message, undefined, undefined, () => {})
    }
    const inquiry = new Inquiry<WorkerQuestions>(send)
    const open = new Map<number, AskedClaims>()
    const over = yield* Deferred.make<void>()
    const proxy = yield* makeProxy(config, (key) =>
      Effect.map(
        inquiry.answerTo("cancelTarget", { key: key.toString("hex") }, patience),
        (target) => target ?? undefined
      )
    )
    const finish = () => Deferred.doneUnsafe(over, Exit.void)

    const answerTo = (asked: Asked<ParentQuestions>): ParentQuestions[keyof ParentQuestions]["gets"] =>
      asked.about === "metrics"
        ? PrometheusMetrics.formatUnsafe(context)
        : (proxy.cancelKeys.find(Buffer.from(asked.asks.key, "hex")) ?? null)

    const take = (connection: number, counted: boolean, socket: Socket | undefined) => {
      send({ _tag: "Taken", connection })
      const claims = new AskedClaims(connection, counted, inquiry, send, () => void open.delete(connection))
      open.set(connection, claims)
      // Without a socket the client has left before.
      if (socket === undefined) claims.close()
      else {
        // A socket that came through a channel is made without the options of the listener.
        socket.allowHalfOpen = true
        proxy.serve(socket, claims)
      }
    }

    const receive = (message: FromParent, socket: Socket | undefined) => {
      switch (message._tag) {
        case "Connection":
          take(message.connection, message.counted, socket)
          break
        case "Answered":
          inquiry.answered(message)
          break
        case "Evicted":
          open.get(message.connection)?.evicted()
          break
        case "Asked":
          send({ _tag: "Answered", question: message.question, answer: answerTo(message) })
          break
        case "Drain":
          finish()
      }
    }

    // The parent sends nothing else, and with a connection its socket.
    channel.on("message", (message, socket) => receive(message as FromParent, socket as Socket | undefined))
    channel.once("disconnect", finish)
    if (!channel.connected) finish()
    send({ _tag: "Ready" })
    yield* Deferred.await(over)
    yield* Effect.timeoutOption(proxy.drain, drainLimit(config))
  })
