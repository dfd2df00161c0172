/** What the processes of the event streams' benchmark say to each other, over the IPC channel of `fork`. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

export type ServerKind = "narthex" | "node:http" | "socket.write" | "better-sse"

export interface ServerUp {
  readonly port: number
  /** One for each organization; streams are opened with them in turn. */
  readonly tokens: ReadonlyArray<string>
}

export interface Served {
  readonly up: ServerUp
  /** So many events for each organization, at once. */
  readonly publish: (events: number) => Promise<unknown>
}

/** In so many steps of this length, so many events for each organization a step. */
export interface Publish {
  readonly steps: number
  readonly millis: number
  readonly events: number
}

/** `last-resort` makes V8 give back the room that it otherwise keeps for what comes next. */
export type Collection = "full" | "last-resort"

export type ServerCommand = { readonly publish: Publish } | { readonly cpu: true } | { readonly memory: Collection }

export interface Connect extends ServerUp {
  readonly connections: number
}

export type ClientCommand =
  | { readonly connect: Connect }
  /** Answers once so many events have arrived since the last time, over all connections. */
  | { readonly expect: number }

const start = (script: string, args: ReadonlyArray<string>): ChildProcess =>
  fork(join(import.meta.dirname, script), args, {
    execArgv: ["--conditions=source", "--expose-gc", "--no-warnings"]
  })

/** A process that answers each command once. `Answer` is what its script says it sends. */
const asking = (child: ChildProcess) => async (command: ServerCommand | ClientCommand) => {
  const answer = once(child, "message")
  child.send(command)
  return (await answer)[0]
}

export const startServer = async (kind: ServerKind, organizations: number) => {
  const child = start("eventsServer.ts", [kind, String(organizations)])
  const [up]: Array<ServerUp> = await once(child, "message")
  if (up === undefined) throw new Error("The server said nothing.")
  const ask = asking(child)
  return {
    up,
    publish: async (publish: Publish) => ask({ publish }),
    /** Microseconds of CPU since it started. */
    cpu: async (): Promise<number> => ask({ cpu: true }),
    /** Resident bytes after a collection. */
    memory: async (after: Collection): Promise<number> => ask({ memory: after }),
    stop: () => child.kill("SIGKILL")
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
