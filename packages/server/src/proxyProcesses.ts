/**
 * Several `narthex-proxy` processes that listen on one port (docs/design/proxy.md P47 to P50): this process starts them, replaces
 * those that end, and adds up their metrics. Each knows nothing of the others, and the kernel gives each a part of the connections.
 *
 * A process that ends takes its sessions with it and is started again, after pauses that grow. When this process is gone, the
 * others drain: their channel to it has ended.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { Deferred, Duration, Effect, Fiber, Schema, type Scope } from "effect"
import type { Metrics, Unready } from "./admin.ts"
import { childEnvironment } from "./settings/childEnvironment.ts"
import { cumulative, sumMetrics } from "./sumMetrics.ts"

/** A proxy cannot start. The log has the reason. */
export class ProxyEnded extends Schema.TaggedError<ProxyEnded>()("ProxyEnded", { reason: Schema.String }) {
  override get message() {
    return `A process of the Postgres proxy cannot start: ${this.reason}`
  }
}

export interface ProxyProcesses {
  /** Why not all of them serve. */
  readonly unready: Unready
  /** The metrics of this process with those of the others, as sums. */
  readonly metrics: Metrics
}

/** How long a process may take until it serves, and to answer a question. */
const [startLimit, patience] = [Duration.minutes(1), Duration.seconds(2)]
/** The pause before a replacement: its least and its greatest length in milliseconds. It doubles with each failure. */
const [pause, longestPause] = [100, 10_000]
/** A process that has lived for so long has not failed to start, in milliseconds. */
const settled = 60_000

/** From sources this module is `proxyProcesses.ts`; in `dist` it is a part of a chunk. */
const program = join(import.meta.dirname, import.meta.filename.endsWith(".ts") ? "proxyServer.ts" : "narthex-proxy.js")

/**
 * V8 keeps the room for young objects that it took while thousands of sessions opened. Bounded, an idle session has half
 * of the memory. An option of this process wins.
 */
const execArgv = ["--max-semi-space-size=16", ...process.execArgv]

/** Starts a process that logs to this standard error; its first line of standard output says that it is ready. */
const begin = (environment: Readonly<Record<string, string | undefined>>): ChildProcess =>
  spawn(process.execPath, [...execArgv, program], {
    env: childEnvironment(environment),
    stdio: ["ignore", "pipe", "inherit", "ipc"]
  })

const Ready = Schema.fromJsonString(Schema.Struct({ admin: Schema.String }))
const decodeReady = Schema.decodeUnknownEffect(Ready)

/** The URL of a process's admin port, once the process is ready. */
const readiness = (child: ChildProcess) =>
  Effect.callback<string>((resume) => {
    const { stdout } = child
    if (stdout === null) return resume(Effect.never)
    createInterface(stdout).once("line", (line) =>
      resume(
        Effect.matchEffect(decodeReady(line), {
          onFailure: () => Effect.never,
          onSuccess: ({ admin }) => Effect.succeed(admin)
        })
      )
    )
  })

const end = (child: ChildProcess) =>
  Effect.callback<string>((resume) => {
    const say = () =>
      resume(
        Effect.succeed(child.signalCode === null ? `it ended with ${child.exitCode}` : `it got ${child.signalCode}`)
      )
    if (child.exitCode !== null || child.signalCode !== null) return say()
    child.once("exit", say).once("error", say)
  })

const scrape = (admin: string): Effect.Effect<string | undefined> =>
  Effect.tryPromise(async (signal) => (await fetch(`${admin}/metrics`, { signal })).text()).pipe(
    Effect.timeout(patience),
    Effect.orElseSucceed(() => undefined)
  )

/**
 * Starts `count` processes with this environment in addition to that of this process, and keeps them running until the scope
 * closes. Then they drain, within `grace`.
 */
export const runProxyProcesses = (
  count: number,
  environment: Readonly<Record<string, string | undefined>>,
  grace: Duration.Duration
): Effect.Effect<ProxyProcesses, ProxyEnded, Scope.Scope> =>
  Effect.gen(function* () {
    /** The admin ports of the processes that serve. */
    const serving = new Set<string>()
    /** Metrics of ended processes, as of their last scrape. */
    let former = ""
    const scraped = new Map<string, string>()

    const forget = (admin: string) => {
      serving.delete(admin)
      former = sumMetrics([former, cumulative(scraped.get(admin) ?? "")])
      scraped.delete(admin)
    }

    /** One process, to its end. */
    const once = (first: Deferred.Deferred<void, ProxyEnded>) =>
      Effect.acquireUseRelease(
        Effect.sync(() => begin(environment)),
        (child) =>
          Effect.gen(function* () {
            const ended = yield* Effect.forkChild(end(child))
            const up = readiness(child).pipe(
              Effect.timeoutOrElse({
                duration: startLimit,
                orElse: () => Effect.fail(new ProxyEnded({ reason: "it does not serve within a minute" }))
              })
            )
            const failed = Effect.flatMap(Fiber.join(ended), (reason) => Effect.fail(new ProxyEnded({ reason })))
            const admin = yield* Effect.raceFirst(up, failed)
            serving.add(admin)
            yield* Deferred.succeed(first, undefined)
            yield* Effect.ensuring(
              Effect.flatMap(Fiber.join(ended), (reason) =>
                Effect.logError(`A process of the Postgres proxy is gone: ${reason}.`)
              ),
              Effect.sync(() => forget(admin))
            )
          }),
        (child) =>
          Effect.gen(function* () {
            if (child.exitCode !== null || child.signalCode !== null) return
            child.kill("SIGTERM")
            yield* Effect.timeoutOption(end(child), Duration.sum(grace, Duration.seconds(10)))
            child.kill("SIGKILL")
          })
      )

    /** A place among the processes, which is filled again. */
    const kept = (first: Deferred.Deferred<void, ProxyEnded>) =>
      Effect.gen(function* () {
        let failures = 0
        while (true) {
          const begun = performance.now()
          yield* Effect.catch(once(first), (error) =>
            Effect.andThen(Deferred.fail(first, error), Effect.logError(error.message))
          )
          failures = performance.now() - begun > settled ? 0 : failures + 1
          yield* Effect.sleep(Math.min(longestPause, pause * 2 ** (failures - 1)))
        }
      })

    const firsts = yield* Effect.forEach(Array.from({ length: count }), () =>
      Effect.gen(function* () {
        const first = yield* Deferred.make<void, ProxyEnded>()
        yield* Effect.forkScoped(kept(first))
        return first
      })
    )
    yield* Effect.forEach(firsts, (first) => Deferred.await(first), { discard: true })

    return {
      unready: Effect.sync(() =>
        serving.size === count ? undefined : `${serving.size} of ${count} processes of the Postgres proxy serve.`
      ),
      metrics: (own) =>
        Effect.gen(function* () {
          const texts = yield* Effect.forEach(
            [...serving],
            (admin) =>
              Effect.map(scrape(admin), (text) => {
                if (text !== undefined && serving.has(admin)) scraped.set(admin, text)
                return scraped.get(admin) ?? ""
              }),
            { concurrency: "unbounded" }
          )
          return sumMetrics([own, former, ...texts])
        })
    }
  })

/** Ends this process in order when the one that has started it is gone. */
export const endsWithParent = (): void => {
  process.once("disconnect", () => process.kill(process.pid, "SIGTERM"))
}
