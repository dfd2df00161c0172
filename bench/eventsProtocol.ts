/** What the processes of the event streams' benchmark say to each other, over the IPC channel of `fork`. */
import { type ChildProcess, fork } from "node:child_process"
import { once } from "node:events"
import { join } from "node:path"

export type ServerKind = "narthex" | "node:http" | "better-sse"

export type ServerCommand =
  /** In so many steps of this length, one event for each organization a step. */
  { readonly publish: { readonly steps: number; readonly millis: number } } | { readonly look: true }

/** CPU of the server in microseconds since it started, and its memory after a collection. */
export interface Looked {
  readonly cpu: number
  readonly rss: number
}

export interface ServerUp {
  readonly port: number
  /** One for each organization; streams are opened with them in turn. */
  readonly tokens: ReadonlyArray<string>
}

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
    publish: async (steps: number, millis: number) => ask({ publish: { steps, millis } }),
    look: async (): Promise<Looked> => ask({ look: true }),
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
