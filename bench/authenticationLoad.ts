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

/** Statements that run one after the other, and what they are given in turn: the parameters of each. */
export interface Fixed {
  readonly statements: ReadonlyArray<string>
  /** Statements after these, in one transaction, whose events are then given ids and read. Only the bare server has them. */
  readonly changes?: ReadonlyArray<string>
  readonly parameters: ReadonlyArray<ReadonlyArray<ReadonlyArray<string>>>
}

/**
 * `bare`: `node:http`. `smallest`: the smallest API of Effect. `api`: the real one, which is given nothing. `peer`:
 * better-auth, installed in a folder of its own.
 */
export type ServerOptions = { readonly store: Store } & (
  | { readonly kind: "api" }
  | { readonly kind: "peer"; readonly folder: string }
  | ({ readonly kind: "bare" | "smallest" } & Fixed)
)

export interface Server {
  readonly port: number
  /** The credentials of a peer, which makes its own. */
  readonly tokens: ReadonlyArray<string>
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
  // Parameters are more than an argument may hold.
  const isLong = options.kind === "bare" || options.kind === "smallest"
  const args = ["--conditions=source", script, ...(isLong ? [] : [JSON.stringify(options)])]
  const child: ChildProcess = spawn(process.execPath, args, { stdio: ["pipe", "pipe", "inherit"] })
  const { stdin, stdout } = child
  if (stdin === null || stdout === null) throw new Error("A server has no pipes.")
  if (isLong) stdin.write(`${JSON.stringify(options)}\n`)
  const lines = createInterface({ input: stdout })
  const ended = once(child, "exit").then(([code]) => Promise.reject(new Error(`A server ended with ${code}.`)))
  ended.catch(() => undefined) // It ends at the end of the benchmark, too.
  const said = async () => JSON.parse(String((await Promise.race([once(lines, "line"), ended]))[0]))
  const { port, tokens = [] } = await said()
  return {
    port,
    tokens,
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
      if (!seen.startsWith("HTTP/1.1 20")) return failed(new Error(seen))
      seen = ""
      answered()
      if (more()) socket.write(request())
      else {
        socket.end()
        done()
      }
    })
  })

export interface Asked {
  readonly path: string
  readonly token: string
  /** JSON that is sent with `POST`; without one it is a `GET`. */
  readonly body?: string
}

const textOf = ({ body, path, token }: Asked) => {
  const head = `${path} HTTP/1.1\r\nhost: bench\r\nauthorization: Bearer ${token}\r\n`
  return body === undefined
    ? `GET ${head}\r\n`
    : `POST ${head}content-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
}

/** Sends the requests in turn. Returns the number of responses, and the elapsed seconds. */
export const load = async (port: number, asked: ReadonlyArray<Asked>, connections: number, seconds: number) => {
  const texts = asked.map(textOf)
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
