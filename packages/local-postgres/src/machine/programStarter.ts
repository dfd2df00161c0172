/**
 * A small process that starts programs for this one.
 *
 * To start a program, a process copies its page tables, and its event loop stands still until the program runs: for a
 * server of 360 MB that is 10 ms of a core, and many times as long when the machine is busy. This one has 45 MB.
 *
 * It ends with this process, however that ends, and kills what it runs, except for servers, which go on. If it ends by
 * itself, what it was running has failed, and the next program starts another one. The same holds if it does not start a
 * program in time, for example because it was stopped: it is killed with what it runs, which would act late otherwise.
 *
 * Pitfall: a program that starts after this process has ended. Another process may work in the directory by then, so the
 * parent is looked at before each start.
 * Pitfall: ending with the terminal. Ctrl-C reaches it too, while this process still stops its servers.
 */
import { type ChildProcess, spawn } from "node:child_process"
import { Effect } from "effect"
import { LocalPostgresError } from "./LocalPostgresError.ts"
import type { Identity } from "./PostgresUser.ts"
import { childrenOf, isRunning } from "./Processes.ts"

/** A child never inherits secrets, and its output does not depend on the environment of this process. */
export const environment = { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin", LC_ALL: "C" }

export interface Program {
  readonly command: string
  readonly args: ReadonlyArray<string>
  readonly from: string
  readonly environment: Readonly<Record<string, string>>
  readonly identity?: Identity | undefined
  /** Opened for the program, which can enter it as `/proc/self/fd/3`. */
  readonly directory?: string | undefined
  /** The directory of a control group that it enters, if it can (`CpuGroups`). */
  readonly group?: string | undefined
  /** Of a server, in a session of its own, which goes on when this process ends: the file for its output. */
  readonly log?: string
}

interface Start extends Program {
  readonly id: number
}

/** How a program ended. `failed`: it could not be started, or the process that ran it has ended. */
export type Ended =
  | { readonly code: number | null; readonly signal: string | null; readonly out: string; readonly err: string }
  | { readonly failed: string }

interface Heard {
  readonly id: number
  readonly pid?: number
  readonly ended?: Ended
}

/** The code of the small process. It is passed as text, so it refers to nothing outside of itself. */
const serve = (parent: number) => {
  const { spawn } = process.getBuiltinModule("node:child_process")
  const { closeSync, constants, openSync, writeFileSync } = process.getBuiltinModule("node:fs")
  const running = new Map<number, ChildProcess>()
  // Without the last argument, the end of the other process is an error that ends this one before it has killed anything.
  const say = (heard: Heard) => process.send?.(heard, undefined, undefined, () => undefined)
  const end = () => {
    for (const child of running.values()) child.kill("SIGKILL")
    process.exit()
  }

  /**
   * Moves a new program to a group. It is called right after the start, because what the program has started before stays in
   * the former group.
   */
  const enter = (group: string, pid: number) => {
    try {
      writeFileSync(`${group}/cgroup.procs`, String(pid), { flag: "r+" })
    } catch {
      // The operator has removed the group, or the process has ended.
    }
  }

  const start = ({ args, command, directory, environment, from, group, id, identity, log }: Start) => {
    const opened: Array<number> = []
    const open = (path: string, flags: string | number, mode?: number) => {
      const file = openSync(path, flags, mode)
      opened.push(file)
      return file
    }
    try {
      const entered = directory === undefined ? "ignore" : open(directory, constants.O_RDONLY | constants.O_DIRECTORY)
      const output = log === undefined ? "pipe" : open(log, "a", 0o600)
      const child = spawn(command, args, {
        cwd: from,
        env: environment,
        detached: log !== undefined,
        stdio: ["ignore", output, output, entered],
        ...identity
      })
      if (group !== undefined && child.pid !== undefined) enter(group, child.pid)
      const text = { out: "", err: "" }
      child.stdout?.setEncoding("utf8").on("data", (part: string) => {
        text.out += part
      })
      child.stderr?.setEncoding("utf8").on("data", (part: string) => {
        text.err += part
      })
      child.once("spawn", () => {
        if (log === undefined) running.set(id, child)
        say({ id, pid: child.pid ?? 0 })
      })
      child.once("error", ({ message }) => say({ id, ended: { failed: message } }))
      child.once("close", (code, signal) => {
        running.delete(id)
        say({ id, ended: { code, signal, ...text } })
      })
    } catch (cause) {
      say({ id, ended: { failed: String(cause) } })
    } finally {
      for (const file of opened) closeSync(file)
    }
  }

  process.title = "narthex: starts programs"
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)
  process.on("disconnect", end)
  process.on("message", (asked: Start | { readonly kill: number }) => {
    if (process.ppid !== parent) end()
    if ("kill" in asked) running.get(asked.kill)?.kill("SIGKILL")
    else start(asked)
  })
}

interface Listener {
  readonly onStart: (pid: number) => void
  readonly onEnd: (ended: Ended) => void
  /** Whether this process goes on until the end of the program, and not only until its start. */
  readonly isAwaited: boolean
}

/** The longest that a start may take. Without other work on the machine it takes 10 ms. */
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
  /** This process may end while nothing runs. */
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

/** What is known of a start. */
interface Begun {
  hasStarted: boolean
}

/** What a process starts, which is abandoned if it does not start it in time. */
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
      // What takes over must not meet it.
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
 * Pitfall: reading from its command line whether it has ended. While one program replaces another, it has none.
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
