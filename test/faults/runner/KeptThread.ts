/** Vitest's pool over one thread that is kept between runs, until it is dropped because a run left it in doubt. */
import { join } from "node:path"
import { Worker } from "node:worker_threads"
import type { PoolOptions, PoolRunnerInitializer, PoolWorker, WorkerResponse } from "vitest/node"

const entry = join(import.meta.dirname, "keptWorker.ts")

export class KeptThread {
  #thread: Worker | undefined
  #printed = ""

  readonly pool: PoolRunnerInitializer = { name: "kept", createPoolWorker: (options) => this.#worker(options) }

  /** The output of the thread's tests since the last call. */
  takePrinted(): string {
    const printed = this.#printed
    this.#printed = ""
    return printed
  }

  /** Ends the thread, whatever it is doing; the next run gets another one. */
  async drop(): Promise<void> {
    const thread = this.#thread
    this.#thread = undefined
    await thread?.terminate()
  }

  #start({ env, execArgv }: PoolOptions): Worker {
    const thread = new Worker(entry, { env, execArgv, stdout: true, stderr: true })
    thread.setMaxListeners(0)
    for (const stream of [thread.stdout, thread.stderr])
      stream.on("data", (chunk: Buffer) => {
        this.#printed += chunk.toString()
      })
    return thread
  }

  #worker(options: PoolOptions): PoolWorker {
    const thread = (): Worker => {
      this.#thread ??= this.#start(options)
      return this.#thread
    }
    const listeners: Array<{ readonly event: string; readonly callback: Listener }> = []
    return {
      name: "kept",
      on: (event, callback) => {
        thread().on(event, callback)
        listeners.push({ event, callback })
      },
      off: (event, callback) => this.#thread?.off(event, callback),
      send: (message) => {
        // Vitest stops a worker with each run. The thread gets no stop message: it may be gone, or serve the next run.
        if (message.type === "stop") answer(listeners, { type: "stopped", __vitest_worker_response__: true })
        else this.#thread?.postMessage(message)
      },
      deserialize: (data) => data,
      start: async () => void thread(),
      stop: async () => {
        for (const { callback, event } of listeners) this.#thread?.off(event, callback)
      }
    }
  }
}

type Listener = (...args: Array<unknown>) => void

const answer = (listeners: ReadonlyArray<{ event: string; callback: Listener }>, response: WorkerResponse) => {
  for (const { callback, event } of listeners) if (event === "message") callback(response)
}
