/** The messages between the processes of the event stream benchmark, over the IPC channel of `fork`. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

export type ServerKind = "narthex" | "narthex, Postgres" | "node:http" | "socket.write" | "better-sse" | "nchan"

export interface ServerUp {
  readonly port: number
  /** One token for each organization. Connections use them in turn. */
  readonly tokens: ReadonlyArray<string>
}

export interface Served {
  readonly up: ServerUp
  /** Publishes this number of events to each organization, at once. */
  readonly publish: (events: number) => Promise<unknown>
  /**
   * The usage of a server that is a program of its own: CPU time since its start in microseconds, and RSS in bytes.
   * Left out: the server is the process that serves it.
   */
  readonly own?: { readonly cpu: () => number; readonly memory: (after: Collection) => number }
}

/** A number of steps of `millis` milliseconds each, with a number of events per organization in each step. */
export interface Publish {
  readonly steps: number
  readonly millis: number
  readonly events: number
}

/** `last-resort` makes V8 return the memory that it otherwise reserves. */
export type Collection = "full" | "last-resort"

export type ServerCommand = { readonly publish: Publish } | { readonly cpu: true } | { readonly memory: Collection }

export interface Connect extends ServerUp {
  readonly connections: number
}

export type ClientCommand =
  | { readonly connect: Connect }
  /** Answered when this number of events has arrived since the last command, over all connections. */
  | { readonly expect: number }

const start = (script: string, args: ReadonlyArray<string>): ChildProcess =>
  fork(join(import.meta.dirname, script), args, {
    execArgv: ["--conditions=source", "--expose-gc", "--no-warnings"]
  })

/** Sends a command and returns the one reply of the process. */
const asking = (child: ChildProcess) => async (command: ServerCommand | ClientCommand) => {
  const answer = once(child, "message")
  child.send(command)
  return (await answer)[0]
}

export const startServer = async (kind: ServerKind, organizations: number, socket: string | undefined) => {
  const args = [kind, String(organizations), ...(socket === undefined ? [] : [socket])]
  const child = start("eventsServer.ts", args)
  const [up]: Array<ServerUp> = await once(child, "message")
  if (up === undefined) throw new Error("The server said nothing.")
  const ask = asking(child)
  return {
    up,
    publish: async (publish: Publish) => ask({ publish }),
    /** CPU time since the start, in microseconds. */
    cpu: async (): Promise<number> => ask({ cpu: true }),
    /** RSS in bytes, after a collection. */
    memory: async (after: Collection): Promise<number> => ask({ memory: after }),
    /** The server then ends by itself, with the program that it has started. */
    stop: () => child.disconnect()
  }
}

export const startClients = () => {
  const child = start("eventsClients.ts", [])
  const ask = asking(child)
  return {
    connect: async (options: Connect) => ask({ connect: options }),
    expect: async (events: number) => ask({ expect: events }),
    stop: () => child.kill("SIGKILL")
  }
}
