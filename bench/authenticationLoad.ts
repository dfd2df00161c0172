/** A server process of the authentication benchmark, and its load. */
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { connect, type Socket } from "node:net"
import { join } from "node:path"
import { createInterface } from "node:readline"

/** A Postgres. `host` is the directory of its socket. */
export interface Store {
  readonly host: string
  readonly user: string
  readonly database: string
}

/** Statements that run one after the other, and what they are given in turn: one parameter for each. */
export interface Fixed {
  readonly statements: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<ReadonlyArray<string>>
}

/** `bare`: `node:http`. `smallest`: the smallest API of Effect. `api`: the real one, which is given nothing. */
export type ServerOptions = { readonly store: Store } & (
  | { readonly kind: "api" }
  | ({ readonly kind: "bare" | "smallest" } & Fixed)
)

export interface Server {
  readonly port: number
  /** CPU time since the start, in microseconds. */
  readonly cpu: () => Promise<number>
  readonly stop: () => Promise<void>
}

/** `checkout`: of whose sources. */
export const startServer = async (
  options: ServerOptions,
  checkout = join(import.meta.dirname, "..")
): Promise<Server> => {
  const script = join(checkout, "bench/authenticationServer.ts")
  const child: ChildProcess = spawn(process.execPath, ["--conditions=source", script, JSON.stringify(options)], {
    stdio: ["pipe", "pipe", "inherit"]
  })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error("A server has no pipes.")
  const lines = createInterface({ input: stdout })
  const said = async () => JSON.parse(String((await once(lines, "line"))[0]))
  const { port } = await said()
  return {
    port,
    cpu: async () => {
      const answer = said()
      stdin.write("cpu\n")
      return Number((await answer).cpu)
    },
    stop: async () => {
      const gone = once(child, "exit")
      stdin.end()
      await gone
    }
  }
}

/** One connection that sends the next request after each response. Resolves after its last response. */
const asking = (port: number, request: () => string, more: () => boolean, answered: () => void): Promise<void> =>
  new Promise((done, failed) => {
    const socket: Socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => socket.write(request()))
    let seen = ""
    socket.setEncoding("latin1")
    socket.on("error", failed)
    socket.on("data", (text: string) => {
      seen += text
      const head = seen.indexOf("\r\n\r\n")
      if (head === -1) return
      const length = Number(/content-length: (\d+)/i.exec(seen)?.[1])
      if (seen.length < head + 4 + length) return
      if (!seen.startsWith("HTTP/1.1 200")) return failed(new Error(seen))
      seen = ""
      answered()
      if (more()) socket.write(request())
      else {
        socket.end()
        done()
      }
    })
  })

export interface Requests {
  readonly path: string
  /** Used in turn. */
  readonly tokens: ReadonlyArray<string>
}

/** Returns the number of responses, and the elapsed seconds. */
export const load = async (port: number, { path, tokens }: Requests, connections: number, seconds: number) => {
  const texts = tokens.map((token) => `GET ${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\n\r\n`)
  let turn = 0
  const request = () => texts[turn++ % texts.length] ?? ""
  const begun = performance.now()
  let requests = 0
  const more = () => performance.now() - begun < seconds * 1_000
  const answered = () => {
    requests += 1
  }
  await Promise.all(Array.from({ length: connections }, () => asking(port, request, more, answered)))
  return { requests, seconds: (performance.now() - begun) / 1_000 }
}
