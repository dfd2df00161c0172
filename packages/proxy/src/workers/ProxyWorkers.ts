/**
 * A proxy of several processes (docs/design/proxy.md P47 to P50): this one listens, counts against the limits and starts
 * the workers, which serve the connections.
 *
 * A connection goes to the worker with the fewest. A worker that ends is replaced, after pauses that grow. When this
 * process is gone, the workers see the end of their channel and drain.
 *
 * Pitfall: a listener in each worker. The kernel then assigns connections by a hash, so that long sessions lie unevenly;
 * those that wait to be accepted are lost with their worker; and a second program can listen on the same port unnoticed.
 */
import type { ChildProcess } from "node:child_process"
import type { AddressInfo, Socket } from "node:net"
import { Data, Deferred, Duration, Effect, FiberSet, type Scope } from "effect"
import { makeDeadlines } from "../connection/Deadlines.ts"
import { makeTls } from "../connection/Tls.ts"
import { listen } from "../listen.ts"
import { parsePeer } from "../networks/Address.ts"
import { countIn } from "../outcomes/AuditTrail.ts"
import type { Proxy, ProxyError } from "../Proxy.ts"
import { handshakeLimit, limitsOf, monotonic, type ProxyConfig, trustedPeers } from "../ProxyConfig.ts"
import { ArrivalQueue } from "./ArrivalQueue.ts"
import type { WorkerConfig } from "./messages.ts"
import { drainLimit } from "./serveAsWorker.ts"
import { cumulative, sumMetrics } from "./sumMetrics.ts"
import { type Arrival, Worker, type WorkerEvents } from "./Worker.ts"

/** A worker cannot serve. The log has the reason. */
export class WorkerFailed extends Data.TaggedError("WorkerFailed")<{ readonly reason: string }> {
  override get message() {
    return `A worker of the Postgres proxy cannot start: ${this.reason}`
  }
}

export interface ProxyWorkersOptions {
  readonly workers: number
  /** Starts a process whose program runs `serveAsWorker`, with a channel for messages. */
  readonly fork: () => ChildProcess
  /** What that program gets in addition to its configuration, as JSON. */
  readonly setup: unknown
}

/** A proxy whose connections are served by workers. */
export type ProxyWorkers = Proxy["Service"] & {
  /** Why it is not ready: a sentence. `undefined`: every worker serves. */
  readonly unready: Effect.Effect<string | undefined>
  /** The metrics of this process, given in the format of Prometheus, and of all workers, as sums. */
  readonly metrics: (own: string) => Effect.Effect<string>
}

/** How long a worker may take until it serves. */
const startLimit = Duration.minutes(1)
/** How long a worker that should have drained may still take to end. Then it is killed. */
const exitGrace = Duration.seconds(5)
/** The pause before a replacement: its least and its greatest length in milliseconds. It doubles with each failure. */
const [pause, longestPause] = [100, 10_000]
/** A worker that has lived for so long has not failed to start, in milliseconds. */
const settled = 60_000
/** How long a worker may take to answer, in milliseconds, and how many cancel requests may ask at once. */
const [patience, mostAsking] = [2_000, 256]

/** Listens until the scope closes, then drains. */
export const runProxyWorkers = (
  config: ProxyConfig,
  { fork: forkProcess, setup, workers: wanted }: ProxyWorkersOptions
): Effect.Effect<ProxyWorkers, ProxyError | WorkerFailed, Scope.Scope> =>
  Effect.gen(function* () {
    const limits = limitsOf(config)
    const trusted = yield* trustedPeers(config.trusted)
    // A mistake in the configuration is found here, once.
    if (config.tls !== undefined) yield* Effect.scoped(makeTls(config.tls))
    const deadlines = yield* makeDeadlines(handshakeLimit)
    const context = yield* Effect.context()
    const fork = yield* FiberSet.runtime(yield* FiberSet.make())()
    const workers = new Set<Worker>()
    const waiting = new ArrivalQueue<Arrival>()
    let draining = false
    let arrived = 0
    let asking = 0
    /** What ended workers have counted. */
    let former = ""

    const giveUp = (arrival: Arrival, event: string) => {
      waiting.delete(arrival)
      arrival.waited()
      arrival.claims.close()
      arrival.socket.destroy()
      countIn(context, event)
    }

    /** Hands waiting connections to workers, the one with the fewest connections first. */
    const handOver = () => {
      while (true) {
        const [first, ...others] = [...workers].filter((worker) => worker.isFree)
        const arrival = first === undefined ? undefined : waiting.take()
        if (first === undefined || arrival === undefined) return
        arrival.waited()
        others.reduce((a, b) => (b.connections < a.connections ? b : a), first).hand(arrival)
      }
    }

    const wait = (arrival: Omit<Arrival, "waited">) => {
      const waited = deadlines.begin(() => giveUp(all, "too_slow"))
      const all: Arrival = { ...arrival, waited }
      waiting.add(all)
      handOver()
    }

    /** ACCEPT, as far as it needs no byte of the client. */
    const accept = (socket: Socket) => {
      socket.on("error", ignore)
      const refuse = (event: string) => {
        socket.destroy()
        countIn(context, event)
      }
      const claims = limits.open()
      if (claims === undefined) return refuse("limit_connections")
      const direct = parsePeer(socket.remoteAddress ?? "")
      const counted = direct !== undefined && !trusted(direct)
      let within = !counted
      // Of this process, so it answers at once.
      if (counted)
        claims.handshake(direct, (it) => {
          within = it
        })
      if (direct !== undefined && within) return wait({ connection: ++arrived, socket, from: direct, claims, counted })
      claims.close()
      refuse(within ? "client_left" : "limit_handshakes")
    }

    /** Asks the other workers for a cancel key. */
    const cancelTarget: WorkerEvents["cancelTarget"] = (asker, key, answer) => {
      if (asking >= mostAsking) return answer(null)
      asking++
      const others = [...workers].filter((worker) => worker !== asker && worker.ready)
      fork(
        Effect.forEach(others, ({ inquiry }) => inquiry.answerTo("cancelTarget", { key }, patience), {
          concurrency: "unbounded"
        }).pipe(
          Effect.map((targets) => answer(targets.find((target) => target !== undefined && target !== null) ?? null)),
          Effect.ensuring(
            Effect.sync(() => {
              asking--
            })
          )
        )
      )
    }

    const events: WorkerEvents = {
      free: handOver,
      limit: deadlines.begin,
      returned: (arrival) => (draining ? giveUp(arrival, "draining") : wait(arrival)),
      cancelTarget,
      ended: (worker) => {
        workers.delete(worker)
        former = sumMetrics([former, cumulative(worker.metrics)])
        handOver()
      }
    }

    const start = { config: plain(config), setup }

    /** One worker from its start to its end. */
    const life = (onStarted: (started: boolean) => void) =>
      Effect.scoped(
        Effect.gen(function* () {
          const worker = yield* Effect.acquireRelease(
            Effect.sync(() => new Worker(forkProcess(), start, events)),
            (it) => Effect.sync(() => it.kill())
          )
          workers.add(worker)
          const started = yield* Effect.timeoutOption(Deferred.await(worker.started), startLimit)
          if (started._tag === "None") worker.kill()
          onStarted(started._tag === "Some" && started.value)
          return { pid: worker.pid, ...(yield* Deferred.await(worker.ended)) }
        })
      )

    /** Keeps one place of a worker filled. */
    const supervise = (onStarted: (started: boolean) => void) =>
      Effect.gen(function* () {
        let failures = 0
        while (!draining) {
          const began = monotonic()
          const { code, pid, signal } = yield* life(onStarted)
          if (draining) return
          failures = monotonic() - began > settled ? 1 : failures + 1
          const length = Math.min(longestPause, pause * 2 ** Math.min(failures - 1, 10))
          yield* Effect.logWarning("a worker of the Postgres proxy has ended and is replaced").pipe(
            Effect.annotateLogs({ worker: pid, code, signal, after_ms: length })
          )
          yield* Effect.sleep(length)
        }
      })

    const drain = Effect.gen(function* () {
      draining = true
      for (const arrival of [...waiting]) giveUp(arrival, "draining")
      const limit = Duration.sum(drainLimit(config), exitGrace)
      yield* Effect.forEach(
        [...workers],
        (worker) =>
          Effect.sync(() => worker.send({ _tag: "Drain" })).pipe(
            Effect.andThen(Deferred.await(worker.ended)),
            Effect.timeoutOption(limit),
            Effect.tap((ended) => Effect.sync(() => ended._tag === "None" && worker.kill()))
          ),
        { concurrency: "unbounded", discard: true }
      )
    })

    yield* Effect.forEach(
      Array.from({ length: wanted }, () => Deferred.makeUnsafe<boolean>()),
      (started) =>
        supervise((it) => void Deferred.doneUnsafe(started, Effect.succeed(it))).pipe(
          Effect.forkScoped,
          Effect.andThen(Deferred.await(started))
        ),
      { concurrency: "unbounded" }
    ).pipe(
      Effect.filterOrFail(
        (all) => all.every(Boolean),
        () => new WorkerFailed({ reason: "it ended before it served, or took more than a minute" })
      )
    )
    const server = yield* listen(config, accept)
    const end = Effect.andThen(
      Effect.sync(() => void server.close()),
      drain
    )
    yield* Effect.addFinalizer(() => end)
    // `address()` is an `AddressInfo` for a TCP server that listens; it is a string only for pipes.
    const { address, port } = server.address() as AddressInfo
    yield* Effect.logInfo("the Postgres proxy is listening").pipe(
      Effect.annotateLogs({ host: address, port, workers: wanted })
    )
    const serving = () => [...workers].filter(({ ready }) => ready)
    return {
      host: address,
      port,
      connections: Effect.sync(() => serving().reduce((sum, { relayed }) => sum + relayed, 0)),
      drain: end,
      unready: Effect.sync(() => {
        const ready = serving().length
        return ready === wanted ? undefined : `${ready} of ${wanted} workers of the Postgres proxy serve.`
      }),
      metrics: (own) =>
        Effect.forEach(
          serving(),
          (worker) =>
            Effect.map(worker.inquiry.answerTo("metrics", {}, patience), (text) => {
              worker.metrics = text ?? worker.metrics
              return worker.metrics
            }),
          { concurrency: "unbounded" }
        ).pipe(Effect.map((texts) => sumMetrics([own, former, ...texts])))
    }
  })

/** The configuration of a worker as JSON: durations are milliseconds. */
const plain = ({ allowlist, domain, shutdown_grace, tls, trusted }: ProxyConfig): WorkerConfig => ({
  domain,
  tls,
  trusted,
  allowlist: { refresh: millis(allowlist?.refresh), max_stale: millis(allowlist?.max_stale) },
  shutdown_grace: millis(shutdown_grace)
})

const millis = (duration: Duration.Input | undefined) =>
  duration === undefined ? undefined : Duration.toMillis(Duration.fromInputUnsafe(duration))

const ignore = () => {}
