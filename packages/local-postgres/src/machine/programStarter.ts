/**
 * A small process that starts programs for this one.
 *
 * To start a program, a process copies its page tables, and its event loop stands still until the program runs: for a
 * server of 360 MB that is 10 ms of a core, and many times as long when the machine is busy. The starter has 45 MB.
 *
 * The starter ends with this process, however this process ends, and kills its programs, except for servers, which go
 * on. If the starter ends by itself, its programs have failed, and the next program starts another starter. A starter
 * that does not start a program in time, for example because it was stopped, is killed with its programs, which would
 * otherwise act late.
 *
 * Pitfall: a program that starts after this process has ended. Another process may work in the directory by then, so the
 * parent is looked at before each start.
 * Pitfall: ending with the terminal. Ctrl-C reaches it too, while this process still stops its servers.
 */
import { spawn } from "node:child_process"
import { Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import { childrenOf, isRunning } from "./Processes.ts"
import { type Ended, type Heard, type Program, serve } from "./startingProcess.ts"

/** A child never inherits secrets, and its output does not depend on the environment of this process. */
export const environment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" }

interface Listener {
  readonly onStart: (pid: number) => void
  readonly onEnd: (ended: Ended) => void
  /** Whether this process goes on until the end of the program, and not only until its start. */
  readonly isAwaited: boolean
}

/** The longest time of a start, which takes 10 ms on an idle machine. */
const startsWithin = "30 seconds"

const makeStarter = () => {
  const listeners = new Map<number, Listener>()
  /** The pids of servers that run, by the id of their start. */
  const servers = new Map<number, number>()
  const awaited = new Set<number>()
  let last = 0
  // Pitfall: the path of this program. Its directories may be closed to the user that this process has become.
  const child = spawn("/proc/self/exe", ["-e", `(${String(serve)})(${process.pid})`], {
    cwd: "/",
    env: environment,
    stdio: ["ignore", "ignore", "inherit", "ipc"]
  })
  /** Lets this process end while nothing runs. */
  const hold = () => {
    if (awaited.size > 0) child.channel?.ref()
    else child.channel?.unref()
  }
  const release = (id: number) => {
    awaited.delete(id)
    hold()
  }
  const forget = () => {
    if (starter === made) starter = undefined
  }
  const fail = (failed: string) => {
    forget()
    for (const { onEnd } of listeners.values()) onEnd({ failed })
    listeners.clear()
    awaited.clear()
  }
  let reason: string | undefined
  child.on("message", ({ ended, id, pid }: Heard) => {
    const listener = listeners.get(id)
    if (pid !== undefined) listener?.onStart(pid)
    if (pid !== undefined && listener?.isAwaited === false) servers.set(id, pid)
    if (ended !== undefined) servers.delete(id)
    if (ended !== undefined || listener?.isAwaited !== true) release(id)
    if (ended === undefined) return
    listeners.delete(id)
    listener?.onEnd(ended)
  })
  child.on("error", ({ message }) => fail(message))
  child.on("exit", (code, signal) =>
    fail(reason ?? `The process that starts programs ended with ${signal ?? `code ${code}`}.`)
  )
  child.unref()
  hold()
  const made = {
    start: (program: Program, listener: Listener) => {
      const id = ++last
      listeners.set(id, listener)
      awaited.add(id)
      hold()
      child.send({ ...program, id })
      return id
    },
    kill: (id: number) => {
      if (listeners.has(id)) child.send({ kill: id })
    },
    /** Kills it, and what it runs but servers, whether or not they have said that they run. */
    abandon: () => {
      reason = `The process that starts programs did not start one within ${startsWithin}.`
      const kept = new Set(servers.values())
      for (const pid of childrenOf(child.pid ?? 0)) if (!kept.has(pid)) killNow(pid)
      child.kill("SIGKILL")
      forget()
    }
  }
  return made
}

const killNow = (pid: number) => {
  try {
    process.kill(pid, "SIGKILL")
  } catch {
    // It has ended.
  }
}

let starter: ReturnType<typeof makeStarter> | undefined

const current = () => {
  starter ??= makeStarter()
  return starter
}

/** The progress of a start. */
interface Begun {
  hasStarted: boolean
}

/** Starts a program, and abandons a starter that does not start it in time. */
const inTime = <A, E>(
  run: (starter: ReturnType<typeof makeStarter>, begun: Begun) => Effect.Effect<A, E>
): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const starter = current()
    const begun: Begun = { hasStarted: false }
    const abandons = Effect.gen(function* () {
      yield* Effect.sleep(startsWithin)
      if (!begun.hasStarted) starter.abandon()
      return yield* Effect.never
    })
    return Effect.raceFirst(run(starter, begun), Effect.interruptible(abandons))
  })

/** Runs a program to its end. An interruption kills it, and waits a bounded time for its end. */
export const runToEnd = (program: Program): Effect.Effect<Ended> =>
  inTime(({ abandon, kill, start }, begun) =>
    Effect.callback((resume) => {
      let isOver = false
      const id = start(program, {
        isAwaited: true,
        onStart: () => {
          begun.hasStarted = true
        },
        onEnd: (ended) => {
          isOver = true
          resume(Effect.succeed(ended))
        }
      })
      // The next user of the directory must not meet the program.
      return Effect.gen(function* () {
        kill(id)
        for (let waited = 0; !isOver && waited < 5_000; waited += 2) yield* Effect.sleep(2)
        if (!isOver && !begun.hasStarted) abandon()
      })
    })
  )

export interface Server {
  readonly pid: number
  readonly hasEnded: () => boolean
}

/**
 * Starts a server, which outlives this process, and returns once its program runs.
 *
 * Pitfall: reading from its command line whether it has ended. A process has none while it replaces its program.
 */
export const startServer = (program: Program & { readonly log: string }): Effect.Effect<Server, LocalPostgresError> =>
  inTime(({ start }, begun) =>
    Effect.callback((resume) => {
      let hasEnded = () => false
      let pid: number | undefined
      start(program, {
        isAwaited: false,
        onStart: (of) => {
          pid = of
          begun.hasStarted = true
          resume(Effect.succeed({ pid: of, hasEnded: () => hasEnded() }))
        },
        onEnd: (ended) => {
          const isLost = "failed" in ended && pid !== undefined
          hasEnded = isLost ? () => !isRunning(pid ?? 0) : () => true
          const reason = "failed" in ended ? ended.failed : "it has ended"
          resume(Effect.fail(new LocalPostgresError({ operation: "Starting Postgres", reason })))
        }
      })
    })
  )
