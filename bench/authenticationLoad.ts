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

export interface ServerOptions {
  readonly store: Store
  /** The statement of a bare server, and its parameters in turn. Without it the server is the real API. */
  readonly bare?: { readonly statement: string; readonly parameters: ReadonlyArray<string> }
}

export interface Server {
  readonly port: number
  /** CPU time since the start, in microseconds. */
  readonly cpu: () => Promise<number>
  readonly stop: () => Promise<void>
}

const script = join(import.meta.dirname, "authenticationServer.ts")

export const startServer = async (options: ServerOptions): Promise<Server> => {
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

/** Uses the tokens in turn. Returns the number of responses, and the elapsed seconds. */
export const load = async (port: number, tokens: ReadonlyArray<string>, connections: number, seconds: number) => {
  const texts = tokens.map(
    (token) => `GET /v1/auth/whoami HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\n\r\n`
  )
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
